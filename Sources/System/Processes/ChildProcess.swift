internal import CLinux
import Core
import Glibc

/// A child process with pipes to its standard input and output.
///
/// The child is killed and reaped when this value goes out of scope. If the parent exits first, the kernel kills the
/// child (PR_SET_PDEATHSIG). Only one thread may use this value at a time.
package struct ChildProcess: ~Copyable {
    package let id: Int32
    package let pipes: ChildPipes
    // A stored property, because Swift 6.0's verifier crashes on reading `pipes.name` while this is borrowed.
    /// The program's name in errors.
    package let name: String

    private static let fileDescriptor: Int32 = 3
    /// The path at which a child opens its `file`. The child cannot use the parent's `/proc/PID/fd`: after the parent
    /// has dropped root, only root may read that.
    package static let file = "/proc/self/fd/\(fileDescriptor)"
    /// The descriptor to which a child writes its `target`.
    package static let targetDescriptor: Int32 = 4

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - showsErrors: Whether the child inherits standard error; otherwise its standard error is discarded.
    ///   - remedy: The remedy in errors if the child does not respond.
    ///   - environment: Variables to add to the inherited environment, unless already set.
    ///   - file: A descriptor that the child reads as `ChildProcess.file`; not together with `copies`.
    ///   - target: A descriptor that the child writes as `ChildProcess.targetDescriptor`; not together with `copies`.
    ///   - copies: Pipes for the copies that the child forks (`ProcessCopies`), to be adopted with `init(adopting:_:)`.
    /// - Throws: `DeviceError` with `missing` or `denied` if the program cannot be started.
    package init(
        _ path: String, arguments: [String], showsErrors: Bool = true, remedy: String = "try again",
        environment: [String: String] = [:], file: Int32? = nil, target: Int32? = nil,
        copies: [ChildPipes] = []
    ) throws(DeviceError) {
        let pipes = try ChildPipes(to: path, remedy: remedy)
        var inherited = pipes.inherited(input: STDIN_FILENO, output: STDOUT_FILENO)
        for (copy, pipes) in copies.enumerated() {
            inherited += pipes.inherited(input: ProcessCopies.input(copy), output: ProcessCopies.output(copy))
        }
        if let file { inherited.append((parent: file, child: Self.fileDescriptor)) }
        var duplicate: Int32 = -1
        defer { if duplicate >= 0 { close(duplicate) } }
        if let target {
            // The parent's descriptor may have the number that `file` has in the child.
            duplicate = fcntl(target, F_DUPFD_CLOEXEC, ProcessCopies.firstUnusedDescriptor)
            guard duplicate >= 0 else { throw .system("fcntl", on: path) }
            inherited.append((parent: duplicate, child: Self.targetDescriptor))
        }
        if !copies.isEmpty { fieldscribe_adopt_orphans() }
        id = try Self.start(path, arguments, inherited: inherited, showsErrors: showsErrors, environment: environment)
        for pipes in [pipes] + copies { pipes.close() }
        self.pipes = pipes
        name = pipes.name
    }

    /// Starts a program with the calling thread's niceness. Returns the process ID.
    ///
    /// - Parameter inherited: Descriptors to pass: their numbers in the parent and in the child.
    private static func start(
        _ path: String, _ arguments: [String], inherited: [(parent: Int32, child: Int32)], showsErrors: Bool,
        environment: [String: String]
    ) throws(DeviceError) -> Int32 {
        // The niceness of the calling thread, not of the spawn thread.
        let niceness = fieldscribe_niceness()
        let (id, status) = try SpawnThread.run {
            let strings = ([path] + arguments).map { strdup($0) }
            defer { strings.forEach { free($0) } }
            let newVariables = environment.filter { getenv($0.key) == nil }.map { strdup("\($0.key)=\($0.value)") }
            defer { newVariables.forEach { free($0) } }
            // The inherited environment, without the terminating null pointer.
            var variables: [UnsafeMutablePointer<CChar>?] = []
            while let entry = environ[variables.count] { variables.append(entry) }
            let pairs = inherited.flatMap { [$0.parent, $0.child] }
            let id = fieldscribe_spawn(
                path, strings + [nil], variables + newVariables + [nil], pairs, Int32(inherited.count),
                showsErrors ? 1 : 0, niceness)
            return (id, errno)
        }
        guard id > 0 else { throw .system("execve", status: status, on: path) }
        return id
    }

    /// Adopts a copy that a child forked.
    ///
    /// - Throws: `DeviceError` if this process has no such child.
    package init(adopting id: Int32, _ pipes: ChildPipes) throws(DeviceError) {
        var state = siginfo_t()
        guard id > 0, waitid(P_PID, id_t(id), &state, WEXITED | WNOHANG | WNOWAIT) == 0 else {
            throw .system("waitid", on: pipes.name)
        }
        self.id = id
        self.pipes = pipes
        name = pipes.name
    }

    deinit {
        Glibc.kill(id, SIGKILL)
        var status: Int32 = 0
        for _ in 0..<2_000 {
            if uninterrupted({ waitpid(id, &status, WNOHANG) }) != 0 { return }
            usleep(1_000)
        }
        // A child that hangs in a driver is reaped on a separate thread, so that this one need not wait.
        _ = startThread(named: "child-end") { [id] in
            var status: Int32 = 0
            _ = uninterrupted { waitpid(id, &status, 0) }
        }
    }

    /// Reads the child's standard output to the end, or until there are more than `limit` bytes.
    ///
    /// - Parameter timeoutSeconds: The timeout for the whole output.
    /// - Throws: `DeviceError` with `failed` at the timeout.
    package borrowing func output(upTo limit: Int = .max, timeoutSeconds: Int) throws(DeviceError) -> [UInt8] {
        let deadline = MonotonicClock.nanoseconds + Int64(timeoutSeconds) * 1_000_000_000
        var output: [UInt8] = []
        while output.count <= limit {
            let remaining = deadline - MonotonicClock.nanoseconds
            guard remaining > 0 else { throw .system("poll", status: ETIMEDOUT, on: name) }
            let block = try pipes.read(timeoutSeconds: Int((remaining + 999_999_999) / 1_000_000_000))
            if block.isEmpty { break }
            output += block
        }
        return output
    }

    /// Limits the child's resources and disables core dumps (prlimit).
    ///
    /// - Parameters:
    ///   - memory: The maximum address space, in bytes.
    ///   - data: The maximum size of the data segment, in bytes.
    ///   - file: The maximum size of files that the child may write, in bytes.
    package borrowing func limit(memory: UInt64, data: UInt64, cpuSeconds: UInt64, file: UInt64 = 0) {
        fieldscribe_limit_child(id, memory, data, cpuSeconds, file)
    }

    /// Waits until the child exits. Returns the exit status, or 128 plus the signal number.
    ///
    /// - Throws: `DeviceError` with `failed` at the timeout.
    package borrowing func exitStatus(timeoutSeconds: Int) throws(DeviceError) -> Int32 {
        let deadline = MonotonicClock.nanoseconds + Int64(min(timeoutSeconds, 1_000_000)) * 1_000_000_000
        while true {
            // With WNOWAIT the child stays a zombie, so that its process ID is not reused.
            var state = siginfo_t()
            let status = uninterrupted { waitid(P_PID, id_t(id), &state, WEXITED | WNOHANG | WNOWAIT) }
            guard status == 0 else { throw .system("waitid", on: name) }
            if state._sifields._sigchld.si_pid == id {
                let statusOrSignal = state._sifields._sigchld.si_status
                return state.si_code == Int32(CLD_EXITED) ? statusOrSignal : 128 + statusOrSignal
            }
            guard MonotonicClock.nanoseconds < deadline else {
                throw DeviceError(
                    .failed, "waitid", status: ETIMEDOUT, on: name, "did not exit within \(timeoutSeconds) s",
                    remedy: "try again")
            }
            usleep(1_000)
        }
    }
}

/// Returns the path of an executable program in PATH; nil if it is not installed.
package func installedProgram(_ name: String) -> String? {
    let folders = environmentVariable("PATH") ?? "/usr/local/bin:/usr/bin"
    return folders.split(separator: ":").map { "\($0)/\(name)" }.first { access($0, X_OK) == 0 }
}
