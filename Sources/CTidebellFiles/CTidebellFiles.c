// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "CTidebellFiles.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>

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

bool tidebell_settled_folder(const char *path, int64_t settled, struct tidebell_folder *folder) {
#ifdef __linux__
    struct statx status;
    if (statx(AT_FDCWD, path, 0, STATX_INO | STATX_CTIME | STATX_MTIME, &status) != 0) return false;
    folder->device = (uint64_t)status.stx_dev_major << 32 | status.stx_dev_minor;
    folder->number = status.stx_ino;
    folder->changed_seconds = status.stx_ctime.tv_sec;
    folder->changed_nanoseconds = status.stx_ctime.tv_nsec;
    folder->modified_seconds = status.stx_mtime.tv_sec;
    folder->modified_nanoseconds = status.stx_mtime.tv_nsec;
#else
    struct stat status;
    if (stat(path, &status) != 0) return false;
    folder->device = (uint64_t)status.st_dev;
    folder->number = (uint64_t)status.st_ino;
    folder->changed_seconds = status.st_ctimespec.tv_sec;
    folder->changed_nanoseconds = status.st_ctimespec.tv_nsec;
    folder->modified_seconds = status.st_mtimespec.tv_sec;
    folder->modified_nanoseconds = status.st_mtimespec.tv_nsec;
#endif
    if (folder->changed_seconds <= 0 || folder->modified_seconds <= 0) return false;
    struct timespec now;
    if (clock_gettime(CLOCK_REALTIME, &now) != 0) return false;
    return now.tv_sec - folder->changed_seconds >= settled;
}
