internal import CLinux
import Core
import Glibc
import System

/// The listening control socket. The value removes the socket file when it goes out of scope.
struct ControlListener: ~Copyable, Sendable {
    private let socket: FileDescriptor
    /// The status of the new socket file, so that `deinit` removes no other file.
    private let file: FileStatus
    private let group: gid_t?

    /// Listens at a path. Replaces a stale socket; see `removeStaleSocket`.
    ///
    /// - Parameter group: the group whose members may connect, if the group exists.
    /// - Throws: `DeviceError` with `busy` if another appliance listens, `denied` if the path is not a socket.
    init(path: String, group name: String) throws(DeviceError) {
        try removeStaleSocket(
            at: path, listener: "another fieldscribe run", remedy: "set control.socket to another path")
        let group = Self.group(named: name)
        let socket = FileDescriptor(adopting: try Self.listen(at: path, group: group), named: path)
        guard let file = FileStatus(path) else { throw .system("lstat", on: path) }
        self.socket = socket
        self.file = file
        self.group = group
    }

    private static func listen(at path: String, group: gid_t?) throws(DeviceError) -> Int32 {
        let descriptor = fieldscribe_unix_socket(0)
        guard descriptor >= 0 else { throw .system("socket", on: path) }
        do throws(DeviceError) {
            guard fieldscribe_unix_bind(descriptor, path) == 0 else { throw .system("bind", on: path) }
            // Permissions are set before listen(2), since clients can connect from then on. If the sandbox forbids
            // chown(2), everybody may connect, but `accept` also checks the peer.
            let isGroupSet = group == nil || group == getegid() || chown(path, uid_t.max, group ?? gid_t.max) == 0
            guard chmod(path, isGroupSet ? 0o660 : 0o666) == 0 else { throw .system("chmod", on: path) }
            guard Glibc.listen(descriptor, 16) == 0 else { throw .system("listen", on: path) }
            guard fcntl(descriptor, F_SETFL, O_NONBLOCK) == 0 else { throw .system("fcntl", on: path) }
            return descriptor
        } catch {
            close(descriptor)
            throw error
        }
    }

    deinit { removeSocket(at: socket.path, created: file) }

    var descriptor: Int32 { socket.number }

    /// Accepts the next connection; returns nil if none is waiting.
    ///
    /// - Returns: the connection, and whether the peer may control the appliance.
    /// - Throws: `DeviceError` if a waiting connection cannot be accepted, for example because no descriptor is left;
    ///   the connection stays in the queue.
    borrowing func accept() throws(DeviceError) -> (connection: Int32, isAllowed: Bool)? {
        while true {
            let descriptor = uninterrupted { fieldscribe_accept(socket.number) }
            if descriptor >= 0 { return (descriptor, isAllowed(descriptor)) }
            if errno == EAGAIN { return nil }
            guard errno == ECONNABORTED else { throw .system("accept", on: socket.path) }
        }
    }

    /// Whether the peer is root, this process's user, or a member of `group`.
    private borrowing func isAllowed(_ connection: Int32) -> Bool {
        var (user, primaryGroup) = (uid_t(), gid_t())
        var otherGroups = [gid_t](repeating: 0, count: 256)
        var count = Int32(otherGroups.count)
        guard fieldscribe_peer(connection, &user, &primaryGroup, &otherGroups, &count) == 0 else { return false }
        if user == 0 || user == geteuid() { return true }
        guard let group else { return false }
        return primaryGroup == group || otherGroups.prefix(Int(count)).contains(group)
    }

    private static func group(named name: String) -> gid_t? {
        var entry = Glibc.group()
        var found: UnsafeMutablePointer<Glibc.group>?
        var strings = [CChar](repeating: 0, count: 65_536)
        guard getgrnam_r(name, &entry, &strings, strings.count, &found) == 0, found != nil else { return nil }
        return entry.gr_gid
    }
}
