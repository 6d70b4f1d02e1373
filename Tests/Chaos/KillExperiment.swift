import Core
import Glibc
import System
import TestKit

/// Kills real recordings with transcription at random moments; every other one as a power cut.
///
/// The preloaded library counts the samples at the read call, so the loss is known to the sample.
struct KillExperiment {
    /// Kills one after the other in one storage folder; each start is also the restart after the previous kill.
    private static let killsInFolder = 5

    private struct Kill: Sendable {
        var isPowerCut: Bool
        var lostSeconds = 0.0
        /// The machine's stall at that time, which does not count as the recorder's loss.
        var stalledSeconds = 0.0
        var lostSegments = 0
        var committed = 0
        var restartSeconds = 0.0
        var complaint: String?
    }

    let bench: Bench

    func run() async throws -> [Report.Row] {
        var report = Report("kill")
        let count = bench.options.number("kills", 30)
        let width = bench.options.number("parallel", 10)
        let seed = UInt64(bench.options.number("seed", Int.random(in: 1...1_000_000)))
        report.note("seed", "\(seed)")
        let kills = try await self.kills(count, width: width, seed: seed, faults: [:])
        let cuts = kills.filter(\.isPowerCut)
        let plain = kills.filter { !$0.isPowerCut }
        report.add(none: "committed segments lost", kills.reduce(0) { $0 + $1.lostSegments }, of: kills.count)
        report.note("committed segments reported", "\(kills.reduce(0) { $0 + $1.committed })")
        report.add(none: "archives or audio damaged", kills.count { $0.complaint != nil }, of: kills.count)
        for complaint in Set(kills.compactMap(\.complaint)).prefix(5) { report.note("complaint", complaint) }
        for (name, kills) in [("kill -9", plain), ("power cut", cuts)] {
            let worst = kills.max { $0.lostSeconds < $1.lostSeconds }
            report.add(
                "\(name): audio lost, worst of \(kills.count)", target: "1.0 s, plus the machine's stall",
                seen: "\(rounded(worst?.lostSeconds ?? 0)) s, stalled \(rounded(worst?.stalledSeconds ?? 0)) s",
                // wait: counts lost sound, minus the machine's stall
                isMet: kills.allSatisfy { $0.lostSeconds <= 1 + $0.stalledSeconds })
        }
        let restart = kills.map(\.restartSeconds).max() ?? 0
        // How long a start takes depends on the machine; the long form runs on a quiet one.
        report.add(
            "recording again, worst", target: bench.options.has("targets") ? "2 s" : "none",
            seen: "\(rounded(restart)) s", isMet: restart <= 2 || !bench.options.has("targets"))
        let control = try await self.kills(6, width: width, seed: seed, faults: ["FAULT_SWALLOW": "1"])
        report.add(
            control: "a recorder that never syncs", caught: control.count { $0.isPowerCut && $0.lostSeconds > 1 },
            of: control.count { $0.isPowerCut })
        return report.rows
    }

    private func kills(_ count: Int, width: Int, seed: UInt64, faults: [String: String]) async throws -> [Kill] {
        let lanes = (0..<((count + Self.killsInFolder - 1) / Self.killsInFolder)).map { lane in
            min(Self.killsInFolder, count - lane * Self.killsInFolder)
        }
        let bench = bench
        return try await bench.parallel(lanes, width: width) { lane, kills in
            var generator = SeededGenerator(seed: seed &+ UInt64(lane))
            let name = "kill-\(faults.count)-\(lane)"
            let work = bench.newFolder(name)
            defer { bench.remove(work) }
            let stalls = MachineStalls(in: work)
            defer { stalls.end() }
            let storage = bench.newFolder("\(name)/storage")
            var committed: Set<Judgement.Segment> = []
            return try (0..<kills).map { turn in
                try Self.kill(
                    turn, of: lane, after: .random(in: 0.05...4, using: &generator), in: work, storage: storage,
                    committed: &committed, faults: faults, stalls: stalls, on: bench)
            }
        }.flatMap { $0 }
    }

    private static func kill(
        _ turn: Int, of lane: Int, after seconds: Double, in work: String, storage: String,
        committed: inout Set<Judgement.Segment>, faults: [String: String], stalls: MachineStalls, on bench: Bench
    ) throws -> Kill {
        var kill = Kill(isPowerCut: (turn + lane) % 2 == 0 || !faults.isEmpty)
        var faults = faults
        let (state, journal) = ("\(work)/state-\(turn)", "\(work)/journal-\(turn)")
        faults["FAULT_STATE"] = state
        if kill.isPowerCut { faults["FAULT_JOURNAL"] = journal }
        let known = recordings(in: storage)
        let began = MonotonicClock.nanoseconds
        let program = try Program(
            bench.record(to: storage), in: work, environment: bench.environment(storage: storage, faults: faults))
        // Some kills happen before there is anything to lose.
        let starts = seconds > 0.4
        if starts {
            try waitUntil("the first sound on the disk", every: .milliseconds(5)) {
                let new = recordings(in: storage).subtracting(known)
                return !program.isRunning || new.contains { !WaveContent.samples(ofRecording: $0, in: storage).isEmpty }
            }
        }
        if starts { kill.restartSeconds = Double(MonotonicClock.nanoseconds - began) / 1e9 }
        usleep(UInt32(seconds * 1e6))  // wait: kills at an arbitrary moment
        let killed = MonotonicClock.nanoseconds
        program.signal(SIGKILL)
        let ending = program.wait()
        // A late sync began within the previous two seconds.
        kill.stalledSeconds = stalls.worst(since: killed - 2_000_000_000)
        if ending.status != -SIGKILL { kill.complaint = "ended with \(ending.status) before: \(ending.errors)" }
        let fed = ShimState(path: state).frames
        if kill.isPowerCut { _ = try PowerCut(journal: journal, storage: storage).apply() }
        let new = recordings(in: storage).subtracting(known).max()
        let found = KnownSound.Found(
            in: new.map { WaveContent.samples(ofRecording: $0, in: storage) } ?? [])
        if !found.isValid { kill.complaint = "recording \(new ?? 0) contains other sound" }
        // The sound captured while the recorder started counts as loss, too.
        kill.lostSeconds = Double(max(0, fed - found.distinct)) / Double(KnownSound.rate)
        let reported = Set(Told.events(in: ending.output).compactMap(Judgement.Segment.init))
        committed.formUnion(reported)
        kill.committed = reported.count
        let judgement = Judgement(storage, committed: committed, last: new, on: bench)
        kill.lostSegments = judgement.lostSegments
        kill.complaint = kill.complaint ?? judgement.archive
        return kill
    }

    /// The numbers of the recordings with folders.
    private static func recordings(in storage: String) -> Set<Int> {
        Set(
            files(below: "\(storage)/recordings").compactMap {
                Int($0.dropFirst(storage.utf8.count + "/recordings/".utf8.count).prefix { $0 != "/" })
            })
    }
}
