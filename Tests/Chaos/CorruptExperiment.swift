import FoundationEssentials
import Glibc
import System
import TestKit

/// Damages one file of an archive before a start, differently for each seed.
///
/// Expects that the next recording works despite the damage, that undamaged recordings survive, and that no file is
/// deleted.
struct CorruptExperiment {
    private enum Target: String, CaseIterable { case audio, database, log, settings, journal, sums, number }

    private struct Outcome: Sendable {
        var name: String
        /// Whether the next recording succeeded.
        var didRecord = false
        /// Whether the recording failed with a message.
        var refusedWithMessage = false
        /// The number of files that no longer exist under any name.
        var deletedFiles = 0
        /// The number of undamaged recordings that can no longer be read.
        var lostRecordings = 0
        var didCrash = false
        var message = ""
    }

    let bench: Bench

    func run() async throws -> [Report.Row] {
        var report = Report("corrupt")
        let firstSeed = bench.options.integer("seed", Int.random(in: 1...1_000_000))
        let count = bench.options.integer("seeds", 40)
        report.note("first seed", "\(firstSeed)")
        let golden = try makeGolden()
        let bench = bench
        let outcomes = try await bench.parallel(Array(firstSeed..<firstSeed + count), width: 4) { _, seed in
            try Self.outcome(seed: UInt64(seed), golden: golden, deletes: false, on: bench)
        }
        for target in Target.allCases {
            let matching = outcomes.filter { $0.name.hasPrefix(target.rawValue) }
            let failed = matching.filter { !$0.didRecord }
            // The executable must report invalid settings. If it has the command `recover`, it sets a damaged archive
            // aside; an older executable must report the damage.
            let mayRefuse = target == .settings || !bench.supportsRecover
            let unexpected = mayRefuse ? failed.filter { !$0.refusedWithMessage } : failed
            report.add(
                none: "\(target.rawValue): no recording\(mayRefuse ? " and no message" : "")", unexpected.count,
                of: matching.count)
            if mayRefuse {
                report.note("\(target.rawValue): refused with a message", "\(failed.count) of \(matching.count)")
            }
            for outcome in unexpected.prefix(3) { report.note("failure", "\(outcome.name): \(outcome.message)") }
        }
        report.add(none: "crashed", outcomes.count { $0.didCrash }, of: count)
        report.add(none: "files deleted", outcomes.reduce(0) { $0 + $1.deletedFiles }, of: count)
        report.add(none: "undamaged recordings lost", outcomes.reduce(0) { $0 + $1.lostRecordings }, of: count)
        for outcome in outcomes.filter({ $0.deletedFiles + $0.lostRecordings > 0 || $0.didCrash }).prefix(5) {
            report.note("failure", "\(outcome.name): \(outcome.message)")
        }
        let control = try await bench.parallel([1, 2, 3], width: 3) { _, seed in
            try Self.outcome(seed: UInt64(seed), golden: golden, deletes: true, on: bench)
        }
        report.add(
            control: "a start that deletes a recording",
            caught: control.count { $0.deletedFiles > 0 && $0.lostRecordings > 0 },
            of: control.count)
        return report.rows
    }

