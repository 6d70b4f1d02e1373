// Calls of Linux that Swift cannot import: variadic ones, and macros.
#pragma once
#include <errno.h>
#include <fcntl.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/timex.h>
#include <time.h>

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
