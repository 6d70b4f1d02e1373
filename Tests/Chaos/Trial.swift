import Glibc

/// A recording of known length with a fault, and the result.
struct Trial: Sendable {
    static let seconds = 2
    /// The timeout in seconds.
    static let timeout = Double(seconds) + 60

    /// The fault's description.
    var name: String
    /// Whether the fault occurred.
    var didOccur = false
    var lostSegments = 0
    var committed = 0
    /// Whether the program did not exit before the timeout.
    var didHang = false
    /// Whether the program was killed by a signal.
    var didCrash = false
    /// Whether audio is missing without an error status, event or gap.
    var isSilent = false
    /// Whether the program failed without a message.
    var lacksMessage = false
    /// The damage on the disk; nil if there is none.
    var problem: String?
    /// The seconds of audio that were read, but are neither in the recording nor in a gap.
    var lostSeconds = 0.0
    /// Whether the recording ended before all audio was recorded.
    var endedEarly = false
    /// Whether the exit status was 0.
    var succeeded = false

    /// Whether anything is wrong.
    var hasFailed: Bool { lostSegments > 0 || didHang || didCrash || isSilent || lacksMessage || problem != nil }

    init(_ name: String) { self.name = name }

    /// Records with faults, and checks the result.
    init(_ name: String, number: Int, faults: [String: String], on bench: Bench) throws {
        self.init(name)
        let work = bench.newFolder("trial-\(number)")
        defer { bench.remove(work) }
        let storage = bench.newFolder("trial-\(number)/storage")
        let isKill = faults["FAULT_ERROR"] == "KILL"
        var faults = faults
        faults["FAULT_STATE"] = "\(work)/state"
        if isKill { faults["FAULT_JOURNAL"] = "\(work)/journal" }
        let program = try Program(
            bench.record(to: storage, seconds: Self.seconds, configuration: "often"), in: work,
            environment: bench.environment(storage: storage, faults: faults))
        let result = program.wait(seconds: Self.timeout)
        let state = ShimState(path: "\(work)/state")
        didOccur = state.raised > 0
        if isKill, didOccur { _ = try PowerCut(journal: "\(work)/journal", storage: storage).apply() }
        judge(result, isKill: isKill && didOccur, storage: storage, recording: 1, state: state, on: bench)
    }

    /// Compares the audio that was read, and the reported events, with the archive.
    mutating func judge(
        _ result: Program.ExitResult, isKill: Bool, storage: String, recording: Int, state: ShimState, on bench: Bench
    ) {
        didHang = result.didHang
        didCrash = result.status < 0 && !isKill && !result.didHang
        succeeded = result.status == 0
        lacksMessage = result.status > 0 && !result.errors.contains("fieldscribe: ")
        let events = ReportedEvent.events(in: result.output)
        let segments = Set(events.compactMap(Judgement.Segment.init))
        committed = segments.count
        let judgement = Judgement(storage, committed: segments, last: recording, on: bench)
        lostSegments = judgement.lostSegments
        problem = judgement.archiveProblem
        let found = KnownSound.Match(in: WaveContent.samples(ofRecording: recording, in: storage))
        if !found.isValid { problem = problem ?? "the recording contains unknown audio" }
        let expected = min(state.frames, Self.seconds * KnownSound.rate)
        // A reopened microphone plays the sound from the start again.
        let recorded = state.opens > 1 ? found.total : found.distinct
        lostSeconds = Double(max(0, expected - recorded)) / Double(KnownSound.rate)
        let isReported = result.status != 0 || events.contains { ["fault", "gap"].contains($0.event) }
        endedEarly = expected < Self.seconds * KnownSound.rate && !isKill
        isSilent = !isReported && !isKill && (lostSeconds > 0 || endedEarly)
        // The archive must have the reported gaps with the same length.
        let reported = events.filter { $0.event == "gap" }.reduce(0) { $0 + ($1.end ?? 0) - ($1.start ?? 0) }
        if problem == nil, succeeded, abs(reported - judgement.gapSeconds) > 0.001 {
            problem = "gaps of \(reported) s were reported, but the archive has \(judgement.gapSeconds) s"
        }
    }

    /// Adds the rows that all experiments with trials have in common.
    static func report(_ trials: [Trial], into report: inout Report) {
        let hit = trials.filter(\.didOccur)
        report.add(none: "committed segments lost", trials.reduce(0) { $0 + $1.lostSegments }, of: trials.count)
        report.note("committed segments reported", "\(trials.reduce(0) { $0 + $1.committed })")
        report.add(none: "did not exit within 60 s", trials.count { $0.didHang }, of: trials.count)
        report.add(none: "crashed", trials.count { $0.didCrash }, of: trials.count)
        report.add(none: "silent loss", trials.count { $0.isSilent }, of: trials.count)
        report.add(none: "failed without a message", trials.count { $0.lacksMessage }, of: trials.count)
        report.add(none: "audio or archive damaged", trials.count { $0.problem != nil }, of: trials.count)
        report.note("faults that occurred", "\(hit.count) of \(trials.count)")
        report.note("exited with status 0 nevertheless", "\(hit.count { $0.succeeded })")
        report.note("recordings that ended early or never started", "\(hit.count { $0.endedEarly })")
        let kills = hit.filter { $0.name.hasPrefix("KILL") }
        if !kills.isEmpty {
            let maximumLoss = kills.map(\.lostSeconds).max() ?? 0
            report.add(
                "power cut at each call: audio lost, maximum of \(kills.count)", target: "1.0 s",
                seen: "\(rounded(maximumLoss)) s", isMet: maximumLoss <= 1)
        }
        report.note(
            "audio lost with a report, maximum",
            "\(rounded(hit.filter { !$0.name.hasPrefix("KILL") }.map(\.lostSeconds).max() ?? 0)) s")
        for trial in trials.filter(\.hasFailed).prefix(12) { report.note("bad", trial.description) }
    }
}

extension Trial: CustomStringConvertible {
    var description: String {
        let problems = [
            lostSegments > 0 ? "\(lostSegments) segments lost" : nil, didHang ? "hung" : nil,
            didCrash ? "crashed" : nil, isSilent ? "\(rounded(lostSeconds)) s lost silently" : nil,
            lacksMessage ? "no message" : nil, problem,
        ]
        return "\(name): " + problems.compactMap(\.self).joined(separator: ", ")
    }
}
