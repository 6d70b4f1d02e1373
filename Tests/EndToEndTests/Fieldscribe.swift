import FoundationEssentials
import Glibc
import TestKit
import Testing

/// The real executable, run as a user would run it.
struct Fieldscribe {
    /// The result of a run.
    struct Outcome {
        var status: Int32
        var output: String
        var errors: [String]

        /// The path that `export` prints: the last word of its first line.
        var copy: String? {
            guard let line = output.split(separator: "\n").first, let path = line.split(separator: " ").last else {
                return nil
            }
            return String(path)
        }
    }

    let id: pid_t
    private let outputPath: String
    private let errorPath: String

    /// Starts the executable with these arguments; its output and errors go to files in the folder.
    init(_ arguments: [String], in folder: TemporaryFolder, input: String = "/dev/null", output: String? = nil) throws {
        try self.init(program: try Self.executable(), arguments, in: folder, input: input, output: output)
    }

    /// Starts any program.
    init(
        program: String, _ arguments: [String], in folder: TemporaryFolder, input: String = "/dev/null",
        output: String? = nil
    ) throws {
        let suffix = UInt64.random(in: 0...UInt64.max)
        outputPath = output ?? "\(folder.path)/out-\(suffix)"
        errorPath = "\(folder.path)/err-\(suffix)"
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, input, O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, outputPath, O_WRONLY | O_CREAT, 0o600)
        posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, errorPath, O_WRONLY | O_CREAT, 0o600)
        let strings = ([program] + arguments).map { strdup($0) }
        defer { strings.forEach { free($0) } }
        var id = pid_t()
        let status = posix_spawnp(&id, program, &actions, nil, strings + [nil], environ)
        guard status == 0 else { throw CannotStart(program: program, status: status) }
        self.id = id
    }

    struct CannotStart: Error {
        var program: String
        var status: Int32
    }

    /// Runs the executable and waits until it exits.
    static func run(
        _ arguments: String..., in folder: TemporaryFolder, input: String = "/dev/null", output: String? = nil
    ) throws -> Outcome {
        try Fieldscribe(arguments, in: folder, input: input, output: output).wait()
    }

    /// Runs another program, which must succeed.
    static func tool(_ arguments: String..., in folder: TemporaryFolder) throws {
        let outcome = try Fieldscribe(program: arguments[0], Array(arguments.dropFirst()), in: folder).wait()
        guard outcome.status == 0 else { throw CannotStart(program: arguments[0], status: outcome.status) }
    }

    func wait() throws -> Outcome {
        var status: Int32 = 0
        while waitpid(id, &status, 0) < 0, errno == EINTR {}
        let errors = try Self.text(errorPath).split(separator: "\n").map(String.init)
        return Outcome(
            status: status & 0x7F == 0 ? (status >> 8) & 0xFF : -(status & 0x7F),
            output: outputPath == "/dev/full" ? "" : try Self.text(outputPath), errors: errors)
    }

    /// Whether the process has not exited; `wait` can still read its status.
    var isRunning: Bool {
        var state = siginfo_t()
        return waitid(P_PID, id_t(id), &state, WEXITED | WNOHANG | WNOWAIT) == 0
            && state._sifields._sigchld.si_pid != id
    }

    /// Waits until a condition holds, like `waitUntil`.
    ///
    /// - Throws: `ExitedEarly` if the process exits first, or an error from `waitUntil`.
    func wait(
        until event: String, every interval: Duration = .milliseconds(10), _ condition: () throws -> Bool
    ) throws {
        try waitUntil(event, every: interval) {
            let isRunning = isRunning
            if try condition() { return true }
            guard isRunning else { throw ExitedEarly(waitedFor: event, errors: try Self.text(errorPath)) }
            return false
        }
    }

    struct ExitedEarly: Error {
        var waitedFor: String
        var errors: String
    }

    /// The standard output so far.
    var outputSoFar: String { get throws { try Self.text(outputPath) } }

    /// The standard error so far.
    var errorsSoFar: String { get throws { try Self.text(errorPath) } }

    /// The process IDs of the children.
    var children: [pid_t] { get throws { try Self.children(of: id) } }

    static func children(of id: pid_t) throws -> [pid_t] {
        try FileManager.default.contentsOfDirectory(atPath: "/proc").compactMap { pid_t($0) }.filter { child in
            guard let status = try? text("/proc/\(child)/stat"),
                let parent = status.split(separator: ")").last?.split(separator: " ").dropFirst().first
            else { return false }
            return String(parent) == String(id)
        }
    }

    static func text(_ path: String) throws -> String {
        String(decoding: try Data(contentsOf: .init(filePath: path)), as: UTF8.self)
    }

    static var path: String? { try? executable() }

    static func executable() throws -> String { try builtProgram("fieldscribe") }
}

/// A transcript as `--format json` prints it.
struct Transcript: Decodable, Equatable {
    struct Segment: Decodable, Equatable {
        var id: Int
        var start: Double
        var end: Double
        var text: String
        var endedBy: String
        var words: [Word]
    }

    struct Word: Decodable, Equatable {
        var text: String
        var start: Double
        var end: Double
        var confidence: Double
    }

    struct Statistics: Decodable, Equatable {
        var sessions: Int
    }

    var duration: Double
    var segments: [Segment]
    var statistics: Statistics?

    init(_ json: String) throws { self = try JSONDecoder().decode(Transcript.self, from: Data(json.utf8)) }

    var words: [Word] { segments.flatMap(\.words) }
    var text: String { segments.map(\.text).joined(separator: " ") }
}

/// A person who reads from a novel: Debian's package pocketsphinx-testdata.
enum Speech {
    static let folder = "/usr/share/pocketsphinx/test/data/librivox"
    static let all = ["0870", "0880", "0890", "0920", "0930"].map(path)

    static func path(_ number: String) -> String { "\(folder)/sense_and_sensibility_01_austen_64kb-\(number).wav" }

    /// The five utterances with pauses, in one file.
    static func joined(in folder: TemporaryFolder) throws -> String {
        let path = "\(folder.path)/joined.wav"
        try Fieldscribe.tool("sox", all[0], all[1], all[2], all[3], all[4], path, "pad", "0.5", "1", in: folder)
        return path
    }

    /// The joined utterances, repeated for longer than any machine needs to load the model.
    static func endless(in folder: TemporaryFolder) throws -> String {
        let path = "\(folder.path)/endless.wav"
        try Fieldscribe.tool("sox", try joined(in: folder), path, "repeat", "30", in: folder)
        return path
    }
}

/// Expects that `verify` found no fault; a failure contains its output.
func expectVerified(_ verified: Fieldscribe.Outcome, sourceLocation: SourceLocation = #_sourceLocation) {
    #expect(verified.status == 0, "\(verified.output) \(verified.errors)", sourceLocation: sourceLocation)
}