    /// Creates an archive with two complete recordings and one that a kill interrupted.
    private func makeGolden() throws -> String {
        let golden = bench.newFolder("golden")
        let environment = bench.environment(storage: golden)
        for _ in 0..<2 {
            let command = bench.recordCommand(to: golden, seconds: 2)
            _ = try Program(command, in: bench.folder, environment: environment).wait()
        }
        let killed = try Program(bench.recordCommand(to: golden), in: bench.folder, environment: environment)
        try waitUntil("two seconds of sound") {
            WaveContent.samples(ofRecording: 3, in: golden).count >= 2 * KnownSound.rate
        }
        killed.signal(SIGKILL)
        _ = killed.wait()
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
        let target = Target.allCases[Int(seed) % Target.allCases.count]
        let damagedRecording = Int.random(in: 1...3, using: &random)
        let audio = { (number: Int) in "\(storage)/recordings/00000\(number)/audio.wav" }
        let path =
            switch target {
            case .audio: audio(damagedRecording)
            case .database: "\(storage)/archive.sqlite"
            case .log: "\(storage)/archive.sqlite-wal"
            case .settings: "\(storage)/settings.conf"
            case .journal: "\(storage)/recordings/00000\(damagedRecording)/journal.jsonl"
            case .sums: "\(storage)/recordings/00000\(damagedRecording)/audio.sums"
            case .number: "\(storage)/last-number"
            }
        let damage = try damage(path, &random)
        var outcome = Outcome(name: "\(target.rawValue): \(damage) (seed \(seed))")
        // Excludes SQLite's temporary files, which it may remove, and `last-number`, which each recording replaces.
        let inodesBefore = files(below: storage).filter { path in
            !["-wal", "-shm", "/last-number"].contains { path.hasSuffix($0) }
        }.map(inode)
        let undamaged = [1, 2].filter { target != .audio || $0 != damagedRecording }
        let samplesBefore = undamaged.map { WaveContent(path: audio($0))?.samples ?? [] }
        if deletes { unlink(audio(undamaged[0])) }
        let result = try Program(
            [
                bench.fieldscribe, "record", "--audio-only", "--seconds", "1", "--microphone", "tone+fast:440",
                "--directory", storage, "--config", "\(storage)/settings.conf",
            ], in: work
        ).wait()
        outcome.didRecord = result.status == 0
        outcome.didCrash = result.status < 0
        outcome.message = result.errors
        let lines = result.errors.split(separator: "\n")
        outcome.refusedWithMessage = result.status > 0 && !lines.isEmpty && lines.allSatisfy { $0.contains(": ") }
        let inodesAfter = Set(files(below: storage).map(inode))
        outcome.deletedFiles = inodesBefore.count { !inodesAfter.contains($0) }
        outcome.lostRecordings = zip(undamaged, samplesBefore).count { number, samples in
            (WaveContent(path: audio(number))?.samples ?? []) != samples || samples.isEmpty
        }
        if outcome.didRecord, bench.supportsRecover {
            outcome.lostRecordings += unlistedCount(undamaged, in: storage, on: bench)
        }
        return outcome
    }

    /// Returns the number of these recordings that the archive no longer lists.
    private static func unlistedCount(_ recordings: [Int], in storage: String, on bench: Bench) -> Int {
        struct Row: Decodable { var id: Int }
        let result = Program.run(
            [bench.fieldscribe, "list", "--json", "--directory", storage, "--config", "\(bench.folder)/usual.conf"],
            in: bench.folder)
        let rows = (try? JSONDecoder().decode([Row].self, from: Data(result.output.utf8))) ?? []
        return recordings.count { number in !rows.contains { $0.id == number } }
    }

    /// Damages a file, and returns a description of the damage.
    private static func damage(_ path: String, _ random: inout SeededGenerator) throws -> String {
        var content = bytes(of: path)
        let description: String
        switch content.isEmpty ? 4 : Int.random(in: 0...4, using: &random) {
        case 0:
            let count = Int.random(in: 1...64, using: &random)
            for _ in 0..<count {
                // Half of the flipped bits are in the first 512 bytes, because headers matter most.
                let end = Bool.random(using: &random) ? content.count : min(content.count, 512)
                content[Int.random(in: 0..<end, using: &random)] ^= 1 << UInt8.random(in: 0...7, using: &random)
            }
            description = "\(count) bits flipped"
        case 1:
            let length = Int.random(in: 0..<content.count, using: &random)
            content.removeLast(content.count - length)
            description = "cut to \(length) bytes"
        case 2:
            let start = Int.random(in: 0..<content.count, using: &random) & ~4095
            let end = min(content.count, start + 4096)
            for index in start..<end { content[index] = 0 }
            description = "4 KiB at \(start) zeroed"
        case 3:
            for index in content.indices { content[index] = .random(in: 0...255, using: &random) }
            description = "overwritten with noise"
        default:
            content = []
            description = "emptied"
        }
        // Keeps the inode, so that a deletion of the file is detected.
        let file = try FileDescriptor(opening: path, O_WRONLY | O_CREAT | O_TRUNC)
        try content.withUnsafeBytes { try file.write($0) }
        return description
    }

    private static func inode(_ path: String) -> UInt64 {
        var status = stat()
        return lstat(path, &status) == 0 ? UInt64(status.st_ino) : 0
    }
}
