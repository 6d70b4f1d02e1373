internal import CLinux
import Glibc
import System

/// What the appliance tells systemd: that it is ready, alive, and ending.
///
/// The protocol is one datagram to the socket that `$NOTIFY_SOCKET` names, so libsystemd, with all that it would bring
/// into the process, saves nothing. Without the variable nothing is told.
struct SystemdNotify: Sendable {
    private let address: String?

    /// How often systemd wants to hear that we are alive; nil where it does not.
    let watchdog: Duration?

    init(environment: [String: String]) {
        // A path, or @ for an abstract address; others (a virtual machine's) are not ours.
        address = environment["NOTIFY_SOCKET"].flatMap { $0.hasPrefix("/") || $0.hasPrefix("@") ? $0 : nil }
        let isOurs = environment["WATCHDOG_PID"].map { $0 == "\(getpid())" } ?? true
        watchdog =
            isOurs
            ? environment["WATCHDOG_USEC"].flatMap { Int64($0) }.flatMap { $0 > 0 ? .microseconds($0) : nil } : nil
    }

    func ready(status: String) { send("READY=1\nSTATUS=\(status)") }

    func stopping() { send("STOPPING=1\nSTATUS=ending") }

    func alive() { send("WATCHDOG=1") }

    func status(_ words: String) { send("STATUS=\(words)") }

    /// Asks for so much more time to start or to end, from now on.
    func extend(by time: Duration) { send("EXTEND_TIMEOUT_USEC=\(time.milliseconds * 1_000)") }

    /// Asks for more time to start while something goes on that has to come before.
    func extendingTimeout<Value: Sendable>(_ work: @Sendable () async throws -> Value) async throws -> Value {
        let asking = Task {
            while !Task.isCancelled {
                extend(by: .seconds(60))
                try await Task.sleep(for: .seconds(20))
            }
        }
        defer { asking.cancel() }
        return try await work()
    }

    /// A datagram that cannot be sent is one that nobody waits for.
    private func send(_ message: String) {
        guard let address else { return }
        let number = fieldscribe_unix_socket(1)
        guard number >= 0 else { return }
        let socket = FileDescriptor(adopting: number, named: address)
        guard fieldscribe_unix_name(socket.number, address, 0) == 0 else { return }
        let bytes = Array(message.utf8)
        _ = bytes.withUnsafeBytes {
            Glibc.send(socket.number, $0.baseAddress, $0.count, Int32(MSG_DONTWAIT | MSG_NOSIGNAL))
        }
    }
}
