import Core

/// The state of one transcription, without side effects, so that tests need no workers.
///
/// Utterances start one after another, because each starts from the adaptation state after the previous one. They
/// finish concurrently, and are committed in order. A group of utterances counts as one, with the ID of its first
/// utterance.
struct Transcription {
    struct Job: Sendable {
        var cut: UtteranceCutter.Cut
        var adaptation: AdaptationState?

        var id: Int { cut.utterance.id }
    }

    /// Audio around a hole, a range without words at the seam between two utterances. The audio is decoded again to
    /// find missing words.
    struct Bridge: Sendable {
        var id: Int
        var start: SamplePosition
        var samples: [Int16]
        var adaptation: AdaptationState?
    }

    /// An utterance that was decoded but is not committed yet.
    private struct DecodedUtterance {
        var job: Job
        var group: UtteranceGroup
        var hypothesis: Hypothesis
        /// The words decoded across the preceding seam; nil until the seam is decoded.
        var bridge: [Word]?
    }

    /// The segments of a group and the adaptation state after them.
    typealias Committed = (segments: [Segment], adaptation: AdaptationState?)

    /// Reading pauses while this many utterances wait for a worker. Later audio stays in the recording.
    private static let maxQueued = 2
    /// The number of samples to decode before and after a hole at a seam: 2 s.
    private static let bridgeMargin = Int64(2 * SamplePosition.rate)

    private(set) var cutter: UtteranceCutter
    private var stitcher: Stitcher
    private var queue: [UtteranceCutter.Cut] = []
    private var decodedUtterances: [Int: DecodedUtterance] = [:]
    private var lastCommitted: UtteranceCutter.Cut?
    private var pendingBridge: Bridge?
    /// Whether commits wait for a seam to be decoded.
    private(set) var isBridging = false
    /// The start of speech in each uncommitted group, in order.
    private var uncommittedStarts: [SamplePosition] = []
    private var nextIDToCommit: Int
    private var isStartingJob = false
    private var isReading = false
    private var hasEnded = false
    private var counts = Statistics()

    /// The state after the last started utterance or, if it is fixed, the state for the whole recording.
    private(set) var adaptation: AdaptationState?
    private let isAdaptationFixed: Bool
    /// The state after each started but uncommitted utterance, by utterance ID.
    private var adaptations: [Int: AdaptationState] = [:]
    /// The last segment that an earlier run committed. Its utterance is decoded again for the seam with the next
    /// utterance; earlier utterances are skipped. An interruption therefore does not change the text.
    private let committed: Transcriber.Continuation?
    private let start: SamplePosition
    /// Whether the segment decoded again ends where `committed` ends; nil until it is decoded.
    private(set) var isContinued: Bool?

    /// - Parameters:
    ///   - adaptation: the state for the whole recording, if known.
    ///   - before: the state after the audio before `start`, which is used if `adaptation` is nil.
    ///   - committed: the last segment that an earlier run committed.
    init(
        settings: SpeechSettings, groups: GroupSettings = GroupSettings(), start: SamplePosition, firstID: Int,
        adaptation: AdaptationState? = nil, before: AdaptationState? = nil, committed: Transcriber.Continuation? = nil
    ) {
        cutter = UtteranceCutter(
            settings: settings.limited(toSeconds: groups.maximumSeconds), groups: groups, start: start, firstID: firstID
        )
        self.start = start
        nextIDToCommit = max(firstID, committed?.segment ?? 0)
        stitcher = Stitcher(firstID: nextIDToCommit, committedUpTo: start)
        self.adaptation = adaptation ?? before
        isAdaptationFixed = adaptation != nil
        self.committed = committed
    }

    var statistics: Statistics {
        var counts = counts
        counts.seams = stitcher.seams
        return counts
    }

    /// The position before which everything is committed or silent.
    var settledWatermark: SamplePosition {
        uncommittedStarts.first ?? (hasEnded ? cutter.end : cutter.settledWatermark)
    }

    /// Handles a chunk, or nil at the end, and returns the positions where long utterances were cut during speech.
    mutating func append(_ chunk: AudioChunk?) -> [SamplePosition] {
        isReading = false
        if chunk == nil { hasEnded = true }
        let cuts = chunk.map { cutter.append($0) } ?? cutter.finish()
        let new = cuts.filter { $0.group.last.id >= nextIDToCommit }
        if let first = new.first?.group.first.id, first < nextIDToCommit {
            // An earlier run was interrupted within this group, so decode the whole group again.
            nextIDToCommit = first
            stitcher = Stitcher(firstID: first, committedUpTo: start)
        }
        queue += new
        uncommittedStarts += new.map(\.utterance.speech.start)
        counts.audioSeconds = cutter.end.seconds
        counts.speechSeconds += cuts.flatMap(\.group.utterances).reduce(0) { $0 + $1.speech.seconds }
        return cuts.filter { $0.utterance.endedBy == .rotation }.map(\.utterance.speech.end)
    }

