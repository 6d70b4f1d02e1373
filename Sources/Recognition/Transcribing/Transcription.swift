import Core

/// The state of one transcription: pure, so that its order can be tested without workers.
///
/// Utterances, or groups of them, are begun one after the other, because each starts from the adaptation state that the one before it
/// leaves; they are finished beside each other, and committed in order. Of a group, whatever is told of an utterance here
/// holds for the group as one, which has the number of its first.
struct Transcription {
    /// An utterance on its way through a worker.
    struct Job: Sendable {
        var cut: UtteranceCutter.Cut
        var adaptation: AdaptationState?

        var id: Int { cut.utterance.id }
    }

    /// A stretch around a seam that is to be read across, because neither of its sides has a word in the midst of it.
    struct Bridge: Sendable {
        /// The utterance behind the seam.
        var id: Int
        var start: SamplePosition
        var samples: [Int16]
        var adaptation: AdaptationState?
    }

    /// A reading of an utterance that is not committed yet.
    private struct Heard {
        var job: Job
        var group: UtteranceGroup
        var hypothesis: Hypothesis
        /// What a reading across the seam before it has; nil before there was one.
        var third: [Word]?
    }

    /// The segments of a group, and the adaptation state behind them.
    typealias Committed = (segments: [Segment], adaptation: AdaptationState?)

    /// No more utterances wait for a worker; the rest stays in the recording.
    private static let maxQueued = 2
    /// What is read before and behind a hole at a seam: two seconds, in samples.
    private static let bridgehead = Int64(2 * SamplePosition.rate)

    private(set) var cutter: UtteranceCutter
    private var stitcher: Stitcher
    private var waiting: [UtteranceCutter.Cut] = []
    private var finished: [Int: Heard] = [:]
    /// The utterance that was committed last.
    private var lastCommitted: UtteranceCutter.Cut?
    private var wantedBridge: Bridge?
    /// Whether a seam is to be read across, or is being read, before anything else can be committed.
    private(set) var isBridging = false
    /// Where the speech of each utterance begins that is not committed yet.
    private var uncommitted: [SamplePosition] = []
    private var nextToCommit: Int
    private var isBeginning = false
    private var isReading = false
    private var hasEnded = false
    private var counts = Statistics()

    /// The adaptation state after the last utterance that was begun; where it is fixed, that of the whole recording.
    private(set) var adaptation: AdaptationState?
    private let isAdaptationFixed: Bool
    /// The adaptation state behind each utterance that is begun and not committed.
    private var adaptations: [Int: AdaptationState] = [:]
    /// The last segment that an earlier run has committed. Its utterance is read again for the seam with the next, those
    /// before it are passed over; so the text does not tell where the earlier run was broken off.
    private let committed: Transcriber.Continuation?
    private let start: SamplePosition
    /// Whether that segment came out as it is committed; nil before its utterance is read again.
    private(set) var isContinued: Bool?

    /// - Parameters:
    ///   - adaptation: the adaptation state of the whole recording, where it is known.
    ///   - before: else the adaptation state behind what was transcribed before `start`.
    ///   - committed: the last segment of this very transcription that is committed already.
    init(
        settings: SpeechSettings, groups: GroupSettings = GroupSettings(), start: SamplePosition, firstID: Int,
        adaptation: AdaptationState? = nil, before: AdaptationState? = nil, committed: Transcriber.Continuation? = nil
    ) {
        cutter = UtteranceCutter(
            settings: settings.limited(toSeconds: groups.longestSeconds), groups: groups, start: start, firstID: firstID
        )
        self.start = start
        nextToCommit = max(firstID, committed?.segment ?? 0)
        stitcher = Stitcher(firstID: nextToCommit, committedUpTo: start)
        self.adaptation = adaptation ?? before
        isAdaptationFixed = adaptation != nil
        self.committed = committed
    }

    var statistics: Statistics {
        var counts = counts
        counts.seams = stitcher.seams
        return counts
    }

    /// Everything before this position is committed, or is silence.
    var settledWatermark: SamplePosition { uncommitted.first ?? (hasEnded ? cutter.end : cutter.settledWatermark) }

    /// Takes what was read, nil at the end; returns the places where sessions were rotated.
    mutating func take(_ chunk: AudioChunk?) -> [SamplePosition] {
        isReading = false
        if chunk == nil { hasEnded = true }
        let cuts = chunk.map { cutter.take($0) } ?? cutter.finish()
        let new = cuts.filter { $0.group.last.id >= nextToCommit }
        if let first = new.first?.group.first.id, first < nextToCommit {
            // An earlier run was broken off within this group: it is read again as a whole.
            nextToCommit = first
            stitcher = Stitcher(firstID: first, committedUpTo: start)
        }
        waiting += new
        uncommitted += new.map(\.utterance.speech.start)
        counts.audioSeconds = cutter.end.seconds
        counts.speechSeconds += cuts.flatMap(\.group.utterances).reduce(0) { $0 + $1.speech.seconds }
        return cuts.filter { $0.utterance.endedBy == .rotation }.map(\.utterance.speech.end)
    }

