// SPDX-License-Identifier: Apache-2.0
// Loaded before the C library into a server that is to lose its writes at a power cut: the controls of
// Scripts/test-power-cut, which have to see that they are lost.
//
// With NO_FLUSH_IN only what lies in that folder is not flushed; with NO_FLUSH_KIND only "files" or
// only "folders".

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static int is_off(int descriptor) {
    const char *kind = getenv("NO_FLUSH_KIND");
    struct stat status;
    if (kind && fstat(descriptor, &status) == 0
        && (strcmp(kind, "folders") == 0) != (S_ISDIR(status.st_mode) != 0))
        return 0;
    const char *folder = getenv("NO_FLUSH_IN");
    if (!folder)
        return 1;
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t length = readlink(link, path, sizeof path - 1);
    return length >= (ssize_t)strlen(folder) && strncmp(path, folder, strlen(folder)) == 0;
}

int fsync(int descriptor) { return is_off(descriptor) ? 0 : (int)syscall(SYS_fsync, descriptor); }

int fdatasync(int descriptor) {
    return is_off(descriptor) ? 0 : (int)syscall(SYS_fdatasync, descriptor);
}

void sync(void) {
    if (!getenv("NO_FLUSH_IN"))
        return;
    syscall(SYS_sync);
}

int syncfs(int descriptor) { return is_off(descriptor) ? 0 : (int)syscall(SYS_syncfs, descriptor); }
