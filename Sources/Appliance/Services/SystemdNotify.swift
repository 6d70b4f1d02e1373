internal import CLinux
import Glibc
import System

/// Notifies systemd that the appliance is ready, alive, or stopping; see sd_notify(3).
///
/// The protocol is one datagram to the socket in `$NOTIFY_SOCKET`, so libsystemd is not needed. If the variable is not
/// set, nothing is sent.
struct SystemdNotify: Sendable {
    private let address: String?

    /// The interval of systemd's watchdog; nil if it does not watch this process.
    let watchdog: Duration?

    init(environment: [String: String]) {
        // A path, or an abstract address that begins with @; vsock addresses are not supported.
        address = environment["NOTIFY_SOCKET"].flatMap { $0.hasPrefix("/") || $0.hasPrefix("@") ? $0 : nil }
        let isOurs = environment["WATCHDOG_PID"].map { $0 == "\(getpid())" } ?? true
        let microseconds = environment["WATCHDOG_USEC"].flatMap { Int64($0) } ?? 0
        watchdog = isOurs && microseconds > 0 ? .microseconds(microseconds) : nil
    }

    func ready(status: String) { send("READY=1\nSTATUS=\(status)") }

    func stopping() { send("STOPPING=1\nSTATUS=shutting down") }

    func alive() { send("WATCHDOG=1") }

    func status(_ text: String) { send("STATUS=\(text)") }

    /// Asks systemd for this much more time to start or to stop, counted from now.
    func extend(by time: Duration) { send("EXTEND_TIMEOUT_USEC=\(time.milliseconds * 1_000)") }

    /// Runs `body`, and meanwhile keeps asking systemd for more time to start.
    func extendingTimeout<Value: Sendable>(_ body: @Sendable () async throws -> Value) async throws -> Value {
        let extensions = Task {
            while !Task.isCancelled {
                extend(by: .seconds(60))
                try await Task.sleep(for: .seconds(20))
            }
        }
        defer { extensions.cancel() }
        return try await body()
    }

    /// Sends a datagram; ignores failures.
    private func send(_ message: String) {
        guard let address else { return }
        let descriptor = fieldscribe_unix_socket(1)
        guard descriptor >= 0 else { return }
        let socket = FileDescriptor(adopting: descriptor, named: address)
        guard fieldscribe_unix_connect(socket.number, address) == 0 else { return }
        let bytes = Array(message.utf8)
        _ = bytes.withUnsafeBytes {
            Glibc.send(socket.number, $0.baseAddress, $0.count, Int32(MSG_DONTWAIT | MSG_NOSIGNAL))
        }
    }
}
