import FoundationEssentials
import Glibc
import TestKit

/// A program that has exited, and its output.
struct Tool {
    struct StartError: Error {
        var program: String
        var status: Int32
    }

    /// The exit status, or the negative number of the signal that killed the program.
    var status: Int32
    var output: String
    var errors: String

    /// Runs a program from the PATH.
    ///
    /// - Parameter environment: Variables to add to the environment.
    init(_ arguments: [String], environment: [String: String] = [:]) throws {
        let folder = TemporaryFolder()
        defer { withExtendedLifetime(folder) {} }
        let (output, errors) = (folder.file("output"), folder.file("errors"))
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output, O_WRONLY | O_CREAT, 0o600)
        posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, errors, O_WRONLY | O_CREAT, 0o600)
        // env(1) changes only the child's environment.
        let command = ["env", "TMPDIR=\(folder.path)"] + environment.map { "\($0)=\($1)" } + arguments
        let strings = command.map { strdup($0) }
        defer { strings.forEach { free($0) } }
        var process = pid_t()
        let spawnStatus = posix_spawnp(&process, "env", &actions, nil, strings + [nil], environ)
        guard spawnStatus == 0 else { throw StartError(program: arguments.joined(separator: " "), status: spawnStatus) }
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        self.status = status & 0x7F == 0 ? (status >> 8) & 0xFF : -(status & 0x7F)
        self.output = try text(of: output)
        self.errors = try text(of: errors)
    }

    init(_ arguments: String...) throws { try self.init(arguments) }
}

func text(of path: String) throws -> String {
    String(decoding: try Data(contentsOf: URL(filePath: path)), as: UTF8.self)
}

func write(_ text: String, to path: String) throws { try Data(text.utf8).write(to: URL(filePath: path)) }

enum Repository {
    static let path = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().path

    static func file(_ name: String) -> String { "\(path)/\(name)" }

    static func executable(_ name: String = "fieldscribe") throws -> String { try builtProgram(name) }
}

/// The commands and options in a program's help, which its manual and completion must match.
struct ProgramHelp {
    let program: String
    let commands: [String]

    init(of name: String = "fieldscribe") throws {
        program = try Repository.executable(name)
        let help = try Tool(program, "--help").output
        commands = help.split(separator: "\n").filter { $0.hasPrefix("  ") }
            .compactMap { $0.split(separator: " ").first.map(String.init) }
    }

    /// The options in a command's help, sorted.
    func options(of command: String) throws -> [String] {
        let help = try Tool(program, command, "--help").output
        let words = help.split { !($0.isLetter || $0 == "-") }.filter { $0.hasPrefix("--") && $0.count > 2 }
        return Set(words.map(String.init)).sorted()
    }
}
