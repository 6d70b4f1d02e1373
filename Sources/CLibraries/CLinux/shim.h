// Linux calls that Swift cannot import, such as variadic functions and macros, and code that must not use Swift's runtime.
#pragma once
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/memfd.h>
#include <linux/seccomp.h>
#include <sys/vfs.h>
#include <linux/openat2.h>
#include <malloc.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timex.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/// Calls open(2), which is variadic in C.
static inline int fieldscribe_open(const char *path, int flags, unsigned mode) {
    return open(path, flags | O_CLOEXEC, mode);
}

// stdlib.h and pthread.h declare these only with _GNU_SOURCE.
extern int mkostemp(char *name, int flags);
extern int pthread_getattr_default_np(pthread_attr_t *attributes);
extern int pthread_setattr_default_np(const pthread_attr_t *attributes);

/// Sets the default stack size of threads to at least 1 MiB, even if `ulimit -s` is smaller.
static inline void fieldscribe_widen_stacks(void) {
    pthread_attr_t attributes;
    size_t size;
    if (pthread_getattr_default_np(&attributes) != 0) return;
    if (pthread_attr_getstacksize(&attributes, &size) == 0 && size < 1 << 20 &&
        pthread_attr_setstacksize(&attributes, 1 << 20) == 0)
        pthread_setattr_default_np(&attributes);
    pthread_attr_destroy(&attributes);
}

/// Sets the name of the calling thread, which is truncated to 15 bytes.
static inline void fieldscribe_name_thread(const char *name) { prctl(PR_SET_NAME, name, 0, 0, 0); }

// semaphore.h declares this only with _GNU_SOURCE, which Swift does not define.
extern int sem_clockwait(sem_t *semaphore, clockid_t clock, const struct timespec *deadline);

/// Waits for a semaphore until a time on the monotonic clock, using sem_clockwait. Returns 0, or -1 and sets errno.
static inline int fieldscribe_wait_until(sem_t *semaphore, const struct timespec *deadline) {
    return sem_clockwait(semaphore, CLOCK_MONOTONIC, deadline);
}

int pipe2(int ends[2], int flags);

/// Creates a pipe that children do not inherit unless it is passed to them. Returns 0 or an errno.
static inline int fieldscribe_pipe(int ends[2]) { return pipe2(ends, O_CLOEXEC) == 0 ? 0 : errno; }

/// Sets a pipe's capacity to 1 MiB if the system allows it.
static inline void fieldscribe_widen_pipe(int end) { fcntl(end, 1031 /* F_SETPIPE_SZ */, 1 << 20); }

// fcntl.h also declares this only with _GNU_SOURCE.
extern int sync_file_range(int file, int64_t offset, int64_t count, unsigned flags);

/// Starts writing back a range of a file, without waiting for it.
static inline void fieldscribe_start_writeback(int file, int64_t offset, int64_t count) {
    sync_file_range(file, offset, count, 2 /* SYNC_FILE_RANGE_WRITE */);
}

/// Makes this process adopt the orphans of its descendants.
static inline void fieldscribe_adopt_orphans(void) { prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); }

/// Returns the nice value of the calling thread.
static inline int fieldscribe_niceness(void) { return getpriority(PRIO_PROCESS, 0); }

