import Glibc
import Testing
import TestKit

@testable import Appliance

@Suite("Notifications to systemd") struct SystemdNotifyTests {
    /// A datagram socket like that of systemd.
    private final class Receiver: Sendable {
        let descriptor: Int32

        init(at address: String) {
            descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
            var name = sockaddr_un()
            name.sun_family = sa_family_t(AF_UNIX)
            let isAbstract = address.hasPrefix("@")
            withUnsafeMutableBytes(of: &name.sun_path) { path in
                path.copyBytes(from: address.utf8)
                if isAbstract { path[0] = 0 }
            }
            let length = socklen_t(2 + address.utf8.count + (isAbstract ? 0 : 1))
            let status = withUnsafePointer(to: &name) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, length) }
            }
            #expect(status == 0)
        }

        deinit { close(descriptor) }

        /// Receives the next message; nil if there is none.
        func receive() -> String? {
            var buffer = [UInt8](repeating: 0, count: 4_096)
            let count = recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
            return count < 0 ? nil : String(decoding: buffer.prefix(count), as: UTF8.self)
        }
    }

    @Test("messages reach a path and an abstract address", arguments: [false, true])
    func addresses(_ isAbstract: Bool) {
        let folder = TemporaryFolder()
        let address = isAbstract ? "@fieldscribe-test-\(getpid())" : folder.file("notify")
        let receiver = Receiver(at: address)
        let systemd = SystemdNotify(environment: ["NOTIFY_SOCKET": address, "WATCHDOG_USEC": "30000000"])
        systemd.ready(status: "idle")
        systemd.alive()
        systemd.stopping()
        #expect(receiver.receive() == "READY=1\nSTATUS=idle")
        #expect(receiver.receive() == "WATCHDOG=1")
        #expect(receiver.receive() == "STOPPING=1\nSTATUS=shutting down")
        #expect(receiver.receive() == nil)
        #expect(systemd.watchdog == .seconds(30))
    }

    @Test("more time is requested in microseconds while the work runs")
    func extending() async throws {
        let folder = TemporaryFolder()
        let receiver = Receiver(at: folder.file("notify"))
        let systemd = SystemdNotify(environment: ["NOTIFY_SOCKET": folder.file("notify")])
        systemd.extend(by: .milliseconds(40_500))
        #expect(receiver.receive() == "EXTEND_TIMEOUT_USEC=40500000")
        let value = try await systemd.extendingTimeout {
            // Another task sends the requests.
            while receiver.receive() != "EXTEND_TIMEOUT_USEC=60000000" { await Task.yield() }
            return 7
        }
        #expect(value == 7)
    }

    @Test(
        "without systemd, notifications do nothing; without a watchdog for this process, there is no interval",
        arguments: [
            [:], ["NOTIFY_SOCKET": "vsock:2:1"], ["NOTIFY_SOCKET": ""], ["NOTIFY_SOCKET": "/nonexistent/socket"],
            ["NOTIFY_SOCKET": "/" + String(repeating: "x", count: 200)], ["WATCHDOG_USEC": "x"],
            ["WATCHDOG_USEC": "0"], ["WATCHDOG_USEC": "1000", "WATCHDOG_PID": "1"],
        ])
    func noSystemd(_ environment: [String: String]) {
        let systemd = SystemdNotify(environment: environment)
        systemd.ready(status: "idle")
        #expect(systemd.watchdog == nil)
    }
}