    /// Returns whether to read the next chunk now. If so, `append` must follow.
    mutating func beginReading() -> Bool {
        guard !isReading, !hasEnded, queue.count < Self.maxQueued else { return false }
        isReading = true
        return true
    }

    /// Returns the utterance to start now, if any; `recordStart` must follow.
    mutating func nextJob() -> Job? {
        guard !isStartingJob, !queue.isEmpty else { return nil }
        isStartingJob = true
        return Job(cut: queue.removeFirst(), adaptation: adaptation)
    }

    /// The ID of the utterance that may start while it is spoken; nil if there is none, or if an earlier utterance must
    /// start first, because the adaptation state after it is not known yet.
    var nextToBegin: Int? {
        isStartingJob || !queue.isEmpty ? nil : cutter.speaking.flatMap { $0.id >= nextIDToCommit ? $0.id : nil }
    }

    /// Records that an utterance has started or failed to start, so that the next one may start.
    mutating func recordStart(of job: Job, adaptation after: AdaptationState?) {
        isStartingJob = false
        if !isAdaptationFixed { adaptation = after ?? adaptation }
        adaptations[job.id] = adaptation
    }

    /// Records an utterance's result and returns the segments that can now be committed.
    mutating func finish(_ job: Job, _ decoded: WorkerPool.Decoded) -> [Committed] {
        count(decoded)
        var hypothesis = decoded.hypothesis
        hypothesis.words = Self.words(of: decoded, from: job.cut.utterance.audio.start)
        decodedUtterances[job.id] = DecodedUtterance(job: job, group: job.cut.group, hypothesis: hypothesis)
        return commit()
    }

    /// Records that an utterance failed and returns the segments that can now be committed.
    mutating func fail(_ job: Job) -> [Committed] {
        decodedUtterances[job.id] = DecodedUtterance(job: job, group: job.cut.group.failed, hypothesis: Hypothesis())
        return commit()
    }

    /// Returns the seam to decode now, if any; `finish` must follow.
    mutating func nextBridge() -> Bridge? {
        defer { pendingBridge = nil }
        return pendingBridge
    }

    /// Records a seam's result and returns the segments that can now be committed.
    ///
    /// - Parameter decoded: the result; nil if decoding failed, in which case the seam is stitched without it.
    mutating func finish(_ bridge: Bridge, _ decoded: WorkerPool.Decoded?) -> [Committed] {
        isBridging = false
        if let decoded { count(decoded) }
        decodedUtterances[bridge.id]?.bridge = decoded.map { Self.words(of: $0, from: bridge.start) } ?? []
        return commit()
    }

    private mutating func count(_ decoded: WorkerPool.Decoded) {
        counts.cpuSeconds += decoded.cpuSeconds
        counts.sessions += decoded.attempts
    }

    /// Returns the decoded words with positions in the recording.
    private static func words(of decoded: WorkerPool.Decoded, from start: SamplePosition) -> [Word] {
        decoded.hypothesis.words.map { word in
            var word = word
            word.range = SampleRange(word.range.start + start.samples, word.range.end + start.samples)
            return word
        }
    }

    private mutating func commit() -> [Committed] {
        var groups: [Committed] = []
        while !isBridging, let decoded = decodedUtterances[nextIDToCommit] {
            pendingBridge = bridge(to: decoded)
            isBridging = pendingBridge != nil
            guard !isBridging else { break }
            decodedUtterances[nextIDToCommit] = nil
            lastCommitted = decoded.job.cut
            let segments = stitcher.handle(decoded.group, decoded.hypothesis, third: decoded.bridge ?? [])
            let adaptation = adaptations.removeValue(forKey: nextIDToCommit)
            if let committed, let last = segments.first(where: { $0.id == committed.segment }) {
                isContinued = last.range.end == committed.end
            }
            let new = segments.filter { $0.id > committed?.segment ?? 0 }
            if isContinued != false, !new.isEmpty { groups.append((new, adaptation)) }
            uncommittedStarts.removeFirst()
            nextIDToCommit += segments.count
        }
        return groups
    }

    /// Returns the audio to decode across the seam before an utterance; nil if the seam has no hole or was already
    /// decoded.
    private func bridge(to decoded: DecodedUtterance) -> Bridge? {
        guard decoded.bridge == nil, let before = lastCommitted,
            let hole = stitcher.hole(before: decoded.group.whole, decoded.hypothesis)
        else { return nil }
        let (left, right) = (before.utterance.audio, decoded.group.whole.audio)
        let start = max(left.start, hole.start - Self.bridgeMargin)
        let end = min(right.end, hole.end + Self.bridgeMargin)
        let head = before.samples.dropFirst(Int(start - left.start)).prefix(Int(max(0, right.start - start)))
        let tail = decoded.job.cut.samples.dropFirst(Int(max(0, start - right.start)))
            .prefix(Int(max(0, end - max(start, right.start))))
        return Bridge(id: decoded.job.id, start: start, samples: Array(head + tail), adaptation: decoded.job.adaptation)
    }
}
