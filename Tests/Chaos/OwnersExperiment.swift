import Glibc
import System
import TestKit

/// Root and a user run commands in random order on the user's archive. After each command the user still owns all of it and can
/// record. Sometimes either runs an appliance that both send requests to.
struct OwnersExperiment {
    /// A user that exists on no machine.
    private static let user: uid_t = 64_242

    private enum Command: CaseIterable { case record, recover, verify, delete, export, vocabulary, run }

    private struct Step {
        var words: String
        var status: Int32
        var errors: String
        /// Files in the archive that the user does not own.
        var strangers: Int
        var records: Bool
    }

    let bench: Bench

    func run() async throws -> [Report.Row] {
        var report = Report("owners")
        guard geteuid() == 0, canBe(Self.user) else {
            report.note("not done", "needs root, and an executable that others can run: \(bench.fieldscribe)")
            return report.rows
        }
        let seed = bench.options.number("seed", Int.random(in: 1...1_000_000))
        let count = bench.options.number("orders", 20)
        report.note("seed", "\(seed)")
        var random = SeededGenerator(seed: UInt64(seed))
        let place = try makePlace()
        defer { bench.remove(place) }
        guard record(as: Self.user, in: place).status == 0 else {
            report.add(none: "the user cannot record at all", 1, of: 1)
            return report.rows
        }
        let steps = try (0..<count).map { _ in try step(in: place, &random) }
        let bad = steps.filter { $0.status != 0 || $0.strangers > 0 || !$0.records }
        report.add(none: "commands that failed", steps.count { $0.status != 0 }, of: count)
        report.add(none: "commands that left files of another owner", steps.count { $0.strangers > 0 }, of: count)
        report.add(none: "commands after which the user could not record", steps.count { !$0.records }, of: count)
        for step in bad.prefix(5) { report.note("bad", "\(step.words): \(step.status) \(step.errors)") }
        // The state after a command that did not become the user, so the user could not record.
        chown("\(place)/storage/archive.sqlite", 0, 0)
        report.add(control: "a database that is root's", caught: min(1, strangers(in: place)), of: 1)
        let folder = "\(place)/storage/recordings"
        chown(folder, 0, 0)
        chmod(folder, 0o700)
        let isStopped = record(as: Self.user, in: place).status != 0
        report.add(control: "a folder of recordings that is root's", caught: isStopped ? 1 : 0, of: 1)
        return report.rows
    }

    /// Runs one of the commands as root or the user, and checks the result.
    private func step(in place: String, _ random: inout SeededGenerator) throws -> Step {
        let isRoot = Bool.random(using: &random)
        let command = Command.allCases.randomElement(using: &random) ?? .record
        let ending: Program.Ending
        let identity = isRoot ? nil : Self.user
        switch command {
        case .record: ending = record(as: identity, in: place)
        case .recover: ending = run(["recover", "--no-transcribe"], as: identity, in: place)
        case .verify: ending = run(["verify"], as: identity, in: place)
        case .delete: ending = run(["delete", "\(latest(in: place))", "--yes"], as: identity, in: place)
        case .export:
            let stick = "\(place)/stick-\(isRoot ? "root" : "user")"
            ending = run(["export", "--to", stick], as: identity, in: place)
        // Only root may change its settings.
        case .vocabulary: ending = run(["vocabulary", "use", "\(place)/words.txt"], as: nil, in: place)
        case .run: ending = try appliance(as: identity, in: place)
        }
        return Step(
            words: "\(command) as \(isRoot ? "root" : "the user")", status: ending.status, errors: ending.errors,
            strangers: strangers(in: place), records: record(as: Self.user, in: place).status == 0)
    }

    /// One runs an appliance, and the other starts a recording.
    private func appliance(as identity: uid_t?, in place: String) throws -> Program.Ending {
        let appliance = try Program(words(["run"], as: identity, in: place), in: place)
        var answer = run(["status"], as: Self.user, in: place)
        try waitUntil("an answer") {
            if answer.status != 0 { answer = run(["status"], as: Self.user, in: place) }
            return answer.status == 0 || !appliance.isRunning
        }
        for order in ["start", "stop"] where answer.status == 0 {
            answer = run([order], as: identity == nil ? Self.user : nil, in: place)
        }
        appliance.signal(SIGTERM)
        let ending = appliance.wait()
        return answer.status == 0 ? ending : answer
    }

    private func record(as identity: uid_t?, in place: String) -> Program.Ending {
        run(
            ["record", "--audio-only", "--seconds", "1", "--microphone", "tone+fast:440"], as: identity, in: place)
    }

    private func run(_ command: [String], as identity: uid_t?, in place: String) -> Program.Ending {
        Program.run(words(command, as: identity, in: place), in: place)
    }

    private func words(_ command: [String], as identity: uid_t?, in place: String) -> [String] {
        let become = identity.map { ["setpriv", "--reuid=\($0)", "--regid=\($0)", "--clear-groups"] } ?? []
        return become + [bench.fieldscribe] + command + ["--config", "\(place)/fieldscribe.conf"]
    }

    private func canBe(_ user: uid_t) -> Bool {
        Program.run(
            ["setpriv", "--reuid=\(user)", "--regid=\(user)", "--clear-groups", bench.fieldscribe, "--version"],
            in: bench.folder
        ).status == 0
    }

    /// The number of the last recording.
    private func latest(in place: String) -> Int {
        let folders = Set(
            files(below: "\(place)/storage/recordings").compactMap { path in
                path.split(separator: "/").dropLast().last.flatMap { Int($0) }
            })
        return folders.max() ?? 1
    }

    private func strangers(in place: String) -> Int {
        Program.run(["find", "\(place)/storage", "!", "-uid", "\(Self.user)"], in: place)
            .output.split(separator: "\n").count
    }

    /// A folder that both may enter, with the user's archive, root's settings, and a stick for each.
    private func makePlace() throws -> String {
        let place = bench.newFolder("owners")
        chmod(bench.folder, 0o711)
        chmod(place, 0o777)
        let folders = [("storage", Self.user), ("run", Self.user), ("stick-user", Self.user), ("stick-root", 0)]
        for (name, owner) in folders {
            mkdir("\(place)/\(name)", 0o700)
            chown("\(place)/\(name)", owner, owner)
        }
        let settings = """
            [storage]
            directory = \(place)/storage
            reserve-megabytes = 16

            [control]
            socket = \(place)/run/control.sock

            [capture]
            device = tone:440

            [panel]
            button = none
            lamp = none

            [recognizer]
            engine = pocketsphinx
            second-pass = no

            """
        try durableReplace(path: "\(place)/fieldscribe.conf", with: settings)
        try durableReplace(path: "\(place)/words.txt", with: "shea butter\n")
        for name in ["fieldscribe.conf", "words.txt"] { chmod("\(place)/\(name)", 0o644) }
        return place
    }
}
