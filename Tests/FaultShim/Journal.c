// Journals changes to files, so that a power cut can be simulated in which the card loses its cache.
//
// Before each change, this appends a record to the journal: the kind of change, the file, and the previous content. It keeps
// deleted or replaced files as hard links beside the journal. After the program is killed, Tests/Chaos/PowerCut.swift goes from the
// last record to the first, and undoes each change that was not followed by a sync of the file (or, for names, of its folder).
//
// A record has 64-bit numbers: kind, sequence number, inode, offset, count, previous size. After a W (write), `count` bytes of
// previous content follow. After an R (rename), U (unlink) or C (create), two strings with PATH_MAX bytes each follow: the old and
// the new path for R, the path and an empty string for U and C. S (sync) means that all changes to the inode up to the sequence
// number in `offset` are durable.
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
static char kept_prefix[PATH_MAX];
static uint64_t sequence_number;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

struct record { uint64_t kind, sequence_number, inode, offset, count, size; };

void journal_begin(const char *path) {
    journal = (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    snprintf(kept_prefix, sizeof kept_prefix, "%s.kept", path);
}

static uint64_t append(struct record record, const void *bytes, size_t count) {
    pthread_mutex_lock(&lock);
    record.sequence_number = ++sequence_number;
    struct iovec parts[] = {{&record, sizeof record}, {(void *)bytes, count}};
    if (syscall(SYS_writev, journal, parts, count > 0 ? 2 : 1) < 0) abort();
    pthread_mutex_unlock(&lock);
    return record.sequence_number;
}

void journal_write(int descriptor, int64_t offset, uint64_t count) {
    struct stat status;
    if (journal < 0 || fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) return;
    // There is nothing to save beyond the old end: truncation undoes such writes.
    uint64_t overwritten = offset >= status.st_size ? 0 : (uint64_t)(status.st_size - offset);
    if (overwritten > count) overwritten = count;
    char *before = malloc(overwritten + 1);
    if (!before) abort();
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
    // Opens the file again, because the program may have opened it only for writing.
    int file = overwritten > 0 ? (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0) : -1;
    if (overwritten > 0 && pread(file, before, overwritten, offset) != (ssize_t)overwritten) abort();
    if (file >= 0) syscall(SYS_close, file);
    append((struct record){'W', 0, status.st_ino, (uint64_t)offset, overwritten, (uint64_t)status.st_size}, before, overwritten);
    free(before);
}

void journal_truncate(int descriptor, int64_t length) {
    struct stat status;
    if (journal < 0 || fstat(descriptor, &status) != 0) return;
    int64_t removed = status.st_size - length;
    journal_write(descriptor, length, removed > 0 ? (uint64_t)removed : 0);
}

static void append_names(uint64_t kind, uint64_t inode, const char *first, const char *second) {
    char names[2][PATH_MAX] = {{0}};
    if (!realpath(first, names[0])) snprintf(names[0], PATH_MAX, "%s", first);
    snprintf(names[1], PATH_MAX, "%s", second);
    append((struct record){kind, 0, inode, 0, sizeof names, 0}, names, sizeof names);
}

static uint64_t inode(const char *path) {
    struct stat status;
    return lstat(path, &status) == 0 ? status.st_ino : 0;
}

/// Adds a hard link to a file whose name is about to be removed. The link's name contains the inode number. Returns that number, or
/// 0 if there is no such file.
static uint64_t keep(const char *path) {
    uint64_t inode_number = inode(path);
    char name[PATH_MAX + 32];
    if (inode_number == 0) return 0;
    snprintf(name, sizeof name, "%s.%llu", kept_prefix, (unsigned long long)inode_number);
    (void)!syscall(SYS_linkat, AT_FDCWD, path, AT_FDCWD, name, 0);
    return inode_number;
}

void journal_created(const char *path) {
    if (journal >= 0) append_names('C', inode(path), path, "");
}

void journal_renaming(const char *from, const char *to) {
    if (journal < 0) return;
    // Records are undone from last to first, so the old file is restored after the new one is moved back.
    uint64_t replaced_inode = keep(to);
    if (replaced_inode) append_names('U', replaced_inode, to, "");
    append_names('R', inode(from), from, to);
}

void journal_unlinking(const char *path) {
    if (journal < 0) return;
    uint64_t inode_number = keep(path);
    if (inode_number) append_names('U', inode_number, path, "");
}

uint64_t journal_sync_begin(void) {
    pthread_mutex_lock(&lock);
    uint64_t durable = sequence_number;
    pthread_mutex_unlock(&lock);
    return durable;
}

void journal_synced(int descriptor, uint64_t durable) {
    struct stat status;
    if (journal < 0 || fstat(descriptor, &status) != 0) return;
    append((struct record){'S', 0, status.st_ino, durable, 0, S_ISDIR(status.st_mode)}, NULL, 0);
}
