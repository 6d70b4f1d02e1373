internal import CLinux
import Core
import Glibc

/// A child with a pipe to its standard input and one from its standard output.
///
/// It is killed and waited for when it goes out of scope, and killed by the kernel where this process ends without that.
/// One thread at a time.
package struct ChildProcess: ~Copyable {
    /// The number of the process.
    package let id: Int32
    /// The program, for errors.
    package let name: String
    private let pipes: ChildPipes

    private static let fileNumber: Int32 = 3
    /// Where a child finds the file that it was given. By `/proc/PID/fd` of ours it would find none where we were root before: nobody
    /// but root looks into such a process.
    package static let file = "/proc/self/fd/\(fileNumber)"
    /// The number at which a child finds the open file that it was given to write.
    package static let targetNumber: Int32 = 4

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - showsErrors: whether its standard error is ours; else what it writes there is dropped.
    ///   - remedy: what errors say is to be done, or is done, where it does not answer.
    ///   - environment: added to our own, where it does not have that name.
    ///   - file: the number of an open file of ours that it reads as `ChildProcess.file`; not beside copies.
    ///   - target: the number of an open file of ours that it writes as `ChildProcess.targetNumber`; not beside copies.
    ///   - copies: pipes for the copies that it makes of itself (`ProcessCopies`), at most so many as those can be; each is
    ///     then adopted.
    /// - Throws: `DeviceError` with `missing` or `denied` for a program that cannot be started.
    package init(
        _ path: String, arguments: [String], showsErrors: Bool = true, remedy: String = "try again",
        environment: [String: String] = [:], file: Int32? = nil, target: Int32? = nil,
        copies: [ChildPipes] = []
    ) throws(DeviceError) {
        let pipes = try ChildPipes(to: path, remedy: remedy)
        var passed = pipes.passed(input: STDIN_FILENO, output: STDOUT_FILENO)
        for (copy, pipes) in copies.enumerated() {
            passed += pipes.passed(input: ProcessCopies.input(copy), output: ProcessCopies.output(copy))
        }
        // Behind the others, whose ends may have that number here.
        if let file { passed.append(ChildStart.Passed(ours: file, childs: Self.fileNumber)) }
        var moved: Int32 = -1
        defer { if moved >= 0 { close(moved) } }
        if let target {
            // Its number here may be that of the file there.
            moved = fcntl(target, F_DUPFD_CLOEXEC, ProcessCopies.lowestFree)
            guard moved >= 0 else { throw .system("fcntl", on: path) }
            passed.append(ChildStart.Passed(ours: moved, childs: Self.targetNumber))
        }
        if !copies.isEmpty { fieldscribe_take_orphans() }
        id = try ChildStart(
            path: path, arguments: arguments, passed: passed, showsErrors: showsErrors, environment: environment
        ).start()
        for pipes in [pipes] + copies { pipes.close() }
        name = path
        self.pipes = pipes
    }

    /// Has children be started by a thread that is as nice as the calling one: before any other thread is made nicer.
    package static func prepare() { try? SpawnThread.prepare() }

    /// Takes over a copy that a child has made of itself.
    ///
    /// - Throws: `DeviceError` where no child of ours has this number.
    package init(adopting id: Int32, _ pipes: ChildPipes) throws(DeviceError) {
        var state = siginfo_t()
        guard id > 0, waitid(P_PID, id_t(id), &state, WEXITED | WNOHANG | WNOWAIT) == 0 else {
            throw .system("waitid", on: pipes.name)
        }
        self.id = id
        name = pipes.name
        self.pipes = pipes
    }

    deinit {
        Glibc.kill(id, SIGKILL)
        var status: Int32 = 0
        for _ in 0..<2_000 {
            if uninterrupted({ waitpid(id, &status, WNOHANG) }) != 0 { return }
            usleep(1_000)
        }
        // One that hangs in a driver ends once that lets go of it, and keeps nobody from going on.
        _ = startThread(named: "child-end") { [id] in
            var status: Int32 = 0
            _ = uninterrupted { waitpid(id, &status, 0) }
        }
    }

    /// Writes all bytes to the child's standard input.
    ///
    /// - Parameters:
    ///   - timeoutSeconds: how long the child may need to take all of them.
    ///   - watch: called each second while it does not take them; what it throws ends the wait.
    /// - Throws: `DeviceError` with `failed` where the child no longer reads.
    package borrowing func write(
        _ bytes: UnsafeRawBufferPointer, timeoutSeconds: Int, watch: () throws(DeviceError) -> Void = {}
    ) throws(DeviceError) {
        try pipes.write(bytes, timeoutSeconds: timeoutSeconds, watch: watch)
    }

    /// Waits for bytes from the child's standard output; 0 where it has ended.
    ///
    /// - Parameter watch: called each second while none come; what it throws ends the wait.
    /// - Throws: `DeviceError` with `failed` when none came in time.
    package borrowing func read(
        into buffer: UnsafeMutableRawBufferPointer, timeoutSeconds: Int, watch: () throws(DeviceError) -> Void = {}
    ) throws(DeviceError) -> Int {
        try pipes.read(into: buffer, timeoutSeconds: timeoutSeconds, watch: watch)
    }

    /// Writes all bytes to the child's standard input, and takes meanwhile what comes from its standard output: a child that passes
    /// on what it gets waits for neither.
    ///
    /// - Parameters:
    ///   - room: for what comes.
    ///   - timeoutSeconds: how long nothing may move.
    ///   - take: called with what came, which is there only during the call.
    /// - Throws: `DeviceError` with `failed` where the child no longer reads or writes, or what `take` throws.
    package borrowing func exchange(
        _ bytes: UnsafeRawBufferPointer, _ room: UnsafeMutableRawBufferPointer, timeoutSeconds: Int,
        take: (UnsafeRawBufferPointer) throws(DeviceError) -> Void
    ) throws(DeviceError) {
        try pipes.exchange(bytes, room, timeoutSeconds: timeoutSeconds, take: take)
    }

    /// Limits what the child may take from now on; it leaves no core.
    ///
    /// - Parameters:
    ///   - memory: bytes of address space.
    ///   - data: bytes of data.
    ///   - file: bytes of a file that it writes; 0 where it may write none.
    package borrowing func limit(memory: UInt64, data: UInt64, cpuSeconds: UInt64, file: UInt64 = 0) {
        fieldscribe_limit_child(id, memory, data, cpuSeconds, file)
    }

    /// Has the pipes hold as much as the system allows.
    package borrowing func widenPipes() { pipes.widen() }

    /// Tells the child that nothing more comes on its standard input.
    package borrowing func closeInput() { pipes.closeInput() }

    /// Waits until the child has ended; returns its exit status, or 128 and the number of the signal that ended it.
    ///
    /// - Throws: `DeviceError` with `failed` when it has not ended in time.
    package borrowing func exitStatus(timeoutSeconds: Int) throws(DeviceError) -> Int32 {
        let deadline = MonotonicClock.nanoseconds + Int64(min(timeoutSeconds, 1_000_000)) * 1_000_000_000
        while true {
            // It stays to be waited for: its number is nobody else's before that.
            var state = siginfo_t()
            let status = uninterrupted { waitid(P_PID, id_t(id), &state, WEXITED | WNOHANG | WNOWAIT) }
            guard status == 0 else { throw .system("waitid", on: name) }
            if state._sifields._sigchld.si_pid == id {
                let number = state._sifields._sigchld.si_status
                return state.si_code == Int32(CLD_EXITED) ? number : 128 + number
            }
            guard MonotonicClock.nanoseconds < deadline else {
                throw DeviceError(
                    .failed, "waitid", status: ETIMEDOUT, on: name, "has not ended within \(timeoutSeconds) s",
                    remedy: "try again")
            }
            usleep(1_000)
        }
    }
}
