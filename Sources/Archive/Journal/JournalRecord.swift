import Core

/// A recording's content according to its journal.
struct JournalRecord {
    struct Pass {
        var engine: EngineDescription
        var profile: String
        var isComplete = false
        /// Nil if an engine made the pass.
        var correction: Correction?
        var segments: [Int: Segment] = [:]

        /// The segments in order. Leaves out segments that overlap earlier ones, because they cannot have been
        /// committed.
        var orderedSegments: [Segment] {
            var end = SamplePosition.zero
            return segments.values.sorted { $0.id < $1.id }.filter { segment in
                guard segment.range.start >= end, segment.range.end >= segment.range.start else { return false }
                end = segment.range.end
                return true
            }
        }
    }

    struct Start {
        var startedAt: Double
        var clock: RecordingSummary.Clock
        var microphone: String
        var boot: String?
        var monotonic: Int64?

        func entries(of recording: Int) -> [JournalEntry] {
            [
                .recording(number: recording, startedAt: startedAt, sound: nil, length: nil),
                .began(startedAt: startedAt, clock: clock, microphone: microphone, boot: boot, monotonic: monotonic),
            ]
        }
    }

    /// The content of the lines that name the journal's recording.
    struct Owner {
        /// The recording's number. Empty in old journals; several if lines from different journals are mixed.
        var numbers: Set<Int> = []
        var starts: Set<Double> = []
        /// The SHA-256 of the signed samples.
        var audioDigest: String?
    }

    var owner = Owner()
    private(set) var starts: Set<Double> = []
    /// The recording's lengths; several if it was repaired.
    private(set) var lengths: Set<SamplePosition> = []
    var start: Start?
    var passes: [Pass] = []
    var gaps: [Gap] = []
    var marks: [Bookmark] = []
    var end: (length: SamplePosition, reason: StopReason)?
    var exports: [ExportEntry] = []
    var seal: SealedManifest?
    var speakers: Speakers?

    init(_ entries: [JournalEntry]) {
        for entry in entries { apply(entry) }
    }

    private mutating func apply(_ entry: JournalEntry) {
        switch entry {
        case .recording(let number, let startedAt, let audioDigest, _):
            owner.numbers.insert(number)
            owner.starts.insert(startedAt.asWallTime)
            owner.audioDigest = audioDigest ?? owner.audioDigest
        case .began(let startedAt, let clock, let microphone, let boot, let monotonic):
            starts.insert(startedAt.asWallTime)
            start = Start(
                startedAt: startedAt.asWallTime, clock: startedAt == startedAt.asWallTime ? clock : .unverified,
                microphone: microphone, boot: boot, monotonic: monotonic.flatMap { $0 < 0 ? nil : $0 })
        case .dated(let startedAt):
            starts.insert(startedAt.asWallTime)
            guard startedAt == startedAt.asWallTime else { return }
            start?.startedAt = startedAt
            start?.clock = .synchronized
        case .pass(let number, let engine, let profile):
            guard let index = index(of: number) else { return }
            passes[index].engine = engine
            passes[index].profile = profile
        case .passEnded(let number):
            if let index = index(of: number) { passes[index].isComplete = true }
        case .segment(let segment, let number):
            // If a power cut duplicated a segment, the later line is the committed one.
            guard (1...Int(Int32.max)).contains(segment.id), let index = index(of: number) else { return }
            passes[index].segments[segment.id] = segment
        case .correction(let number, let correction, let segments):
            guard let index = index(of: number) else { return }
            passes[index].correction = correction
            passes[index].engine = correction.engine
            passes[index].profile = EngineDescription.person
            passes[index].isComplete = true
            for segment in segments where (1...Int(Int32.max)).contains(segment.id) {
                passes[index].segments[segment.id] = segment
            }
        case .gap(let gap): gaps.append(gap)
        case .mark(let mark): marks.append(mark)
        case .ended(let length, let reason):
            lengths.insert(length)
            end = (length, reason)
        case .exported(var entry):
            entry.exportedAt = entry.exportedAt.asWallTime
            exports.append(entry)
        case .speakers(let content): speakers = content
        case .sealed(let manifest): seal = SealedManifest(manifest) ?? seal
        }
    }

    /// Returns the index of a pass; nil if the number is impossible. Adds passes up to that number if they are missing,
    /// so that the text of a pass is kept even if the line that names its engine is damaged.
    private mutating func index(of number: Int) -> Int? {
        guard (1...10_000).contains(number) else { return nil }
        while passes.count < number {
            passes.append(Pass(engine: EngineDescription(name: "", version: "", model: ""), profile: ""))
        }
        return number - 1
    }
}
