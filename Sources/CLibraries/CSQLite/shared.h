// An SQLite VFS for one archive: several connections in this process share one database in WAL mode, with the WAL index on
// the heap, while all other processes are locked out.
//
// SQLite's own VFS would map the index from a file, and accessing the mapping raises SIGBUS if the disk fails or is full.
// In exclusive mode, it would keep the index on the heap, but only for a single connection.
#pragma once
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

typedef struct fieldscribe_share fieldscribe_share;

/// The database file as opened by one connection. The file object of SQLite's own VFS follows it in memory.
typedef struct fieldscribe_file {
    sqlite3_file base;
    fieldscribe_share *share;
    struct fieldscribe_file *next;
    /// The lock level among the connections of this process, from SQLITE_LOCK_NONE to SQLITE_LOCK_EXCLUSIVE.
    int level;
    /// Whether the lock that excludes other processes was acquired through this file.
    int holds_lock;
    /// Which of the index's eight locks this connection has, with one bit for each.
    unsigned shared, exclusive;
    int maps_index;
} fieldscribe_file;

/// The state that the connections share.
struct fieldscribe_share {
    sqlite3_vfs vfs;
    sqlite3_vfs *system;
    sqlite3_mutex *mutex;
    fieldscribe_file *files;
    /// The WAL index, in regions of equal length.
    void **regions;
    int regionCount;
};

static inline sqlite3_file *fieldscribe_system_file(sqlite3_file *file) {
    return (sqlite3_file *)((fieldscribe_file *)file + 1);
}

static int fieldscribe_file_read(sqlite3_file *file, void *bytes, int count, sqlite3_int64 offset) {
    file = fieldscribe_system_file(file);
    return file->pMethods->xRead(file, bytes, count, offset);
}

static int fieldscribe_file_write(sqlite3_file *file, const void *bytes, int count, sqlite3_int64 offset) {
    file = fieldscribe_system_file(file);
    return file->pMethods->xWrite(file, bytes, count, offset);
}

static int fieldscribe_file_truncate(sqlite3_file *file, sqlite3_int64 size) {
    file = fieldscribe_system_file(file);
    return file->pMethods->xTruncate(file, size);
}

static int fieldscribe_file_sync(sqlite3_file *file, int flags) {
    file = fieldscribe_system_file(file);
    return file->pMethods->xSync(file, flags);
}

static int fieldscribe_file_size(sqlite3_file *file, sqlite3_int64 *size) {
    file = fieldscribe_system_file(file);
    return file->pMethods->xFileSize(file, size);
}

static int fieldscribe_file_control(sqlite3_file *file, int operation, void *argument) {
    file = fieldscribe_system_file(file);
    return file->pMethods->xFileControl(file, operation, argument);
}

static int fieldscribe_file_sector(sqlite3_file *file) {
    file = fieldscribe_system_file(file);
    return file->pMethods->xSectorSize(file);
}

static int fieldscribe_file_characteristics(sqlite3_file *file) {
    file = fieldscribe_system_file(file);
    return file->pMethods->xDeviceCharacteristics(file);
}

/// Locks out other processes until the file is closed. The caller must hold the mutex.
static int fieldscribe_share_own(fieldscribe_share *share, fieldscribe_file *file) {
    for (fieldscribe_file *other = share->files; other; other = other->next)
        if (other->holds_lock) return SQLITE_OK;
    sqlite3_file *system = fieldscribe_system_file(&file->base);
    int status = system->pMethods->xLock(system, SQLITE_LOCK_SHARED);
    if (status != SQLITE_OK) return status;
    status = system->pMethods->xLock(system, SQLITE_LOCK_EXCLUSIVE);
    if (status != SQLITE_OK) {
        system->pMethods->xUnlock(system, SQLITE_LOCK_NONE);
        return status;
    }
    file->holds_lock = 1;
    return SQLITE_OK;
}

