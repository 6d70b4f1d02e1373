import Core
import System

extension TranscriptFormat {
    /// One JSON object.
    package static let json = TranscriptFormat("json", namesItsRecording: true) { timeline, _ in
        try jsonText(TranscriptJSON(timeline))
    }
}

/// Rounds to four decimals. JSON has no infinities or NaN, so these become 0.
func rounded(_ number: Double) -> Double {
    let tenThousandths = (number * 10_000).rounded()
    return tenThousandths.isFinite ? tenThousandths / 10_000 : 0
}

struct TranscriptJSON: Encodable {
    var header: HeaderJSON
    var segments: [SegmentJSON]
    var gaps: [GapJSON]
    var marks: [MarkJSON]
    var statistics: Statistics?
    var voice: VoiceAnalytics?
    var metadata: MetadataJSON?

    init(_ timeline: Timeline) {
        header = HeaderJSON(timeline)
        segments = timeline.segments.map { SegmentJSON($0, of: timeline) }
        gaps = timeline.gaps.map(GapJSON.init)
        marks = timeline.marks.map(MarkJSON.init)
        statistics = timeline.statistics.map(rounded)
        voice = VoiceAnalytics(of: timeline.segments).map(rounded)
        metadata = SpeechMetadata(of: timeline.segments).map(MetadataJSON.init)
    }

    private enum CodingKeys: CodingKey { case segments, gaps, marks, statistics, voice, metadata }

    func encode(to encoder: any Encoder) throws {
        try header.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(segments, forKey: .segments)
        try container.encode(gaps, forKey: .gaps)
        try container.encode(marks, forKey: .marks)
        try container.encodeIfPresent(statistics, forKey: .statistics)
        try container.encodeIfPresent(voice, forKey: .voice)
        try container.encodeIfPresent(metadata, forKey: .metadata)
    }
}

struct HeaderJSON: Encodable {
    var file: String
    /// Nil unless a person gave the recording a title, or it was added from a file with a title.
    var title: String?
    var duration: Double
    var sampleRate = SamplePosition.rate
    var engine: EngineDescription
    /// The end of the transcribed part, in seconds; nil if the transcript is complete.
    var writtenUpTo: Double?
    /// Nil if the timeline is not diarized.
    var speakers: [SpeakerJSON]?

    init(_ timeline: Timeline) {
        writtenUpTo = timeline.untranscribed?.start.seconds
        file = timeline.name
        title = timeline.title
        duration = timeline.length.seconds
        engine = timeline.engine
        speakers = timeline.speakers.map { speakers in
            speakers.seconds.enumerated().map { SpeakerJSON(timeline, speaker: $0, seconds: $1) }
        }
    }
}

struct SpeakerJSON: Encodable {
    /// `A`, `B` ...
    var speaker: String
    /// Nil if the speaker has only a label.
    var name: String?
    /// The speaker's total speaking time.
    var seconds: Double

    init(_ timeline: Timeline, speaker: Int, seconds: Double) {
        let label = Speakers.label(speaker)
        let name = timeline.name(ofSpeaker: speaker)
        (self.speaker, self.name, self.seconds) = (label, name == label ? nil : name, rounded(seconds))
    }
}

struct SegmentJSON: Encodable {
    var id: Int
    var start: Double
    var end: Double
    var text: String
    var confidence: Double
    var final = true
    var endedBy: EndReason
    var words: [WordJSON]
    var alternatives: [Alternative]
    /// True if the engine rejected its result, the first alternative, as improbable; otherwise nil.
    var unclear: Bool?
    var voice: VoiceAnalytics?
    /// Nil if there are no words.
    var metadata: MetadataJSON?
    /// Nil if unknown.
    var speaker: String?
    /// True if somebody else speaks during at least half of the segment; otherwise nil.
    var overlap: Bool?

    /// - Parameter timeline: The segment's timeline, which has the speakers if it is diarized.
    init(_ segment: Segment, of timeline: Timeline? = nil) {
        id = segment.id
        start = segment.range.start.seconds
        end = segment.range.end.seconds
        text = segment.text
        confidence = rounded(segment.confidence)
        endedBy = segment.endedBy
        words = segment.words.map { WordJSON($0, timeline?.speakers) }
        speaker = timeline?.speaker(of: segment).map(Speakers.label)
        overlap = timeline?.speakers?.isOverlapped(segment.range) == true ? true : nil
        alternatives = segment.alternatives.map { Alternative(text: $0.text, confidence: rounded($0.confidence)) }
        unclear = segment.heldBack == nil ? nil : true
        voice = segment.voice.map(rounded)
        metadata = SpeechMetadata(of: [segment]).map(MetadataJSON.init)
    }
}

struct MetadataJSON: Encodable {
    /// Words per minute.
    var speakingRate: Double
    var averagePause: Double
    var speechStart: Double
    var speechDuration: Double

    init(_ metadata: SpeechMetadata) {
        speakingRate = rounded(metadata.speakingRate)
        averagePause = rounded(metadata.averagePause)
        speechStart = metadata.speechStart.seconds
        speechDuration = rounded(metadata.speechDuration)
    }
}

struct WordJSON: Encodable {
    var text: String
    var start: Double
    var end: Double
    var confidence: Double
    /// True if the times are estimated; otherwise nil.
    var timeEstimated: Bool?
    /// Nil if unknown.
    var speaker: String?
    /// True if somebody else speaks during at least half of the word; otherwise nil.
    var overlap: Bool?

    init(_ word: Word, _ speakers: Speakers?) {
        speaker = speakers?.speaker(of: word.range).map(Speakers.label)
        overlap = speakers?.isOverlapped(word.range) == true ? true : nil
        text = word.text
        start = word.range.start.seconds
        end = word.range.end.seconds
        confidence = rounded(word.confidence)
        timeEstimated = word.hasEstimatedTime ? true : nil
    }
}

struct GapJSON: Codable, Equatable {
    var start: Double
    var end: Double
    var cause: Gap.Cause

    init(_ gap: Gap) {
        start = gap.range.start.seconds
        end = gap.range.end.seconds
        cause = gap.cause
    }
}

func rounded(_ statistics: Statistics) -> Statistics {
    var result = statistics
    result.audioSeconds = rounded(statistics.audioSeconds)
    result.speechSeconds = rounded(statistics.speechSeconds)
    result.cpuSeconds = rounded(statistics.cpuSeconds)
    result.wallSeconds = rounded(statistics.wallSeconds)
    return result
}

private func rounded(_ voice: VoiceAnalytics) -> VoiceAnalytics {
    VoiceAnalytics(
        pitch: rounded(voice.pitch), jitter: rounded(voice.jitter), shimmer: rounded(voice.shimmer),
        voicing: rounded(voice.voicing), finalLowering: voice.finalLowering.map(rounded))
}
