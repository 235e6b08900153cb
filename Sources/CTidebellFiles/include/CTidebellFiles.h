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

/// A folder, and when an entry of it was last made, removed or replaced.
struct tidebell_folder {
    uint64_t device, number;
    int64_t changed_seconds, changed_nanoseconds;
    int64_t modified_seconds, modified_nanoseconds;
};

/// Which folder stands at a path, and its last change: of its status, a time that no program can set, and of its
/// entries, which is all that some file systems keep.
///
/// False if there is none, or none that can be seen; if its file system keeps no such time; or if it changed less than `settled` seconds ago: a
/// file system's times go in steps, and the next change could bear the same one.
bool tidebell_settled_folder(const char *_Nonnull path, int64_t settled,
                             struct tidebell_folder *_Nonnull folder);

#endif
