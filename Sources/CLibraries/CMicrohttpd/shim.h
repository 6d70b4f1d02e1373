#pragma once
// It needs these to be there before it, and does not say so.
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/socket.h>
#include <microhttpd.h>

/// Starts a server that does its work in MHD_run_wait alone, on the thread that calls it. Swift calls no function with variable arguments.
///
/// - socket: listens already; it is closed with the server.
/// - connections: at most so many at a time; the next one waits.
/// - of_one: of these, at most so many from one address, 0 for all; what is more is closed.
/// - seconds: a connection on which nothing happens for so long is closed.
/// - context: what all functions are given.
/// - notify: told of each connection that is there, and that goes.
/// - returns: NULL where it cannot start.
static inline struct MHD_Daemon *fieldscribe_web_start(
    int socket, unsigned connections, unsigned of_one, unsigned seconds, void *context, MHD_AccessHandlerCallback respond,
    MHD_RequestCompletedCallback complete, MHD_NotifyConnectionCallback notify) {
    return MHD_start_daemon(
        MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL, respond, context, MHD_OPTION_LISTEN_SOCKET, socket, MHD_OPTION_CONNECTION_LIMIT,
        connections, MHD_OPTION_PER_IP_CONNECTION_LIMIT, of_one, MHD_OPTION_CONNECTION_TIMEOUT, seconds,
        MHD_OPTION_NOTIFY_COMPLETED, complete, context, MHD_OPTION_NOTIFY_CONNECTION, notify, context, MHD_OPTION_END);
}

// Swift names the cases of its enumerations as the compiler of the day does.

/// The answers of a handler: it has done its work, or the connection must be closed.
static inline enum MHD_Result fieldscribe_web_yes(void) { return MHD_YES; }
static inline enum MHD_Result fieldscribe_web_no(void) { return MHD_NO; }

/// Whether a connection is there now, and not gone.
static inline int fieldscribe_web_begins(enum MHD_ConnectionNotificationCode code) {
    return code == MHD_CONNECTION_NOTIFY_STARTED;
}

/// The kernel's number of a connection's socket; -1 where it has none.
static inline int fieldscribe_web_socket(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return info == NULL ? -1 : info->connect_fd;
}

/// Handles pending events; waits at most this many milliseconds for them. Returns 0, or -1.
static inline int fieldscribe_web_run(struct MHD_Daemon *daemon, int milliseconds) {
    return MHD_run_wait(daemon, milliseconds) == MHD_YES ? 0 : -1;
}

/// Tells of each header, or of each field behind the address's question mark.
static inline void fieldscribe_web_values(
    struct MHD_Connection *connection, int headers, MHD_KeyValueIterator take, void *context) {
    MHD_get_connection_values(connection, headers ? MHD_HEADER_KIND : MHD_GET_ARGUMENT_KIND, take, context);
}

/// An answer with a copy of some bytes; NULL if there is no memory.
static inline struct MHD_Response *fieldscribe_web_bytes(const void *bytes, size_t count) {
    return MHD_create_response_from_buffer(count, (void *)bytes, MHD_RESPMEM_MUST_COPY);
}
