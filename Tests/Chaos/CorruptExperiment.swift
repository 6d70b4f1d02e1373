import FoundationEssentials
import Glibc
import System
import TestKit

/// Damages audio, database and settings before a start; each seed damages differently.
///
/// Despite the damage, the next recording works, undamaged recordings survive, and no file is deleted.
struct CorruptExperiment {
    private enum Victim: String, CaseIterable { case audio, database, log, settings, journal, sums, number }

    private struct Outcome: Sendable {
        var name: String
        /// The next recording was made and is whole.
        var started = false
        /// It failed, but a line said why and what to do.
        var refusedInWords = false
        /// Files that are missing under any name.
        var deleted = 0
        /// Undamaged recordings that can no longer be read.
        var hurt = 0
        var crashed = false
        var words = ""
    }

    let bench: Bench

    func run() async throws -> [Report.Row] {
        var report = Report("corrupt")
        let first = bench.options.number("seed", Int.random(in: 1...1_000_000))
        let count = bench.options.number("seeds", 40)
        report.note("first seed", "\(first)")
        let golden = try makeGolden()
        let bench = bench
        let outcomes = try await bench.parallel(Array(first..<first + count), width: 4) { _, seed in
            try Self.outcome(seed: UInt64(seed), golden: golden, deletes: false, on: bench)
        }
        for victim in Victim.allCases {
            let some = outcomes.filter { $0.name.hasPrefix(victim.rawValue) }
            let stopped = some.filter { !$0.started }
            // Invalid settings are reported line by line, and never guessed. An executable that can recover a damaged
            // archive sets it aside; another one must say so.
            let words = victim == .settings || !bench.recovers
            let wrong = words ? stopped.filter { !$0.refusedInWords } : stopped
            report.add(
                none: "\(victim.rawValue): no start\(words ? ", and no message" : "")", wrong.count, of: some.count)
            if words { report.note("\(victim.rawValue): refused with a message", "\(stopped.count) in \(some.count)") }
            for outcome in wrong.prefix(3) { report.note("bad", "\(outcome.name): \(outcome.words)") }
        }
        report.add(none: "crashed", outcomes.count { $0.crashed }, of: count)
        report.add(none: "files deleted", outcomes.reduce(0) { $0 + $1.deleted }, of: count)
        report.add(none: "whole recordings damaged", outcomes.reduce(0) { $0 + $1.hurt }, of: count)
        for outcome in outcomes.filter({ $0.deleted + $0.hurt > 0 || $0.crashed }).prefix(5) {
            report.note("bad", "\(outcome.name): \(outcome.words)")
        }
        let control = try await bench.parallel([1, 2, 3], width: 3) { _, seed in
            try Self.outcome(seed: UInt64(seed), golden: golden, deletes: true, on: bench)
        }
        report.add(
            control: "a start that deletes a recording", caught: control.count { $0.deleted > 0 && $0.hurt > 0 },
            of: control.count)
        return report.rows
    }

    /// Two whole recordings, and one that was cut short with its archive.
    private func makeGolden() throws -> String {
        let golden = bench.newFolder("golden")
        let environment = bench.environment(storage: golden)
        for _ in 0..<2 {
            _ = try Program(bench.record(to: golden, seconds: 2), in: bench.folder, environment: environment).wait()
        }
        let cut = try Program(bench.record(to: golden), in: bench.folder, environment: environment)
        try waitUntil("two seconds of sound") {
            WaveContent.samples(ofRecording: 3, in: golden).count >= 2 * KnownSound.rate
        }
        cut.signal(SIGKILL)
        _ = cut.wait()
        try durableReplace(path: "\(golden)/settings.conf", with: text(of: "\(bench.folder)/usual.conf"))
        return golden
    }

