import Glibc

/// A recording of known length with a fault, and the result.
struct Trial: Sendable {
    static let seconds = 2
    /// Seconds after which it counts as hung.
    static let timeout = Double(seconds) + 60

    /// The fault's description.
    var name: String
    /// Whether the fault occurred.
    var wasHit = false
    var lostSegments = 0
    var committed = 0
    var hung = false
    /// Ended by a signal.
    var crashed = false
    /// Audio is missing without an exit status, event or gap.
    var isSilent = false
    /// Failed without a line that says why.
    var isWordless = false
    /// A description of the damage on the disk.
    var complaint: String?
    /// Seconds that were read, but are neither in the recording nor in a gap.
    var lostSeconds = 0.0
    /// Ended before everything was recorded.
    var endedEarly = false
    /// Whether it ended with status 0.
    var succeeded = false

    /// Whether anything is wrong.
    var isBad: Bool { lostSegments > 0 || hung || crashed || isSilent || isWordless || complaint != nil }

    init(_ name: String) { self.name = name }

    /// Records with faults, and judges the result.
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
        let ending = program.wait(seconds: Self.timeout)
        let state = ShimState(path: "\(work)/state")
        wasHit = state.raised > 0
        if isKill, wasHit { _ = try PowerCut(journal: "\(work)/journal", storage: storage).apply() }
        judge(ending, isKill: isKill && wasHit, storage: storage, recording: 1, state: state, on: bench)
    }

    /// Compares the sound that was read and the reported events with the archive.
    mutating func judge(
        _ ending: Program.Ending, isKill: Bool, storage: String, recording: Int, state: ShimState, on bench: Bench
    ) {
        hung = ending.hung
        crashed = ending.status < 0 && !isKill && !ending.hung
        succeeded = ending.status == 0
        isWordless = ending.status > 0 && !ending.errors.contains("fieldscribe: ")
        let events = Told.events(in: ending.output)
        let segments = Set(events.compactMap(Judgement.Segment.init))
        committed = segments.count
        let judgement = Judgement(storage, committed: segments, last: recording, on: bench)
        lostSegments = judgement.lostSegments
        complaint = judgement.archive
        let found = KnownSound.Found(in: WaveContent.samples(ofRecording: recording, in: storage))
        if !found.isValid { complaint = complaint ?? "the recording contains other sound" }
        let wanted = min(state.frames, Self.seconds * KnownSound.rate)
        // A reopened microphone plays from the start; otherwise nothing counts twice.
        let kept = state.opens > 1 ? found.total : found.distinct
        lostSeconds = Double(max(0, wanted - kept)) / Double(KnownSound.rate)
        let isTold = ending.status != 0 || events.contains { ["fault", "gap"].contains($0.event) }
        endedEarly = wanted < Self.seconds * KnownSound.rate && !isKill
        isSilent = !isTold && !isKill && (lostSeconds > 0 || endedEarly)
        // A reported gap is in the archive as well, and has the same length in the file.
        let reported = events.filter { $0.event == "gap" }.reduce(0) { $0 + ($1.end ?? 0) - ($1.start ?? 0) }
        if complaint == nil, succeeded, abs(reported - judgement.gapSeconds) > 0.001 {
            complaint = "gaps of \(reported) s were reported, \(judgement.gapSeconds) s are in the archive"
        }
    }

    /// The rows that all experiments with trials have.
    static func report(_ trials: [Trial], into report: inout Report) {
        let hit = trials.filter(\.wasHit)
        report.add(none: "committed segments lost", trials.reduce(0) { $0 + $1.lostSegments }, of: trials.count)
        report.note("committed segments reported", "\(trials.reduce(0) { $0 + $1.committed })")
        report.add(none: "hung over 60 s", trials.count { $0.hung }, of: trials.count)
        report.add(none: "crashed", trials.count { $0.crashed }, of: trials.count)
        report.add(none: "silent loss", trials.count { $0.isSilent }, of: trials.count)
        report.add(none: "failed without a message", trials.count { $0.isWordless }, of: trials.count)
        report.add(none: "audio or archive damaged", trials.count { $0.complaint != nil }, of: trials.count)
        report.note("faults that occurred", "\(hit.count) of \(trials.count)")
        report.note("ended with status 0 nevertheless", "\(hit.count { $0.succeeded })")
        report.note("a recording that ended early, or never began", "\(hit.count { $0.endedEarly })")
        let kills = hit.filter { $0.name.hasPrefix("KILL") }
        if !kills.isEmpty {
            let worst = kills.map(\.lostSeconds).max() ?? 0
            report.add(
                "power cut at each call: audio lost, worst of \(kills.count)", target: "1.0 s",
                seen: "\(rounded(worst)) s", isMet: worst <= 1)
        }
        report.note(
            "audio lost with a report, worst",
            "\(rounded(hit.filter { !$0.name.hasPrefix("KILL") }.map(\.lostSeconds).max() ?? 0)) s")
        for trial in trials.filter(\.isBad).prefix(12) { report.note("bad", trial.description) }
    }
}

extension Trial: CustomStringConvertible {
    var description: String {
        let words = [
            lostSegments > 0 ? "\(lostSegments) segments lost" : nil, hung ? "hung" : nil, crashed ? "crashed" : nil,
            isSilent ? "\(rounded(lostSeconds)) s lost silently" : nil, isWordless ? "no message" : nil, complaint,
        ]
        return "\(name): " + words.compactMap(\.self).joined(separator: ", ")
    }
}
