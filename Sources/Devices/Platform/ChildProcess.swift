internal import CLinux
import Core
import Glibc

/// A child with a pipe to its standard input and one from its standard output.
///
/// It is killed and waited for when it goes out of scope. One thread at a time.
package struct ChildProcess: ~Copyable {
    package let id: Int32
    package let name: String
    private let input: FileDescriptor
    private let output: FileDescriptor

    /// Starts a program.
    ///
    /// - Parameter showsErrors: whether its standard error is ours; else what it writes there is dropped.
    /// - Throws: `DeviceError` with `missing` or `denied` for a program that cannot be started.
    package init(_ path: String, arguments: [String], showsErrors: Bool = true) throws(DeviceError) {
        // Each end a descriptor of its own: Swift 6.0's optimizer fails on a struct of two that is taken apart.
        let (downRead, downWrite) = try Self.pipe(for: path)
        let childInput = FileDescriptor(adopting: downRead, named: path)
        let input = FileDescriptor(adopting: downWrite, named: path)
        let (upRead, upWrite) = try Self.pipe(for: path)
        let output = FileDescriptor(adopting: upRead, named: path)
        let childOutput = FileDescriptor(adopting: upWrite, named: path)
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, childInput.number, STDIN_FILENO)
        posix_spawn_file_actions_adddup2(&actions, childOutput.number, STDOUT_FILENO)
        if !showsErrors {
            posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0)
        }
        let strings = ([path] + arguments).map { strdup($0) }
        defer { strings.forEach { free($0) } }
        var id = pid_t()
        let status = posix_spawn(&id, path, &actions, nil, strings + [nil], environ)
        guard status == 0 else { throw .system("posix_spawn", status: status, on: path) }
        // Who no longer reads is noticed; only our end of the pipe.
        _ = fcntl(input.number, F_SETFL, O_NONBLOCK)
        self.id = id
        name = path
        self.input = input
        self.output = output
    }

    deinit {
        Glibc.kill(id, SIGKILL)
        var status: Int32 = 0
        while waitpid(id, &status, 0) < 0, errno == EINTR {}
    }

    /// Writes all bytes to the child's standard input.
    ///
    /// - Parameter timeoutSeconds: how long the child may take nothing.
    /// - Throws: `DeviceError` with `failed` where the child no longer reads.
    package borrowing func write(_ bytes: UnsafeRawBufferPointer, timeoutSeconds: Int) throws(DeviceError) {
        var rest = bytes
        var room = pollfd(fd: input.number, events: Int16(POLLOUT), revents: 0)
        while let base = rest.baseAddress, !rest.isEmpty {
            let count = Glibc.write(input.number, base, rest.count)
            if count > 0 {
                rest = UnsafeRawBufferPointer(rebasing: rest[count...])
            } else if count < 0, errno == EAGAIN {
                guard Glibc.poll(&room, 1, Self.milliseconds(timeoutSeconds)) != 0 else {
                    throw DeviceError(
                        .failed, "poll", "\(name): took nothing for \(timeoutSeconds) s; it is started anew")
                }
            } else if count == 0 || errno != EINTR {
                throw .system("write", status: count == 0 ? EPIPE : errno, on: name)
            }
        }
    }

    /// Waits for bytes from the child's standard output; 0 where it has ended.
    ///
    /// - Throws: `DeviceError` with `failed` when none came in time.
    package borrowing func read(
        into buffer: UnsafeMutableRawBufferPointer, timeoutSeconds: Int
    ) throws(DeviceError) -> Int {
        var poll = pollfd(fd: output.number, events: Int16(POLLIN), revents: 0)
        while true {
            let ready = Glibc.poll(&poll, 1, Self.milliseconds(timeoutSeconds))
            if ready == 0 {
                throw DeviceError(.failed, "poll", "\(name): no answer within \(timeoutSeconds) s; it is started anew")
            }
            let count = ready > 0 ? Glibc.read(output.number, buffer.baseAddress, buffer.count) : -1
            if count >= 0 { return count }
            if errno != EINTR { throw .system("read", on: name) }
        }
    }

    private static func milliseconds(_ seconds: Int) -> Int32 { Int32(min(seconds, 1_000_000)) * 1000 }

    private static func pipe(for path: String) throws(DeviceError) -> (read: Int32, write: Int32) {
        var ends: [Int32] = [-1, -1]
        let status = fieldscribe_pipe(&ends)
        guard status == 0 else { throw .system("pipe2", status: status, on: path) }
        return (ends[0], ends[1])
    }
}
