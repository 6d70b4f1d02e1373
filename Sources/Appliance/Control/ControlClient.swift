internal import CLinux
import Core
import Glibc
import Settings
import Synchronization
import System

/// Sends requests to a running appliance over the control socket. Calls block. Only one thread at a time may receive.
package final class ControlClient: Sendable {
    private let socket: FileDescriptor
    /// The bytes that follow the last line returned.
    private let received = Mutex<[UInt8]>([])

    /// Connects to the appliance at the configured socket. Returns nil if no appliance is running.
    ///
    /// - Throws: `DeviceError` with `denied` if this user may not control the appliance.
    package init?(_ configuration: Configuration) throws(DeviceError) {
        let path = configuration.control.socket
        let descriptor = fieldscribe_unix_socket(0)
        guard descriptor >= 0 else { throw .system("socket", on: path) }
        let socket = FileDescriptor(adopting: descriptor, named: path)
        if uninterrupted({ fieldscribe_unix_connect(descriptor, path) }) != 0 {
            switch errno {
            case ENOENT, ENOTDIR, ECONNREFUSED: return nil
            case EACCES, EPERM:
                throw .system(
                    "connect", on: path, remedy: "join the group \(configuration.control.group), or use sudo")
            default: throw .system("connect", on: path)
            }
        }
        self.socket = socket
    }

    /// Sends a request and waits for the response.
    ///
    /// - Throws: the appliance's `DeviceError`, or `disconnected` if it closed the connection.
    package func ask(_ request: ControlRequest) throws -> ControlResponse {
        try send(request)
        guard let line = try nextLine() else {
            throw DeviceError(.disconnected, "recv", "the appliance closed the connection; see its log")
        }
        let response = try ControlLine.decode(ControlResponse.self, from: line)
        if let error = response.error {
            throw DeviceError(DeviceError.Code(rawValue: error.code) ?? .failed, "control", error.message)
        }
        return response
    }

    /// Sends a request without waiting for the response.
    ///
    /// Does not throw if the appliance has closed the connection: `nextLine` then returns the appliance's error, or
    /// nil.
    ///
    /// - Throws: `DeviceError` with `unsupported` if the request is longer than 64 KiB.
    package func send(_ request: ControlRequest) throws(DeviceError) {
        let line = ControlLine.encode(request) + [0x0A]
        guard line.count <= ControlLine.maximumBytes else {
            throw DeviceError(.unsupported, "send", "the request is too long for the appliance; keep it under 64 KiB")
        }
        do throws(DeviceError) {
            try rethrowing { try line.withUnsafeBytes { try socket.write($0) } }
        } catch {
            // The appliance may have refused the client before it read the request.
            if error.status != EPIPE, error.status != ECONNRESET { throw error }
        }
    }

    /// Returns the next line without its line break; nil if the appliance has closed the connection.
    package func nextLine() throws(DeviceError) -> [UInt8]? {
        var bytes: [UInt8] = []
        received.withLock { swap(&bytes, &$0) }
        var searched = 0
        while true {
            if let end = bytes[searched...].firstIndex(of: 0x0A) {
                let (line, rest) = (Array(bytes[..<end]), Array(bytes[(end + 1)...]))
                received.withLock { $0 = rest }
                return line
            }
            searched = bytes.count
            var chunk = [UInt8](repeating: 0, count: 65_536)
            let count = uninterrupted { recv(socket.number, &chunk, chunk.count, 0) }
            if count > 0 {
                bytes += chunk.prefix(count)
            } else if count == 0 || errno == ECONNRESET {
                return nil
            } else {
                throw .system("recv", on: socket.path)
            }
        }
    }
}
