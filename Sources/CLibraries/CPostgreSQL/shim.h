#pragma once
#include <libpq-fe.h>
#include <stdlib.h>
#include <string.h>

/// The connection timeout in seconds that the address sets; at least 2, as in libpq.
static inline long fieldscribe_connect_timeout(PGconn *connection) {
    long seconds = 0;
    PQconninfoOption *options = PQconninfo(connection);
    for (PQconninfoOption *option = options; option && option->keyword; option++)
        if (strcmp(option->keyword, "connect_timeout") == 0 && option->val) seconds = strtol(option->val, NULL, 10);
    PQconninfoFree(options);
    return seconds <= 0 ? 86400 : seconds < 2 ? 2 : seconds;
}

/// Copies the path of the password file that an address names; returns its length, 0 if it names none or cannot be parsed.
static inline size_t fieldscribe_password_file(const char *address, char *path, size_t room) {
    size_t length = 0;
    PQconninfoOption *options = PQconninfoParse(address, NULL);
    for (PQconninfoOption *option = options; option && option->keyword; option++) {
        if (strcmp(option->keyword, "passfile") != 0 || !option->val) continue;
        length = strlen(option->val);
        if (length < room) memcpy(path, option->val, length + 1);
    }
    PQconninfoFree(options);
    return length < room ? length : 0;
}

/// Takes what the server says besides, and says it nowhere.
static void fieldscribe_ignore_notice(void *context, const char *message) {
    (void)context;
    (void)message;
}

/// Has the server's notices be said nowhere: they would stand between a command's own lines.
static inline void fieldscribe_be_silent(PGconn *connection) {
    PQsetNoticeProcessor(connection, fieldscribe_ignore_notice, 0);
}
