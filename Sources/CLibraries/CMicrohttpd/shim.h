#pragma once
// microhttpd.h requires these but does not include them.
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/socket.h>
#include <microhttpd.h>

/// Starts a server that runs only in MHD_run_wait, on the thread that calls it. Swift cannot call the variadic function.
///
/// - socket: A listening socket, which is closed with the server.
/// - connections: The maximum number of simultaneous connections. Further connections wait.
/// - per_address: The maximum number of connections from one address; 0 for no limit. Further connections are closed.
/// - seconds: The time of inactivity after which a connection is closed.
/// - context: A pointer that is passed to all callbacks.
/// - notify: Called when a connection is opened or closed.
/// - returns: NULL if the server cannot start.
static inline struct MHD_Daemon *fieldscribe_web_start(
    int socket, unsigned connections, unsigned per_address, unsigned seconds, void *context, MHD_AccessHandlerCallback respond,
    MHD_RequestCompletedCallback complete, MHD_NotifyConnectionCallback notify) {
    return MHD_start_daemon(
        MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL, respond, context, MHD_OPTION_LISTEN_SOCKET, socket, MHD_OPTION_CONNECTION_LIMIT,
        connections, MHD_OPTION_PER_IP_CONNECTION_LIMIT, per_address, MHD_OPTION_CONNECTION_TIMEOUT, seconds,
        MHD_OPTION_NOTIFY_COMPLETED, complete, context, MHD_OPTION_NOTIFY_CONNECTION, notify, context, MHD_OPTION_END);
}

// Functions for enumeration cases, whose names in Swift depend on the compiler version.

/// The return values of a handler: it succeeded, or the connection must be closed.
static inline enum MHD_Result fieldscribe_web_yes(void) { return MHD_YES; }
static inline enum MHD_Result fieldscribe_web_no(void) { return MHD_NO; }

/// Returns whether a connection was opened, not closed.
static inline int fieldscribe_web_begins(enum MHD_ConnectionNotificationCode code) {
    return code == MHD_CONNECTION_NOTIFY_STARTED;
}

/// Returns the descriptor of a connection's socket; -1 if there is none.
static inline int fieldscribe_web_socket(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return info == NULL ? -1 : info->connect_fd;
}

/// Handles pending events, waiting at most this many milliseconds for them. Returns 0, or -1 on failure.
static inline int fieldscribe_web_run(struct MHD_Daemon *daemon, int milliseconds) {
    return MHD_run_wait(daemon, milliseconds) == MHD_YES ? 0 : -1;
}

/// Calls `handle` for each header, or for each field in the query of the URL.
static inline void fieldscribe_web_values(
    struct MHD_Connection *connection, int headers, MHD_KeyValueIterator handle, void *context) {
    MHD_get_connection_values(connection, headers ? MHD_HEADER_KIND : MHD_GET_ARGUMENT_KIND, handle, context);
}

/// Creates a response with a copy of bytes. Returns NULL if there is not enough memory.
static inline struct MHD_Response *fieldscribe_web_bytes(const void *bytes, size_t count) {
    return MHD_create_response_from_buffer(count, (void *)bytes, MHD_RESPMEM_MUST_COPY);
}
