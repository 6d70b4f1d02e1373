import Glibc

/// A client for a local socket that can send any bytes. Sending and receiving time out after 120 s, so that a test
/// fails instead of hanging.
package final class SocketClient {
    private let fileDescriptor: Int32
    private var received: [UInt8] = []

    /// Connects to a socket; nil if nothing listens there.
    package init?(_ path: String) {
        fileDescriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var timeout = timeval(tv_sec: 120, tv_usec: 0)
        setsockopt(fileDescriptor, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
        setsockopt(fileDescriptor, SOL_SOCKET, SO_SNDTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
        guard withAddress(of: path, { connect(fileDescriptor, $0, $1) }) == 0 else { return nil }
    }

    deinit { close(fileDescriptor) }

    /// Sends bytes; returns false if the peer does not accept them.
    @discardableResult
    package func send(_ bytes: [UInt8]) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { bytes in
                Glibc.send(fileDescriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    @discardableResult
    package func send(_ line: String) -> Bool { send(Array(line.utf8) + [0x0A]) }

    /// Sends a line with a file descriptor (SCM_RIGHTS).
    package func send(_ line: String, descriptor: Int32) -> Bool {
        var bytes = Array(line.utf8) + [0x0A]
        // struct cmsghdr (length, level, type SCM_RIGHTS), which Swift does not import.
        let header = 16
        var control = [UInt8](repeating: 0, count: 24)
        return bytes.withUnsafeMutableBytes { bytes in
            control.withUnsafeMutableBytes { control in
                control.storeBytes(of: header + 4, as: Int.self)
                control.storeBytes(of: SOL_SOCKET, toByteOffset: 8, as: Int32.self)
                control.storeBytes(of: 1, toByteOffset: 12, as: Int32.self)
                control.storeBytes(of: descriptor, toByteOffset: header, as: Int32.self)
                var buffer = iovec(iov_base: bytes.baseAddress, iov_len: bytes.count)
                return withUnsafeMutablePointer(to: &buffer) { buffer in
                    var message = msghdr()
                    message.msg_iov = buffer
                    message.msg_iovlen = 1
                    message.msg_control = control.baseAddress
                    message.msg_controllen = control.count
                    return sendmsg(fileDescriptor, &message, Int32(MSG_NOSIGNAL)) > 0
                }
            }
        }
    }

    package func finishSending() { shutdown(fileDescriptor, Int32(SHUT_WR)) }

    /// Returns the next line; nil if the peer has closed the connection or the timeout has passed.
    package func line() -> String? {
        while true {
            if let end = received.firstIndex(of: 0x0A) {
                let line = String(decoding: received[..<end], as: UTF8.self)
                received.removeSubrange(...end)
                return line
            }
            var chunk = [UInt8](repeating: 0, count: 65_536)
            let count = recv(fileDescriptor, &chunk, chunk.count, 0)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return nil }
            received += chunk.prefix(count)
        }
    }

    /// Sends a line and waits for the answer.
    package func ask(_ line: String) -> String? {
        send(line)
        return self.line()
    }
}

/// Creates a socket on which nothing listens, like one that a killed process has left behind.
package func createStaleSocket(at path: String) -> Bool {
    let fileDescriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(fileDescriptor) }
    return withAddress(of: path) { bind(fileDescriptor, $0, $1) } == 0
}

/// Calls `body` with the socket address of a path.
private func withAddress(of path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix(107)) }
    return withUnsafePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_un>.size)) }
    }
}
