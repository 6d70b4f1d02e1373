// Macros and variadic functions from sqlite3.h that Swift cannot import.
#pragma once
#include <sqlite3.h>

/// The extended result code for a row that refers to a missing parent row.
static const int fieldscribe_sqlite_foreign_key = SQLITE_CONSTRAINT_FOREIGNKEY;

/// Binds a copy of `length` bytes of UTF-8; `length` may be 0. Returns the result code.
static inline int fieldscribe_sqlite_bind_text(sqlite3_stmt *statement, int index, const char *text, long length) {
    return sqlite3_bind_text64(
        statement, index, text ? text : "", (sqlite3_uint64)length, SQLITE_TRANSIENT, SQLITE_UTF8);
}

/// Sets whether closing the database keeps its write-ahead log. Returns the result code.
static inline int fieldscribe_sqlite_keep_log(sqlite3 *database, int keep) {
    return sqlite3_db_config(database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, keep, (int *)0);
}
#include "shared.h"
