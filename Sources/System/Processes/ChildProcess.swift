internal import CLinux
import Core
import Glibc

/// A child process with pipes to its standard input and output.
///
/// It is killed and reaped when this goes out of scope. If this process ends first, the kernel kills it
/// (PR_SET_PDEATHSIG). One thread at a time.
package struct ChildProcess: ~Copyable {
    package let id: Int32
    package let pipes: ChildPipes
    // A stored property: Swift 6.0's verifier crashes on reading `pipes.name` while this is borrowed.
    /// The program, for errors.
    package let name: String

    private static let fileNumber: Int32 = 3
    /// The path at which a child finds its `file`. `/proc/PID/fd` of the parent would fail after it dropped root: only
    /// root may read that.
    package static let file = "/proc/self/fd/\(fileNumber)"
    /// The descriptor at which a child finds its `target`.
    package static let targetNumber: Int32 = 4

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - showsErrors: Whether its standard error is ours; otherwise it is discarded.
    ///   - remedy: The remedy in errors when it does not respond.
    ///   - environment: Variables to add to ours, unless set there.
    ///   - file: A descriptor that it reads as `ChildProcess.file`; not with copies.
    ///   - target: A descriptor that it writes as `ChildProcess.targetNumber`; not with copies.
    ///   - copies: Pipes for the copies that it forks (`ProcessCopies`); each copy is then adopted.
    /// - Throws: `DeviceError` with `missing` or `denied` if it cannot be started.
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
        // After the others, whose ends may have that number here.
        if let file { passed.append((ours: file, childs: Self.fileNumber)) }
        var moved: Int32 = -1
        defer { if moved >= 0 { close(moved) } }
        if let target {
            // Its number here may be the number of `file` in the child.
            moved = fcntl(target, F_DUPFD_CLOEXEC, ProcessCopies.lowestFree)
            guard moved >= 0 else { throw .system("fcntl", on: path) }
            passed.append((ours: moved, childs: Self.targetNumber))
        }
        if !copies.isEmpty { fieldscribe_take_orphans() }
        id = try Self.start(path, arguments, passed: passed, showsErrors: showsErrors, environment: environment)
        for pipes in [pipes] + copies { pipes.close() }
        self.pipes = pipes
        name = pipes.name
    }

    /// Starts a program with the calling thread's niceness; returns its process ID.
    ///
    /// - Parameter passed: Descriptors of this process, and their numbers in the child.
    private static func start(
        _ path: String, _ arguments: [String], passed: [(ours: Int32, childs: Int32)], showsErrors: Bool,
        environment: [String: String]
    ) throws(DeviceError) -> Int32 {
        // Read on the calling thread.
        let niceness = fieldscribe_niceness()
        let (id, status) = try SpawnThread.run {
            let strings = ([path] + arguments).map { strdup($0) }
            defer { strings.forEach { free($0) } }
            let added = environment.filter { getenv($0.key) == nil }.map { strdup("\($0.key)=\($0.value)") }
            defer { added.forEach { free($0) } }
            // Our environment, without the final null.
            var own: [UnsafeMutablePointer<CChar>?] = []
            while let entry = environ[own.count] { own.append(entry) }
            let pairs = passed.flatMap { [$0.ours, $0.childs] }
            let id = fieldscribe_spawn(
                path, strings + [nil], own + added + [nil], pairs, Int32(passed.count), showsErrors ? 1 : 0, niceness)
            return (id, errno)
        }
        guard id > 0 else { throw .system("execve", status: status, on: path) }
        return id
    }

    /// Adopts a copy that a child forked.
    ///
    /// - Throws: `DeviceError` if we have no such child.
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
        // A child that hangs in a driver is reaped by a thread, so that nobody waits for it.
        _ = startThread(named: "child-end") { [id] in
            var status: Int32 = 0
            _ = uninterrupted { waitpid(id, &status, 0) }
        }
    }

    /// Reads its standard output to the end, or until there are more than `most` bytes.
    ///
    /// - Parameter timeoutSeconds: The timeout for all of it.
    /// - Throws: `DeviceError` with `failed` at the timeout.
    package borrowing func output(upTo most: Int = .max, timeoutSeconds: Int) throws(DeviceError) -> [UInt8] {
        let deadline = MonotonicClock.nanoseconds + Int64(timeoutSeconds) * 1_000_000_000
        var output: [UInt8] = []
        while output.count <= most {
            let left = deadline - MonotonicClock.nanoseconds
            guard left > 0 else { throw .system("poll", status: ETIMEDOUT, on: name) }
            let more = try pipes.read(timeoutSeconds: Int((left + 999_999_999) / 1_000_000_000))
            if more.isEmpty { break }
            output += more
        }
        return output
    }

    /// Limits the child's resources (prlimit); it writes no core dump.
    ///
    /// - Parameters:
    ///   - memory: Bytes of address space.
    ///   - data: Bytes of data.
    ///   - file: The largest file that it may write, in bytes.
    package borrowing func limit(memory: UInt64, data: UInt64, cpuSeconds: UInt64, file: UInt64 = 0) {
        fieldscribe_limit_child(id, memory, data, cpuSeconds, file)
    }

    /// Waits for its end; returns its exit status, or 128 plus the signal's number.
    ///
    /// - Throws: `DeviceError` with `failed` at the timeout.
    package borrowing func exitStatus(timeoutSeconds: Int) throws(DeviceError) -> Int32 {
        let deadline = MonotonicClock.nanoseconds + Int64(min(timeoutSeconds, 1_000_000)) * 1_000_000_000
        while true {
            // WNOWAIT: as a zombie it keeps its process ID.
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

/// Returns the path of a program in PATH that may be run; nil if it is not installed.
package func installedProgram(_ name: String) -> String? {
    let folders = environmentVariable("PATH") ?? "/usr/local/bin:/usr/bin"
    return folders.split(separator: ":").map { "\($0)/\(name)" }.first { access($0, X_OK) == 0 }
}
