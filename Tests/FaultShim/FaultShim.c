// Reads the settings, counts calls, and decides whether a call fails.
#include "shim.h"
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

struct fault_settings fault_settings = {.call = -1};
static struct fault_state own_state;
struct fault_state *fault_state = &own_state;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static _Atomic uint64_t total_calls;

static const char *const call_names[FAULT_CALLS] = {
    "open", "write", "pwrite", "writev", "fsync", "fdatasync", "ftruncate", "rename", "unlink", "mkdir", "fallocate"};

static uint64_t number(const char *name, uint64_t default_value) {
    const char *text = getenv(name);
    return text ? strtoull(text, NULL, 10) : default_value;
}

static void map_state(const char *path) {
    int file = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0) return;
    if (syscall(SYS_ftruncate, file, sizeof *fault_state) == 0) {
        void *mapping = mmap(NULL, sizeof *fault_state, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        if (mapping != MAP_FAILED) fault_state = mapping;
    }
    syscall(SYS_close, file);
}

static void read_settings(void) {
    struct fault_settings *s = &fault_settings;
    static char folder[PATH_MAX];
    const char *text = getenv("FAULT_UNDER");
    // realpath works because the folder exists before the program starts.
    if (text && realpath(text, folder)) s->under = folder, s->under_length = strlen(folder);
    s->worker = getenv("FAULT_WORKER");
    s->file = getenv("FAULT_FILE");
    s->suspend = number("FAULT_SUSPEND", 0);
    s->at = number("FAULT_AT", 0);
    s->overrun = number("FAULT_OVERRUN", 0);
    s->unplug = number("FAULT_UNPLUG", 0);
    s->refusals = number("FAULT_REFUSALS", 0);
    s->stall = (long)number("FAULT_STALL", 300);
    s->swallows = number("FAULT_SWALLOW", 0);
    s->leaks = number("FAULT_LEAK", 0);
    s->is_paced = number("FAULT_CLOCK", 0);
    if ((text = getenv("FAULT_CALL"))) {
        for (int call = 0; call < FAULT_CALLS; call++)
            if (strcmp(text, call_names[call]) == 0) s->call = call;
        if (strcmp(text, "any") == 0) s->call = FAULT_ANY;
    }
    if ((text = getenv("FAULT_SPAN"))) s->span = strcmp(text, "every") == 0 ? 1 : strcmp(text, "rest") == 0 ? 2 : 0;
    if ((text = getenv("FAULT_ERROR"))) {
        s->error = strcmp(text, "ENOSPC") == 0 ? ENOSPC : strcmp(text, "EROFS") == 0 ? EROFS
                   : strcmp(text, "EINTR") == 0 ? EINTR : EIO;
        s->is_short = strcmp(text, "SHORT") == 0;
        s->lies = strcmp(text, "LIE") == 0;
        s->kills = strcmp(text, "KILL") == 0;
        s->hangs = strcmp(text, "HANG") == 0;
    }
    if ((text = getenv("FAULT_STATE"))) map_state(text);
    if ((text = getenv("FAULT_JOURNAL"))) journal_begin(text);
}

void fault_begin(void) { pthread_once(&once, read_settings); }

void *fault_next(const char *name) { return dlsym(RTLD_NEXT, name); }

uint64_t fault_now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

enum fault_verdict fault_decide(int call) {
    struct fault_settings *s = &fault_settings;
    uint64_t call_number = atomic_fetch_add((_Atomic uint64_t *)&fault_state->calls[call], 1) + 1;
    uint64_t total = atomic_fetch_add(&total_calls, 1) + 1;
    if (s->at == 0 || (s->call != call && s->call != FAULT_ANY)) return FAULT_NONE;
    if (s->call == FAULT_ANY) call_number = total;
    bool matches = s->span == 1 ? call_number % s->at == 0 : s->span == 2 ? call_number >= s->at : call_number == s->at;
    if (!matches) return FAULT_NONE;
    atomic_fetch_add((_Atomic uint64_t *)&fault_state->raised, 1);
    if (s->kills) {
        kill(getpid(), SIGKILL);
        for (;;) pause();
    }
    if (s->hangs) {
        struct timespec remaining = {s->stall / 1000, s->stall % 1000 * 1000000};
        // wait: the stall is the fault
        while (nanosleep(&remaining, &remaining) != 0 && errno == EINTR) {}
        return FAULT_NONE;
    }
    if (s->is_short) return FAULT_SHORT;
    if (s->lies) return FAULT_LIE;
    errno = s->error;
    return FAULT_FAIL;
}

bool fault_is_under(int folder, const char *path) {
    const struct fault_settings *s = &fault_settings;
    if (!s->under || !path) return false;
    char full_path[PATH_MAX];
    if (!fault_full_path(folder, path, full_path)) return false;
    size_t length = strlen(full_path), suffix_length = s->file ? strlen(s->file) : 0;
    if (suffix_length > length) return false;
    if (suffix_length > 0 && strcmp(full_path + length - suffix_length, s->file) != 0) return false;
    return strncmp(full_path, s->under, s->under_length) == 0
           && (full_path[s->under_length] == '/' || full_path[s->under_length] == 0);
}

/// Writes the full path of a name in an open folder to `full_path`, which has PATH_MAX bytes. Returns false if the folder's path
/// is unknown.
bool fault_full_path(int folder, const char *path, char *full_path) {
    const size_t capacity = PATH_MAX;
    if (path[0] != '/' && folder == AT_FDCWD) {
        if (!getcwd(full_path, capacity)) return false;
    } else if (path[0] != '/') {
        char link[64];
        snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
        ssize_t count = readlink(link, full_path, capacity - 1);
        if (count < 0) return false;
        full_path[count] = 0;
    } else {
        full_path[0] = 0;
    }
    if (path[0] != '/') strncat(full_path, "/", capacity - strlen(full_path) - 1);
    strncat(full_path, path, capacity - strlen(full_path) - 1);
    return true;
}