/// Starts a program, which the kernel kills when the calling thread exits. `pairs` has `count` pairs of a descriptor in
/// this process and its number in the program. Returns the process ID, or -1 and sets errno.
__attribute__((noinline)) static pid_t fieldscribe_spawn(const char *path, char *const arguments[],
                                                         char *const environment[], const int *pairs, int count,
                                                         int shows_errors, int niceness) {
    sigset_t all, previous;
    pid_t parent = getpid();
    int ends[2], failure = 0, highest = STDERR_FILENO;
    // If exec fails, the child sends the errno through a pipe, whose descriptor is above all that the program expects.
    for (int pair = 0; pair < count; pair++)
        if (pairs[2 * pair + 1] > highest) highest = pairs[2 * pair + 1];
    if (pipe2(ends, O_CLOEXEC) != 0) return -1;
    int report = fcntl(ends[1], F_DUPFD_CLOEXEC, highest + 1);
    int status = report < 0 ? errno : 0;
    close(ends[1]);
    if (report < 0) {
        close(ends[0]);
        errno = status;
        return -1;
    }
    // Until exec, the child runs in this process's memory, so it must not run this process's signal handlers. Lists them
    // before vfork. Leaves out SIGABRT, which nobody sends to a program that has not started: glibc 2.41 protects its
    // handler with a lock. If another thread held the lock, a copy of this process would wait forever, and qemu's vfork
    // makes a copy.
    int handled_signals[NSIG], handled_count = 0;
    for (int number = 1; number < NSIG; number++) {
        struct sigaction action;
        if (number == SIGABRT || sigaction(number, NULL, &action) != 0) continue;
        if (action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN) handled_signals[handled_count++] = number;
    }
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &previous);
    pid_t child = vfork();
    if (child == 0) {
        for (int index = 0; index < handled_count; index++) {
            struct sigaction action;
            memset(&action, 0, sizeof action);
            action.sa_handler = SIG_DFL;
            sigaction(handled_signals[index], &action, NULL);
        }
        prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
        // If the parent exited before that call, there will be no signal.
        if (getppid() != parent) _exit(127);
        setpriority(PRIO_PROCESS, 0, niceness);
        for (int pair = 0; pair < count; pair++) {
            int source = pairs[2 * pair], target = pairs[2 * pair + 1];
            // A descriptor that already has the right number must only stay open.
            if (failure == 0 && (source == target ? fcntl(target, F_SETFD, 0) : dup2(source, target)) < 0)
                failure = errno;
        }
        if (failure == 0 && !shows_errors) {
            int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
            if (null < 0 || dup2(null, STDERR_FILENO) < 0) failure = errno;
        }
        if (failure == 0) {
            // Unblock all signals. libdispatch's threads block them, and then a CPU time limit would kill the child with
            // SIGKILL instead of SIGXCPU.
            sigemptyset(&all);
            sigprocmask(SIG_SETMASK, &all, NULL);
            execve(path, arguments, environment);
            failure = errno;
        }
        _exit(write(report, &failure, sizeof failure) == sizeof failure ? 127 : 126);
    }
    if (child < 0) status = errno;
    sigprocmask(SIG_SETMASK, &previous, NULL);
    close(report);
    ssize_t received = 0;
    while (child > 0 && (received = read(ends[0], &failure, sizeof failure)) < 0 && errno == EINTR) {}
    close(ends[0]);
    if (received == sizeof failure) status = failure;
    if (child > 0 && status != 0) {
        while (waitpid(child, NULL, 0) < 0 && errno == EINTR) {}
        child = -1;
    }
    errno = status;
    return child;
}

/// Forks a copy that is killed when the caller's parent exits. That parent must be the process that adopts the caller's
/// orphans. Returns 0 in the copy; in the caller, the copy's process ID or -1.
static inline pid_t fieldscribe_fork_copy(void) {
    int ends[2];
    pid_t copy = -1, parent = getppid();
    if (pipe2(ends, O_CLOEXEC) != 0) return -1;
    pid_t intermediate = fork();
    if (intermediate == 0) {
        pid_t self = getpid();
        copy = fork();
        if (copy == 0) {
            close(ends[0]);
            close(ends[1]);
            // The parent-death signal depends on the parent at the time of the call, so wait for the final parent.
            while (getppid() == self) {
                struct timespec pause = {.tv_nsec = 100000};
                nanosleep(&pause, NULL);
            }
            prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
            if (getppid() != parent) _exit(1);
            return 0;
        }
        _exit(write(ends[1], &copy, sizeof copy) == sizeof copy ? 0 : 1);
    }
    close(ends[1]);
    if (intermediate > 0) {
        ssize_t count;
        do count = read(ends[0], &copy, sizeof copy);
        while (count < 0 && errno == EINTR);
        if (count != sizeof copy) copy = -1;
        // Once the intermediate process has exited, the copy is an orphan.
        while (waitpid(intermediate, NULL, 0) < 0 && errno == EINTR) {}
    }
    close(ends[0]);
    return copy;
}

/// Returns the kernel's maximum error for the wall clock, in microseconds; -1 if the call is forbidden, as in the service's
/// sandbox (ProtectClock=).
static inline long fieldscribe_clock_maximum_error(void) {
    struct timex state = {0};
    return adjtimex(&state) < 0 ? -1 : state.maxerror;
}

/// Creates a counter that can wake up poll(2). Returns a descriptor, or -1 and sets errno.
static inline int fieldscribe_eventfd(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }

/// Creates an AF_UNIX socket of type SOCK_STREAM or SOCK_DGRAM. Returns a descriptor, or -1 and sets errno.
static inline int fieldscribe_unix_socket(int datagrams) {
    return socket(AF_UNIX, (datagrams ? SOCK_DGRAM : SOCK_STREAM) | SOCK_CLOEXEC, 0);
}

/// Writes a path as a socket address. A path that begins with @ names an abstract socket. Returns the address's size, or 0
/// and sets errno.
static inline socklen_t fieldscribe_unix_address(const char *path, struct sockaddr_un *address) {
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    size_t length = strlen(path);
    if (length == 0 || length >= sizeof address->sun_path) {
        errno = ENAMETOOLONG;
        return 0;
    }
    memcpy(address->sun_path, path, length);
    int abstract = path[0] == '@';
    if (abstract) address->sun_path[0] = 0;
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length + (abstract ? 0 : 1));
}

