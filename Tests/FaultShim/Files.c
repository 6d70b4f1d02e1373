// Wraps the libc functions that change files. Also wraps open, which determines the descriptors to track.
#include "shim.h"
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define DESCRIPTORS 4096
static _Atomic bool tracked[DESCRIPTORS];

bool fault_tracks(int descriptor) {
    return descriptor >= 0 && descriptor < DESCRIPTORS && atomic_load(&tracked[descriptor]);
}

static void track(int descriptor, bool is_under) {
    if (descriptor >= 0 && descriptor < DESCRIPTORS) atomic_store(&tracked[descriptor], is_under);
}

/// Declares `next`, libc's definition of the function, and looks it up once.
#define NEXT(type, name) \
    static type next; \
    if (!next) next = (type)fault_next(name)

static int open_under(int folder, const char *path, int flags, mode_t mode) {
    typedef int (*openat_type)(int, const char *, int, ...);
    NEXT(openat_type, "openat");
    fault_begin();
    if (!fault_is_under(folder, path)) {
        int file = next(folder, path, flags, mode);
        track(file, false);
        return file;
    }
    // LIE is not supported here, because a fake descriptor would not work.
    if (fault_decide(FAULT_OPEN) == FAULT_FAIL) return -1;
    bool existed = !(flags & O_CREAT) || faccessat(folder, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
    int file = next(folder, path, flags, mode);
    if (file < 0) return file;
    track(file, true);
    char full_path[PATH_MAX];
    if (!existed && fault_full_path(folder, path, full_path)) journal_created(full_path);
    return file;
}

#define MODE(flags) \
    mode_t mode = 0; \
    if ((flags) & (O_CREAT | __O_TMPFILE)) { \
        va_list arguments; \
        va_start(arguments, flags); \
        mode = va_arg(arguments, mode_t); \
        va_end(arguments); \
    }

int open(const char *path, int flags, ...) { MODE(flags) return open_under(AT_FDCWD, path, flags, mode); }
int open64(const char *path, int flags, ...) { MODE(flags) return open_under(AT_FDCWD, path, flags, mode); }
int openat(int folder, const char *path, int flags, ...) { MODE(flags) return open_under(folder, path, flags, mode); }
int openat64(int folder, const char *path, int flags, ...) { MODE(flags) return open_under(folder, path, flags, mode); }

int close(int descriptor) {
    typedef int (*close_type)(int);
    NEXT(close_type, "close");
    track(descriptor, false);
    return next(descriptor);
}

/// Simulates a leak: of memory at each write, of a descriptor at every 64th.
static void leak(void) {
    static _Atomic unsigned calls;
    // Volatile, because an optimizing compiler removes an allocation whose memory is never used.
    static char *volatile leaked;
    if (!fault_settings.leaks) return;
    char *memory = malloc(4096);
    if (memory) memset(memory, 1, 4096);
    leaked = memory;
    if (atomic_fetch_add(&calls, 1) % 64 == 0) (void)!dup(0);
}

ssize_t write(int descriptor, const void *bytes, size_t count) {
    typedef ssize_t (*write_type)(int, const void *, size_t);
    NEXT(write_type, "write");
    if (!fault_tracks(descriptor)) return next(descriptor, bytes, count);
    leak();
    switch (fault_decide(FAULT_WRITE)) {
    case FAULT_FAIL: return -1;
    case FAULT_LIE: return (ssize_t)count;
    case FAULT_SHORT: count = count > 1 ? count / 2 : count; break;
    case FAULT_NONE: break;
    }
    int flags = fcntl(descriptor, F_GETFL);
    journal_write(descriptor, lseek(descriptor, 0, flags & O_APPEND ? SEEK_END : SEEK_CUR), count);
    return next(descriptor, bytes, count);
}

ssize_t pwrite(int descriptor, const void *bytes, size_t count, off_t offset) {
    typedef ssize_t (*pwrite_type)(int, const void *, size_t, off_t);
    NEXT(pwrite_type, "pwrite");
    if (!fault_tracks(descriptor)) return next(descriptor, bytes, count, offset);
    leak();
    switch (fault_decide(FAULT_PWRITE)) {
    case FAULT_FAIL: return -1;
    case FAULT_LIE: return (ssize_t)count;
    case FAULT_SHORT: count = count > 1 ? count / 2 : count; break;
    case FAULT_NONE: break;
    }
    journal_write(descriptor, offset, count);
    return next(descriptor, bytes, count, offset);
}

ssize_t pwrite64(int descriptor, const void *bytes, size_t count, off64_t offset) {
    return pwrite(descriptor, bytes, count, offset);
}

ssize_t writev(int descriptor, const struct iovec *parts, int count) {
    typedef ssize_t (*writev_type)(int, const struct iovec *, int);
    NEXT(writev_type, "writev");
    if (!fault_tracks(descriptor)) return next(descriptor, parts, count);
    size_t sum = 0;
    for (int part = 0; part < count; part++) sum += parts[part].iov_len;
    switch (fault_decide(FAULT_WRITEV)) {
    case FAULT_FAIL: return -1;
    case FAULT_LIE: return (ssize_t)sum;
    case FAULT_SHORT: count = count > 1 ? count / 2 : count; break;
    case FAULT_NONE: break;
    }
    journal_write(descriptor, lseek(descriptor, 0, SEEK_CUR), sum);
    return next(descriptor, parts, count);
}

static int synchronize(int descriptor, int call, int (*next)(int)) {
    if (!fault_tracks(descriptor)) return next(descriptor);
    enum fault_verdict verdict = fault_decide(call);
    if (verdict == FAULT_FAIL) return -1;
    if (verdict == FAULT_LIE || fault_settings.swallows) return 0;
    uint64_t from = journal_sync_begin();
    int status = next(descriptor);
    if (status == 0) journal_synced(descriptor, from);
    return status;
}

int fsync(int descriptor) {
    typedef int (*fsync_type)(int);
    NEXT(fsync_type, "fsync");
    return synchronize(descriptor, FAULT_FSYNC, next);
}

int fdatasync(int descriptor) {
    typedef int (*fdatasync_type)(int);
    NEXT(fdatasync_type, "fdatasync");
    return synchronize(descriptor, FAULT_FDATASYNC, next);
}

int ftruncate(int descriptor, off_t length) {
    typedef int (*ftruncate_type)(int, off_t);
    NEXT(ftruncate_type, "ftruncate");
    if (!fault_tracks(descriptor)) return next(descriptor, length);
    enum fault_verdict verdict = fault_decide(FAULT_FTRUNCATE);
    if (verdict == FAULT_FAIL) return -1;
    if (verdict == FAULT_LIE) return 0;
    journal_truncate(descriptor, length);
    return next(descriptor, length);
}

int ftruncate64(int descriptor, off64_t length) { return ftruncate(descriptor, length); }

/// Journals the call like a write, so that a change of the file's size is also undone.
int fallocate(int descriptor, int mode, off_t offset, off_t count) {
    typedef int (*fallocate_type)(int, int, off_t, off_t);
    NEXT(fallocate_type, "fallocate");
    if (!fault_tracks(descriptor)) return next(descriptor, mode, offset, count);
    enum fault_verdict verdict = fault_decide(FAULT_FALLOCATE);
    if (verdict == FAULT_FAIL) return -1;
    if (verdict == FAULT_LIE) return 0;
    journal_write(descriptor, offset, (uint64_t)count);
    return next(descriptor, mode, offset, count);
}

int fallocate64(int descriptor, int mode, off64_t offset, off64_t count) {
    return fallocate(descriptor, mode, offset, count);
}

/// Like `fallocate`, but returns the error number.
int posix_fallocate(int descriptor, off_t offset, off_t count) {
    return fallocate(descriptor, 0, offset, count) == 0 ? 0 : errno;
}

int posix_fallocate64(int descriptor, off64_t offset, off64_t count) {
    return posix_fallocate(descriptor, offset, count);
}

int renameat(int from_folder, const char *from, int to_folder, const char *to) {
    typedef int (*renameat_type)(int, const char *, int, const char *);
    NEXT(renameat_type, "renameat");
    fault_begin();
    if (!fault_is_under(to_folder, to)) return next(from_folder, from, to_folder, to);
    enum fault_verdict verdict = fault_decide(FAULT_RENAME);
    if (verdict == FAULT_FAIL) return -1;
    if (verdict == FAULT_LIE) return 0;
    char full_path[PATH_MAX], new_full_path[PATH_MAX];
    if (fault_full_path(from_folder, from, full_path) && fault_full_path(to_folder, to, new_full_path)) journal_renaming(full_path, new_full_path);
    return next(from_folder, from, to_folder, to);
}

int rename(const char *from, const char *to) { return renameat(AT_FDCWD, from, AT_FDCWD, to); }

int unlinkat(int folder, const char *path, int flags) {
    typedef int (*unlinkat_type)(int, const char *, int);
    NEXT(unlinkat_type, "unlinkat");
    fault_begin();
    if (!fault_is_under(folder, path) || flags & AT_REMOVEDIR) return next(folder, path, flags);
    enum fault_verdict verdict = fault_decide(FAULT_UNLINK);
    if (verdict == FAULT_FAIL) return -1;
    if (verdict == FAULT_LIE) return 0;
    char full_path[PATH_MAX];
    if (fault_full_path(folder, path, full_path)) journal_unlinking(full_path);
    return next(folder, path, flags);
}

int unlink(const char *path) { return unlinkat(AT_FDCWD, path, 0); }

int mkdirat(int folder, const char *path, mode_t mode) {
    typedef int (*mkdirat_type)(int, const char *, mode_t);
    NEXT(mkdirat_type, "mkdirat");
    fault_begin();
    if (!fault_is_under(folder, path)) return next(folder, path, mode);
    // LIE is not supported here, because the next call in the missing folder would fail immediately.
    return fault_decide(FAULT_MKDIR) == FAULT_FAIL ? -1 : next(folder, path, mode);
}

int mkdir(const char *path, mode_t mode) { return mkdirat(AT_FDCWD, path, mode); }

/// Makes openat2 and renameat2 fail with ENOSYS, as on an old kernel. The program then uses one of the functions above instead.
long syscall(long number, ...) {
    typedef long (*syscall_type)(long, ...);
    NEXT(syscall_type, "syscall");
    if (fault_settings.under && (number == SYS_openat2 || number == SYS_renameat2)) {
        errno = ENOSYS;
        return -1;
    }
    va_list arguments;
    va_start(arguments, number);
    long values[6];
    for (int index = 0; index < 6; index++) values[index] = va_arg(arguments, long);
    va_end(arguments);
    return next(number, values[0], values[1], values[2], values[3], values[4], values[5]);
}

/// Executes the program in FAULT_WORKER instead of a decode worker. The recorder's child processes call this.
int execve(const char *path, char *const arguments[], char *const environment[]) {
    typedef int (*execve_type)(const char *, char *const[], char *const[]);
    NEXT(execve_type, "execve");
    const char *worker = fault_settings.worker;
    if (worker && arguments[0] && arguments[1] && strcmp(arguments[1], "decode-worker") == 0) {
        char *stand_in[] = {(char *)worker, "worker", NULL};
        return next(worker, stand_in, environment);
    }
    return next(path, arguments, environment);
}