    private static func outcome(seed: UInt64, golden: String, deletes: Bool, on bench: Bench) throws -> Outcome {
        var random = SeededGenerator(seed: seed)
        let name = "corrupt-\(deletes ? "control-" : "")\(seed)"
        let work = bench.newFolder(name)
        defer { bench.remove(work) }
        let storage = "\(work)/storage"
        bench.copy(golden, to: storage)
        let victim = Victim.allCases[Int(seed) % Victim.allCases.count]
        let hit = Int.random(in: 1...3, using: &random)
        let audio = { (number: Int) in "\(storage)/recordings/00000\(number)/audio.wav" }
        let path =
            switch victim {
            case .audio: audio(hit)
            case .database: "\(storage)/archive.sqlite"
            case .log: "\(storage)/archive.sqlite-wal"
            case .settings: "\(storage)/settings.conf"
            case .journal: "\(storage)/recordings/00000\(hit)/journal.jsonl"
            case .sums: "\(storage)/recordings/00000\(hit)/audio.sums"
            case .number: "\(storage)/last-number"
            }
        let damage = try damage(path, &random)
        var outcome = Outcome(name: "\(victim.rawValue): \(damage) (seed \(seed))")
        // SQLite may remove its own files next to the database; the next number replaces the previous file.
        let before = files(below: storage).filter { path in
            !["-wal", "-shm", "/last-number"].contains { path.hasSuffix($0) }
        }.map(inode)
        let whole = [1, 2].filter { victim != .audio || $0 != hit }
        let sound = whole.map { WaveContent(path: audio($0))?.samples ?? [] }
        if deletes { unlink(audio(whole[0])) }
        let ending = try Program(
            [
                bench.fieldscribe, "record", "--audio-only", "--seconds", "1", "--microphone", "tone+fast:440",
                "--directory", storage, "--config", "\(storage)/settings.conf",
            ], in: work
        ).wait()
        outcome.started = ending.status == 0
        outcome.crashed = ending.status < 0
        outcome.words = ending.errors
        let lines = ending.errors.split(separator: "\n")
        outcome.refusedInWords = ending.status > 0 && !lines.isEmpty && lines.allSatisfy { $0.contains(": ") }
        let after = Set(files(below: storage).map(inode))
        outcome.deleted = before.count { !after.contains($0) }
        outcome.hurt = zip(whole, sound).count { number, samples in
            (WaveContent(path: audio(number))?.samples ?? []) != samples || samples.isEmpty
        }
        if outcome.started, bench.recovers { outcome.hurt += unlisted(whole, in: storage, on: bench) }
        return outcome
    }

    /// The number of these recordings that the archive has lost.
    private static func unlisted(_ recordings: [Int], in storage: String, on bench: Bench) -> Int {
        struct Row: Decodable { var id: Int }
        let ending = Program.run(
            [bench.fieldscribe, "list", "--json", "--directory", storage, "--config", "\(bench.folder)/usual.conf"],
            in: bench.folder)
        let rows = (try? JSONDecoder().decode([Row].self, from: Data(ending.output.utf8))) ?? []
        return recordings.count { number in !rows.contains { $0.id == number } }
    }

    /// Damages a file; returns a description.
    private static func damage(_ path: String, _ random: inout SeededGenerator) throws -> String {
        var content = bytes(of: path)
        let way: String
        switch content.isEmpty ? 4 : Int.random(in: 0...4, using: &random) {
        case 0:
            let count = Int.random(in: 1...64, using: &random)
            for _ in 0..<count {
                // Headers matter most.
                let end = Bool.random(using: &random) ? content.count : min(content.count, 512)
                content[Int.random(in: 0..<end, using: &random)] ^= 1 << UInt8.random(in: 0...7, using: &random)
            }
            way = "\(count) bits flipped"
        case 1:
            let length = Int.random(in: 0..<content.count, using: &random)
            content.removeLast(content.count - length)
            way = "cut to \(length) bytes"
        case 2:
            let start = Int.random(in: 0..<content.count, using: &random) & ~4095
            let end = min(content.count, start + 4096)
            for index in start..<end { content[index] = 0 }
            way = "4 KiB at \(start) zeroed"
        case 3:
            for index in content.indices { content[index] = .random(in: 0...255, using: &random) }
            way = "all noise"
        default:
            content = []
            way = "emptied"
        }
        // In place, so that it stays the same file and its loss would be detected.
        let file = try FileDescriptor(opening: path, O_WRONLY | O_CREAT | O_TRUNC)
        try content.withUnsafeBytes { try file.write($0) }
        return way
    }

    private static func inode(_ path: String) -> UInt64 {
        var status = stat()
        return lstat(path, &status) == 0 ? UInt64(status.st_ino) : 0
    }
}
