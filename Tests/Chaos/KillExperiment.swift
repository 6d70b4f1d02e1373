import Core
import Glibc
import System
import TestKit

/// Kills recordings at random moments while they are transcribed. Every other kill simulates a power cut.
///
/// The preloaded library counts the samples that the recorder reads, so the loss is exact.
struct KillExperiment {
    /// The number of kills in one storage folder. Each start is also the restart after the previous kill.
    private static let killsPerFolder = 5

    private struct Kill: Sendable {
        var isPowerCut: Bool
        var lostSeconds = 0.0
        /// The longest stall of the machine before the kill, in seconds. It is not the recorder's fault.
        var stalledSeconds = 0.0
        var lostSegments = 0
        var committed = 0
        var restartSeconds = 0.0
        var problem: String?
    }

    let bench: Bench

    func run() async throws -> [Report.Row] {
        var report = Report("kill")
        let count = bench.options.integer("kills", 30)
        let width = bench.options.integer("parallel", 10)
        let seed = UInt64(bench.options.integer("seed", Int.random(in: 1...1_000_000)))
        report.note("seed", "\(seed)")
        let kills = try await self.kills(count, width: width, seed: seed, faults: [:])
        let cuts = kills.filter(\.isPowerCut)
        let plainKills = kills.filter { !$0.isPowerCut }
        report.add(none: "committed segments lost", kills.reduce(0) { $0 + $1.lostSegments }, of: kills.count)
        let committed = kills.reduce(0) { $0 + $1.committed }
        report.add("committed segments reported", target: "at least 1", seen: "\(committed)", isMet: committed > 0)
        report.add(none: "archives or audio damaged", kills.count { $0.problem != nil }, of: kills.count)
        for problem in Set(kills.compactMap(\.problem)).prefix(5) { report.note("problem", problem) }
        for (name, kills) in [("kill -9", plainKills), ("power cut", cuts)] {
            let worst = kills.max { $0.lostSeconds < $1.lostSeconds }
            report.add(
                "\(name): audio lost, maximum of \(kills.count)", target: "1.0 s, plus the machine's stall",
                seen: "\(rounded(worst?.lostSeconds ?? 0)) s, stalled \(rounded(worst?.stalledSeconds ?? 0)) s",
                // wait: counts the lost audio, minus the machine's stall
                isMet: kills.allSatisfy { $0.lostSeconds <= 1 + $0.stalledSeconds })
        }
        let maximumRestart = kills.map(\.restartSeconds).max() ?? 0
        // The duration of a start depends on the machine. Only the long run, on an idle machine, has a target.
        report.add(
            "recording again, maximum", target: bench.options.has("targets") ? "2 s" : "none",
            seen: "\(rounded(maximumRestart)) s", isMet: maximumRestart <= 2 || !bench.options.has("targets"))
        let control = try await self.kills(6, width: width, seed: seed, faults: ["FAULT_SWALLOW": "1"])
        report.add(
            control: "a recorder that never syncs", caught: control.count { $0.isPowerCut && $0.lostSeconds > 1 },
            of: control.count { $0.isPowerCut })
        return report.rows
    }

    private func kills(_ count: Int, width: Int, seed: UInt64, faults: [String: String]) async throws -> [Kill] {
        let killCounts = (0..<((count + Self.killsPerFolder - 1) / Self.killsPerFolder)).map { lane in
            min(Self.killsPerFolder, count - lane * Self.killsPerFolder)
        }
        let bench = bench
        return try await bench.parallel(killCounts, width: width) { lane, killCount in
            var generator = SeededGenerator(seed: seed &+ UInt64(lane))
            let name = "kill-\(faults.count)-\(lane)"
            let work = bench.newFolder(name)
            defer { bench.remove(work) }
            let stalls = MachineStalls(in: work)
            defer { stalls.stop() }
            let storage = bench.newFolder("\(name)/storage")
            var committed: Set<Judgement.Segment> = []
            return try (0..<killCount).map { index in
                try Self.kill(
                    index, of: lane, after: .random(in: 0.05...4, using: &generator), in: work, storage: storage,
                    committed: &committed, faults: faults, stalls: stalls, on: bench)
            }
        }.flatMap { $0 }
    }

    private static func kill(
        _ index: Int, of lane: Int, after seconds: Double, in work: String, storage: String,
        committed: inout Set<Judgement.Segment>, faults: [String: String], stalls: MachineStalls, on bench: Bench
    ) throws -> Kill {
        var kill = Kill(isPowerCut: (index + lane) % 2 == 0 || !faults.isEmpty)
        var faults = faults
        let (state, journal) = ("\(work)/state-\(index)", "\(work)/journal-\(index)")
        faults["FAULT_STATE"] = state
        if kill.isPowerCut { faults["FAULT_JOURNAL"] = journal }
        let existing = recordings(in: storage)
        let began = MonotonicClock.nanoseconds
        let program = try Program(
            bench.recordCommand(to: storage), in: work,
            environment: bench.environment(storage: storage, faults: faults))
        // Some kills come before anything is recorded.
        let waitsForSound = seconds > 0.4
        if waitsForSound {
            try waitUntil("the first audio on the disk", every: .milliseconds(5)) {
                let new = recordings(in: storage).subtracting(existing)
                return !program.isRunning || new.contains { !WaveContent.samples(ofRecording: $0, in: storage).isEmpty }
            }
        }
        if waitsForSound { kill.restartSeconds = Double(MonotonicClock.nanoseconds - began) / 1e9 }
        usleep(UInt32(seconds * 1e6))  // wait: kills at an arbitrary moment
        let killTime = MonotonicClock.nanoseconds
        program.signal(SIGKILL)
        let result = program.wait()
        // A sync that the machine delays may have begun up to two seconds before the kill.
        kill.stalledSeconds = stalls.longest(since: killTime - 2_000_000_000)
        if result.status != -SIGKILL {
            kill.problem = "exited with status \(result.status) before the kill: \(result.errors)"
        }
        let readFrames = ShimState(path: state).frames
        if kill.isPowerCut { _ = try PowerCut(journal: journal, storage: storage).apply() }
        let new = recordings(in: storage).subtracting(existing).max()
        let found = KnownSound.Match(
            in: new.map { WaveContent.samples(ofRecording: $0, in: storage) } ?? [])
        if !found.isValid { kill.problem = "recording \(new ?? 0) contains unknown audio" }
        // Audio also counts as lost if it was read before the first sample reached the disk.
        kill.lostSeconds = Double(max(0, readFrames - found.distinct)) / Double(KnownSound.rate)
        let reported = Set(ReportedEvent.events(in: result.output).compactMap(Judgement.Segment.init))
        committed.formUnion(reported)
        kill.committed = reported.count
        let judgement = Judgement(storage, committed: committed, last: new, on: bench)
        kill.lostSegments = judgement.lostSegments
        kill.problem = kill.problem ?? judgement.archiveProblem
        return kill
    }

    /// Returns the IDs of the recordings that have folders.
    private static func recordings(in storage: String) -> Set<Int> {
        Set(
            files(below: "\(storage)/recordings").compactMap {
                Int($0.dropFirst(storage.utf8.count + "/recordings/".utf8.count).prefix { $0 != "/" })
            })
    }
}