static int fieldscribe_file_lock(sqlite3_file *opened, int level) {
    fieldscribe_file *file = (fieldscribe_file *)opened;
    fieldscribe_share *share = file->share;
    int status = SQLITE_OK;
    if (level <= file->level) return SQLITE_OK;
    sqlite3_mutex_enter(share->mutex);
    for (fieldscribe_file *other = share->files; other; other = other->next) {
        int conflicting = level == SQLITE_LOCK_SHARED ? SQLITE_LOCK_PENDING
            : level == SQLITE_LOCK_RESERVED     ? SQLITE_LOCK_RESERVED
                                                : SQLITE_LOCK_SHARED;
        if (other != file && other->level >= conflicting) status = SQLITE_BUSY;
    }
    if (status == SQLITE_OK) status = fieldscribe_share_own(share, file);
    if (status == SQLITE_OK) file->level = level;
    sqlite3_mutex_leave(share->mutex);
    return status;
}

static int fieldscribe_file_unlock(sqlite3_file *opened, int level) {
    fieldscribe_file *file = (fieldscribe_file *)opened;
    sqlite3_mutex_enter(file->share->mutex);
    if (level < file->level) file->level = level;
    sqlite3_mutex_leave(file->share->mutex);
    return SQLITE_OK;
}

static int fieldscribe_file_reserved(sqlite3_file *opened, int *isReserved) {
    fieldscribe_share *share = ((fieldscribe_file *)opened)->share;
    *isReserved = 0;
    sqlite3_mutex_enter(share->mutex);
    for (fieldscribe_file *file = share->files; file; file = file->next)
        if (file->level >= SQLITE_LOCK_RESERVED) *isReserved = 1;
    sqlite3_mutex_leave(share->mutex);
    return SQLITE_OK;
}

static int fieldscribe_index_map(sqlite3_file *opened, int region, int size, int extends, void volatile **mapped) {
    fieldscribe_file *file = (fieldscribe_file *)opened;
    fieldscribe_share *share = file->share;
    int status = SQLITE_OK;
    *mapped = NULL;
    sqlite3_mutex_enter(share->mutex);
    file->maps_index = 1;
    while (extends && region >= share->regionCount && status == SQLITE_OK) {
        void **regions = (void **)realloc(share->regions, sizeof(void *) * (size_t)(share->regionCount + 1));
        if (regions) share->regions = regions;
        void *memory = regions ? calloc(1, (size_t)size) : NULL;
        if (memory) share->regions[share->regionCount++] = memory;
        else status = SQLITE_IOERR_NOMEM;
    }
    if (region < share->regionCount) *mapped = share->regions[region];
    sqlite3_mutex_leave(share->mutex);
    return status;
}

static int fieldscribe_index_lock(sqlite3_file *opened, int offset, int count, int flags) {
    fieldscribe_file *file = (fieldscribe_file *)opened;
    fieldscribe_share *share = file->share;
    unsigned mask = ((1u << count) - 1) << offset;
    int status = SQLITE_OK;
    sqlite3_mutex_enter(share->mutex);
    if (flags & SQLITE_SHM_UNLOCK) {
        file->shared &= ~mask;
        file->exclusive &= ~mask;
    } else {
        for (fieldscribe_file *other = share->files; other; other = other->next) {
            unsigned held = flags & SQLITE_SHM_SHARED ? other->exclusive : other->shared | other->exclusive;
            if (other != file && held & mask) status = SQLITE_BUSY;
        }
        if (status == SQLITE_OK) {
            if (flags & SQLITE_SHM_SHARED) file->shared |= mask;
            else file->exclusive |= mask;
        }
    }
    sqlite3_mutex_leave(share->mutex);
    return status;
}

static void fieldscribe_index_barrier(sqlite3_file *opened) {
    __sync_synchronize();
    sqlite3_mutex *mutex = ((fieldscribe_file *)opened)->share->mutex;
    sqlite3_mutex_enter(mutex);
    sqlite3_mutex_leave(mutex);
}

/// Frees the index once no connection has mapped it. The caller must hold the mutex.
static void fieldscribe_share_free_index(fieldscribe_share *share) {
    for (fieldscribe_file *file = share->files; file; file = file->next)
        if (file->maps_index) return;
    for (int region = 0; region < share->regionCount; region++) free(share->regions[region]);
    free(share->regions);
    share->regions = NULL;
    share->regionCount = 0;
}

