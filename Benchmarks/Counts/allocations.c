// SPDX-License-Identifier: Apache-2.0
// Counts how often a program takes memory from the heap: put before it by LD_PRELOAD, it adds to a number at the
// beginning of the file that COUNT_ALLOCATIONS_IN names, which others read while the program runs.
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

// What the C library calls its own.
extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

static _Atomic long before_main;
static _Atomic long *count = &before_main;

__attribute__((constructor)) static void begin(void) {
    const char *path = getenv("COUNT_ALLOCATIONS_IN");
    int file = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    if (file < 0) return;
    void *shared = mmap(NULL, sizeof *count, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (shared != MAP_FAILED) count = shared;
}

static void add(void) { atomic_fetch_add_explicit(count, 1, memory_order_relaxed); }

void *malloc(size_t size) { return add(), __libc_malloc(size); }
void *calloc(size_t number, size_t size) { return add(), __libc_calloc(number, size); }
void *realloc(void *old, size_t size) { return add(), __libc_realloc(old, size); }
void *memalign(size_t alignment, size_t size) { return add(), __libc_memalign(alignment, size); }
void *aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }

int posix_memalign(void **result, size_t alignment, size_t size) {
    void *found = memalign(alignment, size);
    if (!found) return ENOMEM;
    *result = found;
    return 0;
}
