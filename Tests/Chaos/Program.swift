import Core
import Glibc
import System

/// A running program, whose output goes to files in a folder.
struct Program: Sendable {
    struct ExitResult: Sendable {
        /// The exit status, or the negative number of the signal that killed the program.
        var status: Int32
        var output: String
        var errors: String
        /// Whether the program had to be killed after a timeout.
        var didHang = false
    }

    /// The default timeout in seconds.
    static let defaultTimeout = 600.0

    let id: pid_t
    private let outputPath: String
    private let errorPath: String

    /// Starts a program with this program's environment and additional variables.
    init(_ arguments: [String], in folder: String, environment: [String: String] = [:]) throws {
        let suffix = UInt32.random(in: 0...UInt32.max)
        outputPath = "\(folder)/out-\(suffix)"
        errorPath = "\(folder)/err-\(suffix)"
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, outputPath, O_WRONLY | O_CREAT | O_APPEND, 0o600)
        posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, errorPath, O_WRONLY | O_CREAT | O_APPEND, 0o600)
        var variables: [String] = []
        var next = environ
        while let variable = next.pointee {
            let text = String(cString: variable)
            if environment[String(text.prefix { $0 != "=" })] == nil { variables.append(text) }
            next += 1
        }
        variables += environment.map { "\($0.key)=\($0.value)" }
        let argumentStrings = arguments.map { strdup($0) }
        let variableStrings = variables.map { strdup($0) }
        defer { (argumentStrings + variableStrings).forEach { free($0) } }
        var id = pid_t()
        let failure = posix_spawnp(&id, arguments[0], &actions, nil, argumentStrings + [nil], variableStrings + [nil])
        guard failure == 0 else { throw DeviceError.system("posix_spawnp", status: failure, on: arguments[0]) }
        self.id = id
    }

    /// Runs a program until it exits. The status is -1000 if the program cannot be started.
    static func run(
        _ arguments: [String], in folder: String, environment: [String: String] = [:], seconds: Double = defaultTimeout
    ) -> ExitResult {
        guard let program = try? Program(arguments, in: folder, environment: environment) else {
            return ExitResult(status: -1000, output: "", errors: "")
        }
        return program.wait(seconds: seconds)
    }

    func signal(_ number: Int32) { kill(id, number) }

    /// Whether the program is still running. Does not reap it, so `wait` still returns its status.
    var isRunning: Bool {
        var state = siginfo_t()
        return waitid(P_PID, id_t(id), &state, WEXITED | WNOHANG | WNOWAIT) == 0
            && state._sifields._sigchld.si_pid != id
    }

    /// Waits until the program exits, and kills it after a timeout.
    func wait(seconds: Double = defaultTimeout) -> ExitResult {
        let deadline = MonotonicClock.nanoseconds + Int64(seconds * 1e9)
        var status: Int32 = 0
        var didHang = false
        while waitpid(id, &status, WNOHANG) == 0 {
            // wait: a timeout, after which the experiment reports that the program hung
            if !didHang, MonotonicClock.nanoseconds > deadline {
                didHang = true
                kill(id, SIGKILL)
            }
            usleep(2_000)  // wait: polls until the program exits
        }
        defer {
            unlink(outputPath)
            unlink(errorPath)
        }
        return ExitResult(
            status: status & 0x7F == 0 ? (status >> 8) & 0xFF : -(status & 0x7F), output: text(of: outputPath),
            errors: text(of: errorPath), didHang: didHang)
    }
}

/// Returns the bytes of a file; empty if it cannot be read.
func bytes(of path: String) -> [UInt8] {
    guard let file = try? FileDescriptor(opening: path, O_RDONLY) else { return [] }
    var bytes: [UInt8] = []
    var block = [UInt8](repeating: 0, count: 1 << 16)
    // Files in /proc have no size, so this reads to the end.
    while true {
        let count = block.withUnsafeMutableBytes { (try? file.read(into: $0, at: Int64(bytes.count))) ?? 0 }
        if count == 0 { return bytes }
        bytes += block[..<count]
    }
}

/// Returns the text of a file; empty if it cannot be read.
func text(of path: String) -> String { String(decoding: bytes(of: path), as: UTF8.self) }

/// Returns the sorted paths of all files below a folder.
func files(below folder: String) -> [String] {
    guard let handle = opendir(folder) else { return [] }
    defer { closedir(handle) }
    var found: [String] = []
    while let entry = readdir(handle) {
        let name = withUnsafePointer(to: &entry.pointee.d_name) {
            $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
        }
        if name == "." || name == ".." { continue }
        let path = "\(folder)/\(name)"
        if entry.pointee.d_type == UInt8(DT_DIR) { found += files(below: path) } else { found.append(path) }
    }
    return found.sorted()
}
