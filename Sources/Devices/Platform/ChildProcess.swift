internal import CLinux
import Core
import Glibc

/// A child with a pipe to its standard input and one from its standard output; its standard error is ours.
///
/// It is killed and waited for when it goes out of scope. One thread at a time.
package struct ChildProcess: ~Copyable {
    package let id: Int32
    package let name: String
    private let input: FileDescriptor
    private let output: FileDescriptor

    /// Starts a program.
    ///
    /// - Throws: `DeviceError` with `missing` or `denied` for a program that cannot be started.
    package init(_ path: String, arguments: [String]) throws(DeviceError) {
        let down = try Pipe(for: path)
        let up = try Pipe(for: path)
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, down.read.number, STDIN_FILENO)
        posix_spawn_file_actions_adddup2(&actions, up.write.number, STDOUT_FILENO)
        let strings = ([path] + arguments).map { strdup($0) }
        defer { strings.forEach { free($0) } }
        var id = pid_t()
        let status = posix_spawn(&id, path, &actions, nil, strings + [nil], environ)
        guard status == 0 else { throw .system("posix_spawn", status: status, on: path) }
        self.id = id
        name = path
        input = down.write
        output = up.read
    }

    deinit {
        Glibc.kill(id, SIGKILL)
        var status: Int32 = 0
        while waitpid(id, &status, 0) < 0, errno == EINTR {}
    }

    /// Writes all bytes to the child's standard input.
    ///
    /// - Throws: `DeviceError` with `failed` where the child no longer reads.
    package borrowing func write(_ bytes: UnsafeRawBufferPointer) throws(DeviceError) { try input.write(bytes) }

    /// Waits for bytes from the child's standard output; 0 where it has ended.
    ///
    /// - Throws: `DeviceError` with `failed` when none came in time.
    package borrowing func read(
        into buffer: UnsafeMutableRawBufferPointer, timeoutSeconds: Int
    ) throws(DeviceError) -> Int {
        var poll = pollfd(fd: output.number, events: Int16(POLLIN), revents: 0)
        while true {
            let ready = Glibc.poll(&poll, 1, Int32(min(timeoutSeconds, 1_000_000)) * 1000)
            if ready == 0 {
                throw DeviceError(.failed, "poll", "\(name): no answer within \(timeoutSeconds) s; it is started anew")
            }
            let count = ready > 0 ? Glibc.read(output.number, buffer.baseAddress, buffer.count) : -1
            if count >= 0 { return count }
            if errno != EINTR { throw .system("read", on: name) }
        }
    }
}

private struct Pipe: ~Copyable {
    let read: FileDescriptor
    let write: FileDescriptor

    init(for path: String) throws(DeviceError) {
        var ends: [Int32] = [-1, -1]
        let status = fieldscribe_pipe(&ends)
        guard status == 0 else { throw .system("pipe2", status: status, on: path) }
        read = FileDescriptor(adopting: ends[0], named: path)
        write = FileDescriptor(adopting: ends[1], named: path)
    }
}
