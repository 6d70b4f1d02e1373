// Simulates a wall clock that was never set or is wrong. The monotonic clock is not changed.
#include "shim.h"
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t clock, struct timespec *time) {
    // These are not in fault_settings, because reading the settings may call clock_gettime.
    static _Atomic(const char *) wall;
    static _Atomic(void *) next;
    int (*real)(clockid_t, struct timespec *) = (int (*)(clockid_t, struct timespec *))atomic_load(&next);
    if (!real) {
        atomic_store(&wall, getenv("FAULT_WALL"));
        real = (int (*)(clockid_t, struct timespec *))fault_next("clock_gettime");
        atomic_store(&next, (void *)real);
    }
    int status = real(clock, time);
    const char *seconds = atomic_load(&wall);
    if (status == 0 && seconds && clock == CLOCK_REALTIME) time->tv_sec = strtoll(seconds, NULL, 10);
    return status;
}
