#pragma once
#include <libpq-fe.h>
#include <stdlib.h>
#include <string.h>

/// Returns the connection timeout in seconds: at least 2, as in libpq, or a day if the connection string sets none.
static inline long fieldscribe_connect_timeout(PGconn *connection) {
    long seconds = 0;
    PQconninfoOption *options = PQconninfo(connection);
    for (PQconninfoOption *option = options; option && option->keyword; option++)
        if (strcmp(option->keyword, "connect_timeout") == 0 && option->val) seconds = strtol(option->val, NULL, 10);
    PQconninfoFree(options);
    return seconds <= 0 ? 86400 : seconds < 2 ? 2 : seconds;
}

/// Copies the path of the password file in a connection string. Returns its length; 0 if the string names none or cannot
/// be parsed, or if the path is too long.
static inline size_t fieldscribe_password_file(const char *address, char *path, size_t capacity) {
    size_t length = 0;
    PQconninfoOption *options = PQconninfoParse(address, NULL);
    for (PQconninfoOption *option = options; option && option->keyword; option++) {
        if (strcmp(option->keyword, "passfile") != 0 || !option->val) continue;
        length = strlen(option->val);
        if (length < capacity) memcpy(path, option->val, length + 1);
    }
    PQconninfoFree(options);
    return length < capacity ? length : 0;
}

static void fieldscribe_ignore_notice(void *context, const char *message) {
    (void)context;
    (void)message;
}

/// Makes libpq discard the server's notices, which would appear between a command's own lines.
static inline void fieldscribe_ignore_notices(PGconn *connection) {
    PQsetNoticeProcessor(connection, fieldscribe_ignore_notice, 0);
}
