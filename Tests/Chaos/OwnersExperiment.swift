import Glibc
import System
import TestKit

/// Runs commands on a user's archive in random order, as root or as the user. After each command, the user must still
/// own all files and be able to record. Sometimes one of the two runs an appliance, and the other sends requests to it.
struct OwnersExperiment {
    /// A user ID that belongs to no real user.
    private static let user: uid_t = 64_242

    private enum Command: CaseIterable { case record, recover, verify, delete, export, vocabulary, run }

    private struct Step {
        var description: String
        var status: Int32
        var errors: String
        /// The number of files in the archive that the user does not own.
        var foreignFiles: Int
        /// Whether the user could record afterwards.
        var canRecord: Bool
    }

    let bench: Bench

    func run() async throws -> [Report.Row] {
        var report = Report("owners")
        guard geteuid() == 0, canRun(as: Self.user) else {
            report.note("skipped", "needs root, and an executable that others can run: \(bench.fieldscribe)")
            return report.rows
        }
        let seed = bench.options.integer("seed", Int.random(in: 1...1_000_000))
        let count = bench.options.integer("orders", 20)
        report.note("seed", "\(seed)")
        var random = SeededGenerator(seed: UInt64(seed))
        let folder = try makeFolder()
        defer { bench.remove(folder) }
        guard record(as: Self.user, in: folder).status == 0 else {
            report.add(none: "the user cannot record", 1, of: 1)
            return report.rows
        }
        let steps = try (0..<count).map { _ in try step(in: folder, &random) }
        let failedSteps = steps.filter { $0.status != 0 || $0.foreignFiles > 0 || !$0.canRecord }
        report.add(none: "commands that failed", steps.count { $0.status != 0 }, of: count)
        report.add(none: "commands that left files with another owner", steps.count { $0.foreignFiles > 0 }, of: count)
        report.add(none: "commands after which the user could not record", steps.count { !$0.canRecord }, of: count)
        for step in failedSteps.prefix(5) {
            report.note("failure", "\(step.description): status \(step.status) \(step.errors)")
        }
        // Simulates a command that ran as root and left files that the user cannot write.
        chown("\(folder)/storage/archive.sqlite", 0, 0)
        report.add(control: "a database owned by root", caught: min(1, foreignFiles(in: folder)), of: 1)
        let recordings = "\(folder)/storage/recordings"
        chown(recordings, 0, 0)
        chmod(recordings, 0o700)
        let isRefused = record(as: Self.user, in: folder).status != 0
        report.add(control: "a recordings folder owned by root", caught: isRefused ? 1 : 0, of: 1)
        return report.rows
    }

    /// Runs a random command as root or as the user, and checks the result.
    private func step(in folder: String, _ random: inout SeededGenerator) throws -> Step {
        let isRoot = Bool.random(using: &random)
        let command = Command.allCases.randomElement(using: &random) ?? .record
        let result: Program.ExitResult
        let userID = isRoot ? nil : Self.user
        switch command {
        case .record: result = record(as: userID, in: folder)
        case .recover: result = run(["recover", "--no-transcribe"], as: userID, in: folder)
        case .verify: result = run(["verify"], as: userID, in: folder)
        case .delete: result = run(["delete", "\(latestRecording(in: folder))", "--yes"], as: userID, in: folder)
        case .export:
            let stick = "\(folder)/stick-\(isRoot ? "root" : "user")"
            result = run(["export", "--to", stick], as: userID, in: folder)
        // Always as root, which owns the settings.
        case .vocabulary: result = run(["vocabulary", "use", "\(folder)/words.txt"], as: nil, in: folder)
        case .run: result = try runAppliance(as: userID, in: folder)
        }
        return Step(
            description: "\(command) as \(isRoot ? "root" : "the user")", status: result.status, errors: result.errors,
            foreignFiles: foreignFiles(in: folder), canRecord: record(as: Self.user, in: folder).status == 0)
    }

    /// Runs an appliance as root or as the user, and starts and stops a recording as the other.
    private func runAppliance(as userID: uid_t?, in folder: String) throws -> Program.ExitResult {
        let appliance = try Program(arguments(["run"], as: userID, in: folder), in: folder)
        var answer = run(["status"], as: Self.user, in: folder)
        try waitUntil("an answer") {
            if answer.status != 0 { answer = run(["status"], as: Self.user, in: folder) }
            return answer.status == 0 || !appliance.isRunning
        }
        for request in ["start", "stop"] where answer.status == 0 {
            answer = run([request], as: userID == nil ? Self.user : nil, in: folder)
        }
        appliance.signal(SIGTERM)
        let result = appliance.wait()
        return answer.status == 0 ? result : answer
    }

    private func record(as userID: uid_t?, in folder: String) -> Program.ExitResult {
        run(
            ["record", "--audio-only", "--seconds", "1", "--microphone", "tone+fast:440"], as: userID, in: folder)
    }

    private func run(_ command: [String], as userID: uid_t?, in folder: String) -> Program.ExitResult {
        Program.run(arguments(command, as: userID, in: folder), in: folder)
    }

    private func arguments(_ command: [String], as userID: uid_t?, in folder: String) -> [String] {
        let setpriv = userID.map { ["setpriv", "--reuid=\($0)", "--regid=\($0)", "--clear-groups"] } ?? []
        return setpriv + [bench.fieldscribe] + command + ["--config", "\(folder)/fieldscribe.conf"]
    }

    private func canRun(as user: uid_t) -> Bool {
        Program.run(
            ["setpriv", "--reuid=\(user)", "--regid=\(user)", "--clear-groups", bench.fieldscribe, "--version"],
            in: bench.folder
        ).status == 0
    }

    /// Returns the ID of the latest recording.
    private func latestRecording(in folder: String) -> Int {
        let folders = Set(
            files(below: "\(folder)/storage/recordings").compactMap { path in
                path.split(separator: "/").dropLast().last.flatMap { Int($0) }
            })
        return folders.max() ?? 1
    }

    /// Returns the number of files in the archive that the user does not own.
    private func foreignFiles(in folder: String) -> Int {
        Program.run(["find", "\(folder)/storage", "!", "-uid", "\(Self.user)"], in: folder)
            .output.split(separator: "\n").count
    }

    /// Creates a folder for root and the user, with the user's archive, root's settings, and a stick folder for each.
    private func makeFolder() throws -> String {
        let folder = bench.newFolder("owners")
        chmod(bench.folder, 0o711)
        chmod(folder, 0o777)
        let folders = [("storage", Self.user), ("run", Self.user), ("stick-user", Self.user), ("stick-root", 0)]
        for (name, owner) in folders {
            mkdir("\(folder)/\(name)", 0o700)
            chown("\(folder)/\(name)", owner, owner)
        }
        let settings = """
            [storage]
            directory = \(folder)/storage
            reserve-megabytes = 16

            [control]
            socket = \(folder)/run/control.sock

            [capture]
            device = tone:440

            [panel]
            button = none
            lamp = none

            [recognizer]
            engine = pocketsphinx
            second-pass = no

            """
        try durableReplace(path: "\(folder)/fieldscribe.conf", with: settings)
        try durableReplace(path: "\(folder)/words.txt", with: "shea butter\n")
        for name in ["fieldscribe.conf", "words.txt"] { chmod("\(folder)/\(name)", 0o644) }
        return folder
    }
}
