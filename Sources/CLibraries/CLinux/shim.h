// Calls of Linux that Swift cannot import: variadic ones, and macros.
#pragma once
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/timex.h>
#include <time.h>
#include <unistd.h>

/// open(2) with a mode: variadic in C.
static inline int fieldscribe_open(const char *path, int flags, unsigned mode) {
    return open(path, flags | O_CLOEXEC, mode);
}

/// Names the calling thread; at most 15 bytes count.
static inline void fieldscribe_name_thread(const char *name) { prctl(PR_SET_NAME, name, 0, 0, 0); }

// semaphore.h shows this one to _GNU_SOURCE only, which Swift does not set.
extern int sem_clockwait(sem_t *semaphore, clockid_t clock, const struct timespec *deadline);

/// Waits for a semaphore until a moment of the monotonic clock; returns 0 or an errno.
static inline int fieldscribe_wait_until(sem_t *semaphore, const struct timespec *deadline) {
    return sem_clockwait(semaphore, CLOCK_MONOTONIC, deadline) == 0 ? 0 : errno;
}

int pipe2(int ends[2], int flags);

/// Makes a pipe that no child inherits by accident; returns 0 or an errno.
static inline int fieldscribe_pipe(int ends[2]) { return pipe2(ends, O_CLOEXEC) == 0 ? 0 : errno; }

/// Whether the kernel believes its wall clock: 1 or 0.
static inline int fieldscribe_clock_is_synchronized(void) {
    struct timex state = {0};
    int status = adjtimex(&state);
    return status >= 0 && status != TIME_ERROR && !(state.status & STA_UNSYNC);
}

/// Opens a name in a folder and nothing outside it: no links, no mount points, no way up. Returns a descriptor or -1.
static inline int fieldscribe_open_beneath(int folder, const char *name, int flags, unsigned mode) {
    struct open_how how = {
        .flags = (uint64_t)(unsigned)(flags | O_CLOEXEC),
        .mode = flags & O_CREAT ? mode : 0,
        .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV,
    };
    return (int)syscall(SYS_openat2, folder, name, &how, sizeof how);
}

/// Renames within a folder where the new name is free; returns 0 or -1.
static inline int fieldscribe_rename_new(int folder, const char *name, const char *new_name) {
    return (int)syscall(SYS_renameat2, folder, name, folder, new_name, 1 /* RENAME_NOREPLACE */);
}

int syncfs(int descriptor);

/// The flag of open(2) for reading past the page cache; its value is the machine's.
static inline int fieldscribe_direct(void) {
#ifdef O_DIRECT
    return O_DIRECT;
#else
    return __O_DIRECT;
#endif
}