static int fieldscribe_index_unmap(sqlite3_file *opened, int deletes) {
    (void)deletes;
    fieldscribe_file *file = (fieldscribe_file *)opened;
    sqlite3_mutex_enter(file->share->mutex);
    file->maps_index = 0;
    file->shared = file->exclusive = 0;
    fieldscribe_share_free_index(file->share);
    sqlite3_mutex_leave(file->share->mutex);
    return SQLITE_OK;
}

static int fieldscribe_file_close(sqlite3_file *opened) {
    fieldscribe_file *file = (fieldscribe_file *)opened;
    fieldscribe_share *share = file->share;
    sqlite3_mutex_enter(share->mutex);
    fieldscribe_file **link = &share->files;
    while (*link && *link != file) link = &(*link)->next;
    if (*link) *link = file->next;
    fieldscribe_share_free_index(share);
    sqlite3_mutex_leave(share->mutex);
    sqlite3_file *system = fieldscribe_system_file(opened);
    return system->pMethods->xClose(system);
}

static const sqlite3_io_methods fieldscribe_file_methods = {
    2,
    fieldscribe_file_close,
    fieldscribe_file_read,
    fieldscribe_file_write,
    fieldscribe_file_truncate,
    fieldscribe_file_sync,
    fieldscribe_file_size,
    fieldscribe_file_lock,
    fieldscribe_file_unlock,
    fieldscribe_file_reserved,
    fieldscribe_file_control,
    fieldscribe_file_sector,
    fieldscribe_file_characteristics,
    fieldscribe_index_map,
    fieldscribe_index_lock,
    fieldscribe_index_barrier,
    fieldscribe_index_unmap,
};

static int fieldscribe_share_open(
    sqlite3_vfs *vfs, const char *name, sqlite3_file *opened, int flags, int *flagsOut) {
    fieldscribe_share *share = (fieldscribe_share *)vfs->pAppData;
    // The WAL and all other files are ordinary files.
    if (!(flags & SQLITE_OPEN_MAIN_DB)) return share->system->xOpen(share->system, name, opened, flags, flagsOut);
    fieldscribe_file *file = (fieldscribe_file *)opened;
    memset(file, 0, sizeof(*file));
    sqlite3_file *system = fieldscribe_system_file(opened);
    system->pMethods = NULL;
    int status = share->system->xOpen(share->system, name, system, flags, flagsOut);
    if (status != SQLITE_OK) {
        if (system->pMethods) system->pMethods->xClose(system);
        return status;
    }
    file->base.pMethods = &fieldscribe_file_methods;
    file->share = share;
    sqlite3_mutex_enter(share->mutex);
    file->next = share->files;
    share->files = file;
    sqlite3_mutex_leave(share->mutex);
    return SQLITE_OK;
}

/// Creates a VFS and registers it with SQLite as `name`, which must stay valid until the VFS is freed. Returns null if
/// there is not enough memory.
static inline fieldscribe_share *fieldscribe_share_make(const char *name) {
    sqlite3_initialize();
    fieldscribe_share *share = (fieldscribe_share *)calloc(1, sizeof(*share));
    sqlite3_vfs *system = sqlite3_vfs_find(NULL);
    sqlite3_mutex *mutex = sqlite3_mutex_alloc(SQLITE_MUTEX_FAST);
    if (!share || !system || !mutex) {
        sqlite3_mutex_free(mutex);
        free(share);
        return NULL;
    }
    share->system = system;
    share->mutex = mutex;
    share->vfs = *system;
    share->vfs.pNext = NULL;
    share->vfs.zName = name;
    share->vfs.pAppData = share;
    share->vfs.szOsFile = (int)sizeof(fieldscribe_file) + system->szOsFile;
    share->vfs.xOpen = fieldscribe_share_open;
    if (sqlite3_vfs_register(&share->vfs, 0) != SQLITE_OK) {
        sqlite3_mutex_free(mutex);
        free(share);
        return NULL;
    }
    return share;
}

/// Frees a VFS. All connections must be closed.
static inline void fieldscribe_share_free(fieldscribe_share *share) {
    sqlite3_vfs_unregister(&share->vfs);
    sqlite3_mutex_free(share->mutex);
    free(share);
}
