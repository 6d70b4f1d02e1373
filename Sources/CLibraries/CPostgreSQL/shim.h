#pragma once
#include <libpq-fe.h>

/// Takes what the server says besides, and says it nowhere.
static void fieldscribe_ignore_notice(void *context, const char *message) {
    (void)context;
    (void)message;
}

/// Has the server's notices be said nowhere: they would stand between a command's own lines.
static inline void fieldscribe_be_silent(PGconn *connection) {
    PQsetNoticeProcessor(connection, fieldscribe_ignore_notice, 0);
}
