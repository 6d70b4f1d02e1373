import Glibc

/// The result of a short recording with an injected fault.
struct Trial: Sendable {
    static let seconds = 2
    /// The maximum number of seconds until the program exits.
    static let timeout = Double(seconds) + 60

    /// The description of the fault.
    var name: String
    var didOccur = false
    var lostSegments = 0
    var committedSegments = 0
    /// Whether the program did not exit before the timeout.
    var didHang = false
    /// Whether the program was killed by a signal.
    var didCrash = false
    /// Whether audio is missing although neither the status nor an event reports that.
    var isSilent = false
    /// Whether the program failed without a message.
    var lacksMessage = false
    /// The problem with the archive or the audio; nil if there is none.
    var problem: String?
    /// The seconds of audio that the program read, but that are not in the recording.
    var lostSeconds = 0.0
    /// Whether the program read less audio than it was asked to record.
    var endedEarly = false
    /// Whether the exit status was 0.
    var succeeded = false

    var hasFailed: Bool { lostSegments > 0 || didHang || didCrash || isSilent || lacksMessage || problem != nil }

    init(_ name: String) { self.name = name }

    /// Records with faults, and checks the result.
    init(_ name: String, index: Int, faults: [String: String], on bench: Bench) throws {
        self.init(name)
        let work = bench.newFolder("trial-\(index)")
        defer { bench.remove(work) }
        let storage = bench.newFolder("trial-\(index)/storage")
        let isKill = faults["FAULT_ERROR"] == "KILL"
        var faults = faults
        faults["FAULT_STATE"] = "\(work)/state"
        if isKill { faults["FAULT_JOURNAL"] = "\(work)/journal" }
        let program = try Program(
            bench.recordCommand(to: storage, seconds: Self.seconds, configuration: "often"), in: work,
            environment: bench.environment(storage: storage, faults: faults))
        let result = program.wait(seconds: Self.timeout)
        let state = ShimState(path: "\(work)/state")
        didOccur = state.raised > 0
        if isKill, didOccur { _ = try PowerCut(journal: "\(work)/journal", storage: storage).apply() }
        judge(result, isKill: isKill && didOccur, storage: storage, recording: 1, state: state, on: bench)
    }

    /// Compares the archive with the audio that the program read and with the events that it reported.
    mutating func judge(
        _ result: Program.ExitResult, isKill: Bool, storage: String, recording: Int, state: ShimState, on bench: Bench
    ) {
        didHang = result.didHang
        didCrash = result.status < 0 && !isKill && !result.didHang
        succeeded = result.status == 0
        lacksMessage = result.status > 0 && !result.errors.contains("fieldscribe: ")
        let events = ReportedEvent.events(in: result.output)
        let segments = Set(events.compactMap(Judgement.Segment.init))
        committedSegments = segments.count
        let judgement = Judgement(storage, committed: segments, last: recording, on: bench)
        lostSegments = judgement.lostSegments
        problem = judgement.archiveProblem
        let found = KnownSound.Match(in: WaveContent.samples(ofRecording: recording, in: storage))
        if !found.isValid { problem = problem ?? "the recording contains unknown audio" }
        let expected = min(state.frames, Self.seconds * KnownSound.rate)
        // A reopened microphone plays the sound from the start again.
        let recorded = state.microphoneOpenings > 1 ? found.total : found.distinct
        lostSeconds = Double(max(0, expected - recorded)) / Double(KnownSound.rate)
        let isReported = result.status != 0 || events.contains { ["fault", "gap"].contains($0.event) }
        endedEarly = expected < Self.seconds * KnownSound.rate && !isKill
        isSilent = !isReported && !isKill && (lostSeconds > 0 || endedEarly)
        // The gaps in the archive must have the same total length as the reported ones.
        let reportedGapSeconds = events.filter { $0.event == "gap" }.reduce(0) { $0 + ($1.end ?? 0) - ($1.start ?? 0) }
        if problem == nil, succeeded, abs(reportedGapSeconds - judgement.gapSeconds) > 0.001 {
            problem = "gaps of \(reportedGapSeconds) s were reported, but the archive has \(judgement.gapSeconds) s"
        }
    }

    /// Adds the rows that all experiments with trials have in common.
    static func report(_ trials: [Trial], into report: inout Report) {
        let affected = trials.filter(\.didOccur)
        report.add(none: "committed segments lost", trials.reduce(0) { $0 + $1.lostSegments }, of: trials.count)
        report.note("committed segments reported", "\(trials.reduce(0) { $0 + $1.committedSegments })")
        report.add(none: "did not exit within \(Int(timeout)) s", trials.count { $0.didHang }, of: trials.count)
        report.add(none: "crashed", trials.count { $0.didCrash }, of: trials.count)
        report.add(none: "silent loss", trials.count { $0.isSilent }, of: trials.count)
        report.add(none: "failed without a message", trials.count { $0.lacksMessage }, of: trials.count)
        report.add(none: "audio or archive damaged", trials.count { $0.problem != nil }, of: trials.count)
        report.note("faults that occurred", "\(affected.count) of \(trials.count)")
        report.note("exited with status 0 nevertheless", "\(affected.count { $0.succeeded })")
        report.note("recordings that ended early or never started", "\(affected.count { $0.endedEarly })")
        let kills = affected.filter { $0.name.hasPrefix("KILL") }
        if !kills.isEmpty {
            let maximumLoss = kills.map(\.lostSeconds).max() ?? 0
            report.add(
                "power cut at each call: audio lost, maximum of \(kills.count)", target: "1.0 s",
                seen: "\(rounded(maximumLoss)) s", isMet: maximumLoss <= 1)
        }
        report.note(
            "audio lost with a report, maximum",
            "\(rounded(affected.filter { !$0.name.hasPrefix("KILL") }.map(\.lostSeconds).max() ?? 0)) s")
        for trial in trials.filter(\.hasFailed).prefix(12) { report.note("failure", trial.description) }
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