    /// Whether the next chunk should be read now; if so, `take` must follow.
    mutating func beginsReading() -> Bool {
        guard !isReading, !hasEnded, waiting.count < Self.maxQueued else { return false }
        isReading = true
        return true
    }

    /// The utterance to begin now; `begun` must follow.
    mutating func nextJob() -> Job? {
        guard !isBeginning, !waiting.isEmpty else { return nil }
        isBeginning = true
        return Job(cut: waiting.removeFirst(), adaptation: adaptation)
    }

    /// The number of the utterance that is to be begun next, once it is complete; nil while another is to be begun before
    /// it, so that its adaptation state is not known yet.
    var nextToBegin: Int? {
        isBeginning || !waiting.isEmpty ? nil : cutter.speaking.flatMap { $0.id >= nextToCommit ? $0.id : nil }
    }

    /// Says that the utterance was begun, or that this failed; the next may follow.
    mutating func begun(_ job: Job, adaptation after: AdaptationState?) {
        isBeginning = false
        if !isAdaptationFixed { adaptation = after ?? adaptation }
        adaptations[job.id] = adaptation
    }

    /// The segments that can be committed now that this utterance is read.
    mutating func finished(_ job: Job, _ decoded: WorkerPool.Decoded) -> [Committed] {
        count(decoded)
        var hypothesis = decoded.hypothesis
        hypothesis.words = Self.words(of: decoded, from: job.cut.utterance.audio.start)
        finished[job.id] = Heard(job: job, group: job.cut.group, hypothesis: hypothesis)
        return commit()
    }

    /// The segments that can be committed now that this utterance cannot be read.
    mutating func failed(_ job: Job) -> [Committed] {
        finished[job.id] = Heard(job: job, group: job.cut.group.failed, hypothesis: Hypothesis())
        return commit()
    }

    /// The seam to read across now; `bridged` must follow.
    mutating func nextBridge() -> Bridge? {
        defer { wantedBridge = nil }
        return wantedBridge
    }

    /// The segments that can be committed now that a seam is read across; nil where that failed, and the seam stays as its
    /// two sides have it.
    mutating func bridged(_ bridge: Bridge, _ decoded: WorkerPool.Decoded?) -> [Committed] {
        isBridging = false
        if let decoded { count(decoded) }
        finished[bridge.id]?.third = decoded.map { Self.words(of: $0, from: bridge.start) } ?? []
        return commit()
    }

    private mutating func count(_ decoded: WorkerPool.Decoded) {
        counts.cpuSeconds += decoded.cpuSeconds
        counts.sessions += decoded.attempts
    }

    /// What was decoded, by the time of the recording.
    private static func words(of decoded: WorkerPool.Decoded, from start: SamplePosition) -> [Word] {
        decoded.hypothesis.words.map { word in
            var word = word
            word.range = SampleRange(word.range.start + start.samples, word.range.end + start.samples)
            return word
        }
    }

    private mutating func commit() -> [Committed] {
        var groups: [Committed] = []
        while !isBridging, let heard = finished[nextToCommit] {
            wantedBridge = bridge(to: heard)
            isBridging = wantedBridge != nil
            guard !isBridging else { break }
            finished[nextToCommit] = nil
            lastCommitted = heard.job.cut
            let segments = stitcher.handle(heard.group, heard.hypothesis, third: heard.third ?? [])
            let adaptation = adaptations.removeValue(forKey: nextToCommit)
            if let committed, let last = segments.first(where: { $0.id == committed.segment }) {
                isContinued = last.range.end == committed.end
            }
            let new = segments.filter { $0.id > committed?.segment ?? 0 }
            if isContinued != false, !new.isEmpty { groups.append((new, adaptation)) }
            uncommitted.removeFirst()
            nextToCommit += segments.count
        }
        return groups
    }

    /// What is to be read across the seam before an utterance; nil where it has no hole, or was read across already.
    private func bridge(to heard: Heard) -> Bridge? {
        guard heard.third == nil, let before = lastCommitted,
            let hole = stitcher.hole(before: heard.group.whole, heard.hypothesis)
        else { return nil }
        let (left, right) = (before.utterance.audio, heard.group.whole.audio)
        let start = max(left.start, hole.start - Self.bridgehead)
        let end = min(right.end, hole.end + Self.bridgehead)
        let head = before.samples.dropFirst(Int(start - left.start)).prefix(Int(max(0, right.start - start)))
        let tail = heard.job.cut.samples.dropFirst(Int(max(0, start - right.start)))
            .prefix(Int(max(0, end - max(start, right.start))))
        return Bridge(id: heard.job.id, start: start, samples: Array(head + tail), adaptation: heard.job.adaptation)
    }
}
