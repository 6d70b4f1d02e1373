// Calls of Linux that Swift cannot import: variadic ones, and macros.
#pragma once
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>

/// Asks the kernel to send `signal` to this process when its parent ends; returns 0 or an errno.
static inline int fieldscribe_die_with_parent(int signal) {
    return prctl(PR_SET_PDEATHSIG, signal, 0, 0, 0) == 0 ? 0 : errno;
}

/// open(2) with a mode: variadic in C.
static inline int fieldscribe_open(const char *path, int flags, unsigned mode) {
    return open(path, flags | O_CLOEXEC, mode);
}

/// Names the calling thread; at most 15 bytes count.
static inline void fieldscribe_name_thread(const char *name) { prctl(PR_SET_NAME, name, 0, 0, 0); }
