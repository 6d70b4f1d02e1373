internal import CLinux
import Core
import Glibc
import System

/// A socket on which the server accepts connections. `deinit` removes a Unix socket's file.
package struct WebListener: ~Copyable {
    private static let backlog: Int32 = 128

    /// The URL for users, such as `http://127.0.0.1:8737/`, or the path of a Unix socket.
    package let address: String
    /// The port; 0 for a Unix socket.
    let port: Int
    package let isLocal: Bool
    /// The address without the port, such as `127.0.0.1` or `::1`; nil for a Unix socket.
    package let host: String?
    let descriptor: Int32
    /// The status of a Unix socket's file when it was created.
    private let file: FileStatus?

    /// Listens on a TCP port.
    ///
    /// - Parameters:
    ///   - host: an address of this machine, or a name that resolves to one.
    ///   - port: the port; 0 for any free port.
    /// - Throws: `DeviceError` with `busy` if another process listens on the port, `missing` if this machine has no
    ///   such address, `denied` if only root may use the port.
    package init(host: String, port: Int) throws(DeviceError) {
        var hints = addrinfo()
        hints.ai_family = AF_UNSPEC
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        hints.ai_flags = AI_PASSIVE
        var addresses: UnsafeMutablePointer<addrinfo>?
        let status = getaddrinfo(host, "\(port)", &hints, &addresses)
        guard status == 0, let first = addresses else {
            throw DeviceError(
                .missing, "getaddrinfo", on: host, "is not an address of this machine",
                remedy: "use an address that ip address shows, with --listen ADDRESS")
        }
        defer { freeaddrinfo(addresses) }
        let name = "\(host.contains(":") ? "[\(host)]" : host):\(port)"
        let descriptor = socket(first.pointee.ai_family, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw .system("socket", on: name) }
        do throws(DeviceError) {
            var on: Int32 = 1
            // Without this, the port stays in use for a minute after the server has exited (TIME_WAIT).
            setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size))
            guard bind(descriptor, first.pointee.ai_addr, first.pointee.ai_addrlen) == 0,
                listen(descriptor, Self.backlog) == 0
            else { throw Self.listenError(errno, name) }
            guard fcntl(descriptor, F_SETFL, O_NONBLOCK) == 0 else { throw .system("fcntl", on: name) }
            let (host, port) = try Self.address(of: descriptor, name)
            (self.host, self.port) = (host, port)
            address = "http://\(host.contains(":") ? "[\(host)]" : host):\(port)/"
            isLocal = host == "::1" || host.hasPrefix("127.")
            self.descriptor = descriptor
            file = nil
        } catch {
            close(descriptor)
            throw error
        }
    }

    private static func listenError(_ status: Int32, _ name: String) -> DeviceError {
        switch status {
        case EADDRINUSE:
            DeviceError(
                .busy, "bind", status: status, on: name, "another process listens there",
                remedy: "choose another port with --port N, or any free port with --port 0")
        case EADDRNOTAVAIL:
            DeviceError(
                .missing, "bind", status: status, on: name, "is not an address of this machine",
                remedy: "use an address that ip address shows, with --listen ADDRESS")
        case EACCES:
            DeviceError(
                .denied, "bind", status: status, on: name, "only root may use this port",
                remedy: "choose a port from 1024 with --port N")
        default: .system("bind", status: status, on: name)
        }
    }

    private static func address(of descriptor: Int32, _ name: String) throws(DeviceError) -> (host: String, port: Int) {
        var (storage, length) = (sockaddr_storage(), socklen_t(MemoryLayout<sockaddr_storage>.size))
        var (host, service) = ([CChar](repeating: 0, count: 64), [CChar](repeating: 0, count: 16))
        let isKnown = withUnsafeMutablePointer(to: &storage) { storage in
            storage.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                getsockname(descriptor, address, &length) == 0
                    && getnameinfo(
                        address, length, &host, socklen_t(host.count), &service, socklen_t(service.count),
                        NI_NUMERICHOST | NI_NUMERICSERV) == 0
            }
        }
        let texts = [host, service].map { buffer in
            String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        }
        guard isKnown, let port = Int(texts[1]) else { throw .system("getsockname", on: name) }
        return (texts[0], port)
    }

    /// Listens on a Unix socket that only this user and group can use. Replaces a socket on which no process listens.
    ///
    /// - Throws: `DeviceError` with `busy` if a process listens on the socket, `denied` if the path is not a socket,
    ///   `unsupported` if the path is too long.
    package init(path: String) throws(DeviceError) {
        try removeStaleSocket(at: path, listener: "another program", remedy: "choose another path with --socket PATH")
        let descriptor = fieldscribe_unix_socket(0)
        guard descriptor >= 0 else { throw .system("socket", on: path) }
        do throws(DeviceError) {
            guard fieldscribe_unix_bind(descriptor, path) == 0 else {
                if errno == ENAMETOOLONG || errno == EINVAL {
                    throw DeviceError(
                        .unsupported, "bind", on: path, "is too long for a socket",
                        remedy: "choose a path of at most 107 bytes")
                }
                throw .system("bind", on: path)
            }
            // Nobody can connect before listen(2), so the wider permissions of bind(2) do no harm.
            guard chmod(path, 0o660) == 0 else { throw .system("chmod", on: path) }
            guard listen(descriptor, Self.backlog) == 0 else { throw .system("listen", on: path) }
            guard fcntl(descriptor, F_SETFL, O_NONBLOCK) == 0, let status = FileStatus(path) else {
                throw .system("lstat", on: path)
            }
            file = status
        } catch {
            close(descriptor)
            throw error
        }
        self.descriptor = descriptor
        (address, port, isLocal, host) = (path, 0, true, nil)
    }

    deinit { if let file { removeSocket(at: address, created: file) } }
}