/// Binds an AF_UNIX socket to a path; see `fieldscribe_unix_address`. Returns 0, or -1 and sets errno.
static inline int fieldscribe_unix_bind(int socket, const char *path) {
    struct sockaddr_un address;
    socklen_t size = fieldscribe_unix_address(path, &address);
    return size == 0 ? -1 : bind(socket, (struct sockaddr *)&address, size);
}

/// Connects an AF_UNIX socket to a path; see `fieldscribe_unix_address`. Returns 0, or -1 and sets errno.
static inline int fieldscribe_unix_connect(int socket, const char *path) {
    struct sockaddr_un address;
    socklen_t size = fieldscribe_unix_address(path, &address);
    return size == 0 ? -1 : connect(socket, (struct sockaddr *)&address, size);
}

int accept4(int socket, struct sockaddr *address, socklen_t *length, int flags);

/// Accepts a connection as a nonblocking socket. Returns a descriptor, or -1 and sets errno.
static inline int fieldscribe_accept(int socket) { return accept4(socket, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK); }

/// Gets the user, the group and up to `count` supplementary groups of a connection's peer. Returns 0, or -1 and sets
/// errno.
static inline int fieldscribe_peer(int socket, uid_t *user, gid_t *group, gid_t *supplementary, int *count) {
    // struct ucred, which sys/socket.h declares only with _GNU_SOURCE.
    struct {
        pid_t process;
        uid_t user;
        gid_t group;
    } peer;
    socklen_t size = sizeof peer;
    if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return -1;
    *user = peer.user;
    *group = peer.group;
    size = (socklen_t)(*count * (int)sizeof *supplementary);
    int status = getsockopt(socket, SOL_SOCKET, SO_PEERGROUPS, supplementary, &size);
    *count = status == 0 ? (int)(size / sizeof *supplementary) : 0;
    return 0;
}

/// Opens an entry in a folder, and nothing outside the folder: follows no links and enters no parent folders, and no mount
/// points unless `crosses` is set. Returns a descriptor, or -1 and sets errno. Where a sandbox forbids openat2, because
/// seccomp cannot inspect the call's flags, uses openat; the name must then not contain a slash.
static inline int fieldscribe_open_beneath(int folder, const char *name, int flags, unsigned mode, int crosses) {
    struct open_how how = {
        .flags = (uint64_t)(unsigned)(flags | O_CLOEXEC),
        .mode = flags & O_CREAT ? mode : 0,
        .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | (crosses ? 0 : RESOLVE_NO_XDEV),
    };
    int file = (int)syscall(SYS_openat2, folder, name, &how, sizeof how);
    if (file >= 0 || (errno != ENOSYS && errno != EPERM)) return file;
    if (strchr(name, '/') || strcmp(name, "..") == 0) {
        errno = EXDEV;
        return -1;
    }
    struct stat parent, entry;
    if (!crosses && (fstat(folder, &parent) != 0 ||
                     (fstatat(folder, name, &entry, AT_SYMLINK_NOFOLLOW) == 0 && parent.st_dev != entry.st_dev))) {
        errno = EXDEV;
        return -1;
    }
    file = openat(folder, name, flags | O_CLOEXEC | O_NOFOLLOW, mode);
    // Like openat2, report a link to a folder as a link.
    if (file < 0 && errno == ENOTDIR && fstatat(folder, name, &entry, AT_SYMLINK_NOFOLLOW) == 0)
        errno = S_ISLNK(entry.st_mode) ? ELOOP : ENOTDIR;
    return file;
}

/// Renames an entry within a folder if the new name does not exist. Returns 0, or -1 and sets errno.
static inline int fieldscribe_rename_new(int folder, const char *name, const char *new_name) {
    return (int)syscall(SYS_renameat2, folder, name, folder, new_name, 1 /* RENAME_NOREPLACE */);
}

int syncfs(int descriptor);

int setresuid(uid_t real, uid_t effective, uid_t saved);
int setresgid(gid_t real, gid_t effective, gid_t saved);

/// Changes the user, group and supplementary groups of the whole process. With `keeps`, the current user and group remain
/// as saved IDs, so that the change can be undone. Returns 0 or an errno, in which case the user is unchanged.
static inline int fieldscribe_become(uid_t user, gid_t group, const char *name, int keeps) {
    uid_t saved_user = keeps ? geteuid() : user;
    gid_t saved_group = keeps ? getegid() : group;
    if ((name ? initgroups(name, group) : setgroups(0, NULL)) != 0) return errno;
    if (setresgid(group, group, saved_group) != 0) return errno;
    if (setresuid(user, user, saved_user) != 0) return errno;
    return 0;
}

