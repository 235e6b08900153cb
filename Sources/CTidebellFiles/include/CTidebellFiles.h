// SPDX-License-Identifier: Apache-2.0
#ifndef TIDEBELL_FILES_H
#define TIDEBELL_FILES_H

#include <stdbool.h>
#include <stdint.h>

/// Which file stands at a path: the device it is on, and its number there.
///
/// Asks for nothing else. `stat` asks for times too, and Linux 6.13 and newer then give the
/// file's next write a time of its own, which costs its next `fdatasync` another write.
///
/// False if there is no file, or none that can be seen.
bool tidebell_file_identity(const char *_Nonnull path, uint64_t *_Nonnull device,
                            uint64_t *_Nonnull number);

#endif
