import Core
import FoundationEssentials

/// The members of `transcript.json` that are imported.
struct TranscriptDocument: Decodable, Equatable {
    struct SpeakerRecord: Decodable, Equatable {
        var speaker: String
        var name: String?
    }

    struct WordRecord: Decodable, Equatable {
        var text: String
        var start: Double
        var end: Double
        var confidence: Double?
        var timeEstimated: Bool?
        var speaker: String?
    }

    struct AlternativeRecord: Decodable, Equatable {
        var text: String
        var confidence: Double?
    }

    struct SegmentRecord: Decodable, Equatable {
        var id: Int
        var start: Double
        var end: Double
        var endedBy: EndReason?
        var words: [WordRecord]?
        var alternatives: [AlternativeRecord]?
        var unclear: Bool?

        var segment: Segment {
            let words = (words ?? []).map {
                Word(
                    $0.text, ParsedTranscript.range($0.start, $0.end), confidence: $0.confidence ?? 0,
                    hasEstimatedTime: $0.timeEstimated ?? false)
            }
            return Segment(
                id: id, range: ParsedTranscript.range(start, end), words: words,
                // A confidence of 0 marks held-back text only if `unclear` is set; otherwise it is a rounded value.
                alternatives: (unclear == true || !words.isEmpty ? alternatives ?? [] : []).map {
                    Alternative(text: $0.text, confidence: $0.confidence ?? 0)
                },
                endedBy: endedBy ?? .silence)
        }
    }

    var file: String
    var duration: Double
    var sampleRate: Int
    var engine: EngineDescription
    var writtenUpTo: Double?
    var speakers: [SpeakerRecord]?
    var segments: [SegmentRecord]
    var gaps: [GapJSON]?
    var marks: [MarkJSON]?

    /// - Parameter bytes: JSON with well-formed strings.
    init(_ bytes: [UInt8]) throws {
        guard let (segments, range) = JSONScanner.segments(in: bytes) else {
            self = try JSONDecoder().decode(TranscriptDocument.self, from: Data(bytes))
            return
        }
        var rest = Data(bytes[..<range.lowerBound])
        rest.append(contentsOf: "[]".utf8)
        rest.append(contentsOf: bytes[range.upperBound...])
        self = try JSONDecoder().decode(TranscriptDocument.self, from: rest)
        self.segments = segments
    }

    /// Annotations with the speakers' names; nil if no speaker has a name.
    var annotations: Annotations? {
        var names: [String: String] = [:]
        for speaker in speakers ?? [] {
            guard let index = Speakers.speaker(labelled: speaker.speaker), let name = speaker.name, !name.isEmpty
            else { continue }
            names[Speakers.label(index)] = name
        }
        guard !names.isEmpty else { return nil }
        var annotations = Annotations()
        annotations.speakers = names
        return annotations
    }

    /// Who spoke when, from the words' speakers; nil if not diarized.
    var turns: Speakers? {
        guard speakers != nil else { return nil }
        var turns: [Speakers.Turn] = []
        for word in segments.flatMap({ $0.words ?? [] }) {
            guard let speaker = word.speaker.flatMap(Speakers.speaker(labelled:)) else { continue }
            let range = ParsedTranscript.range(word.start, word.end)
            if let last = turns.last, last.speaker == speaker, last.range.end <= range.start {
                turns[turns.count - 1].range = SampleRange(last.range.start, range.end)
            } else {
                turns.append(Speakers.Turn(range, speaker: speaker))
            }
        }
        return Speakers(turns: turns)
    }
}