/// Undoes `fieldscribe_become` for root. Returns 0 or an errno.
static inline int fieldscribe_become_root_again(void) {
    if (setresuid(0, 0, 0) != 0 || setresgid(0, 0, 0) != 0) return errno;
    return initgroups("root", 0) != 0 ? errno : 0;
}

/// Returns the open(2) flag for bypassing the page cache, whose value depends on the architecture.
static inline int fieldscribe_direct(void) {
#ifdef O_DIRECT
    return O_DIRECT;
#else
    return __O_DIRECT;
#endif
}

/// Creates an unnamed file in memory. Returns a descriptor, or -1 and sets errno.
static inline int fieldscribe_memory_file(const char *name) { return (int)syscall(SYS_memfd_create, name, MFD_CLOEXEC); }

/// Returns nonzero if a file is in a memory file system (TMPFS_MAGIC or RAMFS_MAGIC).
static inline int fieldscribe_is_in_memory(int descriptor) {
    struct statfs status;
    return fstatfs(descriptor, &status) == 0
        && ((unsigned int)status.f_type == 0x01021994u || (unsigned int)status.f_type == 0x858458f6u);
}

/// Makes all threads allocate from one arena.
static inline void fieldscribe_use_one_arena(void) { mallopt(M_ARENA_MAX, 1); }

/// Limits a child's address space, data segment, CPU time in seconds and file size, and disables core dumps.
static inline void fieldscribe_limit_child(int child, uint64_t memory, uint64_t data, uint64_t cpu, uint64_t file) {
    const struct {
        int resource;
        uint64_t value;
    } limits[] = {{RLIMIT_AS, memory}, {RLIMIT_DATA, data}, {RLIMIT_CPU, cpu}, {RLIMIT_CORE, 0}, {RLIMIT_FSIZE, file}};
    for (size_t index = 0; index < sizeof limits / sizeof *limits; index++) {
        // The soft limit for CPU time is lower, so that the child is killed by SIGXCPU, which shows the reason.
        int is_time = limits[index].resource == RLIMIT_CPU;
        uint64_t soft_and_hard[2] = {limits[index].value, limits[index].value + (is_time ? 1 : 0)};
        syscall(SYS_prlimit64, child, limits[index].resource, soft_and_hard, NULL);
    }
}

/// Permanently restricts the calling process to its memory and its open pipes: it can no longer open files or sockets, or
/// affect other processes. The process must have only one thread. Returns 0 or an errno.
static inline int fieldscribe_enter_sandbox(void) {
    // The calls needed to read a pipe, compute and write an answer. All others fail with EPERM.
    static const int allowed[] = {
        SYS_read,         SYS_readv,       SYS_write,         SYS_writev,         SYS_close,         SYS_fstat,
        SYS_newfstatat,   SYS_lseek,       SYS_ppoll,         SYS_mmap,           SYS_munmap,        SYS_mremap,
        SYS_mprotect,     SYS_madvise,     SYS_brk,           SYS_futex,          SYS_getrandom,     SYS_rt_sigaction,
        SYS_rt_sigreturn, SYS_sigaltstack, SYS_rt_sigprocmask, SYS_clock_gettime, SYS_clock_nanosleep, SYS_nanosleep,
        SYS_sched_yield,  SYS_getpid,      SYS_gettid,        SYS_restart_syscall, SYS_exit,         SYS_exit_group,
    };
    enum { count = sizeof allowed / sizeof *allowed };
#if defined(__x86_64__)
    const uint32_t machine = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
    const uint32_t machine = AUDIT_ARCH_AARCH64;
#else
#error "add the AUDIT_ARCH of this architecture"
#endif
    struct sock_filter filter[count + 6] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, machine, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
    };
    for (int index = 0; index < count; index++) {
        filter[4 + index] = (struct sock_filter)BPF_JUMP(
            BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)allowed[index], (uint8_t)(count - index), 0);
    }
    filter[4 + count] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
    filter[5 + count] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    const struct sock_fprog program = {.len = count + 6, .filter = filter};
    // With these limits, no file or socket can be opened even if there is no filter, as in qemu's user mode. setrlimit is
    // not used, because systemd's filters forbid it.
    const uint64_t none[2] = {0, 0};
    if (syscall(SYS_prlimit64, 0, RLIMIT_NOFILE, none, NULL) != 0) return errno;
    if (syscall(SYS_prlimit64, 0, RLIMIT_FSIZE, none, NULL) != 0) return errno;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return errno;
    // seccomp(2) is not used, because those filters forbid it too.
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0) return 0;
    return errno == EINVAL || errno == ENOSYS ? 0 : errno;
}
