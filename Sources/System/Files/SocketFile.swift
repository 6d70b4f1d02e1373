internal import CLinux
import Core
import Glibc

/// Removes a socket file that a process left when it exited, so that the path can be bound again.
///
/// - Parameters:
///   - listener: The program that may be listening, for the error: `another fieldscribe run`.
///   - remedy: How to choose another path, for the error: `set control.socket to another path`.
/// - Throws: `DeviceError` with `busy` if a process is listening, or `denied` if the path is not a socket.
package func removeStaleSocket(at path: String, listener: String, remedy: String) throws(DeviceError) {
    guard let kind = FileStatus(path)?.kind else {
        if errno == ENOENT { return }
        throw .system("lstat", on: path, remedy: remedy)
    }
    guard kind == .socket else {
        throw DeviceError(
            .denied, "bind", on: path, "is \(kind.rawValue), not a socket, and was not changed", remedy: remedy)
    }
    let probe = FileDescriptor(adopting: fieldscribe_unix_socket(0), named: path)
    // A stopped process with a full queue would block connect(2); see EAGAIN in its man page.
    guard probe.number >= 0, fcntl(probe.number, F_SETFL, O_NONBLOCK) == 0 else { throw .system("socket", on: path) }
    let connected = uninterrupted { fieldscribe_unix_connect(probe.number, path) } == 0
    switch connected ? 0 : errno {
    case 0, EAGAIN, EINPROGRESS:
        throw DeviceError(.busy, "bind", on: path, "\(listener) is listening there", remedy: "stop it, or \(remedy)")
    case EPROTOTYPE:
        throw DeviceError(
            .denied, "bind", on: path, "is a socket of another type, and was not changed", remedy: remedy)
    case ECONNREFUSED: break
    case ENOENT: return
    default: throw .system("connect", on: path, remedy: remedy)
    }
    guard unlink(path) == 0 || errno == ENOENT else { throw .system("unlink", on: path, remedy: remedy) }
}

/// Removes this process's socket file, unless another file has replaced it.
///
/// - Parameter created: The file's status when it was created.
package func removeSocket(at path: String, created: FileStatus) {
    guard let current = FileStatus(path), current.device == created.device, current.inode == created.inode
    else { return }
    unlink(path)
}
