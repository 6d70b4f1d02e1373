// What a power cut would undo: a card whose cache is lost.
//
// Before each change a record goes to the journal: what it is, to which file, and what was there. Files that vanish are
// kept under another name beside the journal. After the program was killed, whoever reads the journal undoes, from the
// last record back, what no sync of that file (or, for names, of its folder) has followed.
//
// A record: kind, turn, inode, offset, count, size before, as 64-bit numbers; then `count` bytes of what was there (W), or
// two strings of PATH_MAX (R: from, to; U: path; C: path). S: `offset` is the turn before which all is durable.
#include "shim.h"
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static int journal = -1;
static char kept[PATH_MAX];
static uint64_t turn;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

struct record { uint64_t kind, turn, inode, offset, count, size; };

void journal_begin(const char *path) {
    journal = (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    snprintf(kept, sizeof kept, "%s.kept", path);
}

static uint64_t put(struct record record, const void *bytes, size_t count) {
    pthread_mutex_lock(&lock);
    record.turn = ++turn;
    struct iovec parts[] = {{&record, sizeof record}, {(void *)bytes, count}};
    if (syscall(SYS_writev, journal, parts, count > 0 ? 2 : 1) < 0) abort();
    pthread_mutex_unlock(&lock);
    return record.turn;
}

void journal_write(int descriptor, int64_t offset, uint64_t count) {
    struct stat status;
    if (journal < 0 || fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) return;
    // What lies behind the old end comes back by cutting.
    uint64_t held = offset >= status.st_size ? 0 : (uint64_t)(status.st_size - offset);
    if (held > count) held = count;
    char *before = malloc(held + 1);
    if (!before) abort();
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
    // The program may have opened it for writing only.
    int file = held > 0 ? (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0) : -1;
    if (held > 0 && pread(file, before, held, offset) != (ssize_t)held) abort();
    if (file >= 0) syscall(SYS_close, file);
    put((struct record){'W', 0, status.st_ino, (uint64_t)offset, held, (uint64_t)status.st_size}, before, held);
    free(before);
}

void journal_truncate(int descriptor, int64_t length) {
    struct stat status;
    if (journal < 0 || fstat(descriptor, &status) != 0) return;
    int64_t cut = status.st_size - length;
    journal_write(descriptor, length, cut > 0 ? (uint64_t)cut : 0);
}

static void put_names(uint64_t kind, uint64_t inode, const char *first, const char *second) {
    char names[2][PATH_MAX] = {{0}};
    if (!realpath(first, names[0])) snprintf(names[0], PATH_MAX, "%s", first);
    snprintf(names[1], PATH_MAX, "%s", second);
    put((struct record){kind, 0, inode, 0, sizeof names, 0}, names, sizeof names);
}

static uint64_t inode(const char *path) {
    struct stat status;
    return lstat(path, &status) == 0 ? status.st_ino : 0;
}

/// Keeps a file that is about to lose its name; the name under which it is kept carries its inode.
static uint64_t keep(const char *path) {
    uint64_t number = inode(path);
    char name[PATH_MAX + 32];
    if (number == 0) return 0;
    snprintf(name, sizeof name, "%s.%llu", kept, (unsigned long long)number);
    (void)!syscall(SYS_linkat, AT_FDCWD, path, AT_FDCWD, name, 0);
    return number;
}

void journal_created(const char *path) {
    if (journal >= 0) put_names('C', inode(path), path, "");
}

void journal_renaming(const char *from, const char *to) {
    if (journal < 0) return;
    // The name's old file first: undone last to first, it comes back after the new one has gone.
    uint64_t old = keep(to);
    if (old) put_names('U', old, to, "");
    put_names('R', inode(from), from, to);
}

void journal_unlinking(const char *path) {
    if (journal < 0) return;
    uint64_t number = keep(path);
    if (number) put_names('U', number, path, "");
}

uint64_t journal_sync_begin(void) {
    pthread_mutex_lock(&lock);
    uint64_t from = turn;
    pthread_mutex_unlock(&lock);
    return from;
}

void journal_synced(int descriptor, uint64_t from) {
    struct stat status;
    if (journal < 0 || fstat(descriptor, &status) != 0) return;
    put((struct record){'S', 0, status.st_ino, from, 0, S_ISDIR(status.st_mode)}, NULL, 0);
}
