// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "CTidebellFiles.h"

#include <fcntl.h>
#include <sys/stat.h>

bool tidebell_file_identity(const char *path, uint64_t *device, uint64_t *number) {
#ifdef __linux__
    struct statx status;
    if (statx(AT_FDCWD, path, 0, STATX_INO, &status) != 0) return false;
    *device = (uint64_t)status.stx_dev_major << 32 | status.stx_dev_minor;
    *number = status.stx_ino;
#else
    struct stat status;
    if (stat(path, &status) != 0) return false;
    *device = (uint64_t)status.st_dev;
    *number = (uint64_t)status.st_ino;
#endif
    return true;
}
