import Core
import FoundationEssentials

/// The members of `transcript.json` that are read back.
struct TranscriptDocument: Decodable, Equatable {
    struct Speaker: Decodable, Equatable {
        var speaker: String
        var name: String?
    }

    struct Piece: Decodable, Equatable {
        var text: String
        var start: Double
        var end: Double
        var confidence: Double?
        var timeEstimated: Bool?
        var speaker: String?
    }

    struct Other: Decodable, Equatable {
        var text: String
        var confidence: Double?
    }

    struct Part: Decodable, Equatable {
        var id: Int
        var start: Double
        var end: Double
        var endedBy: EndReason?
        var words: [Piece]?
        var alternatives: [Other]?
        var unclear: Bool?

        var segment: Segment {
            let words = (words ?? []).map {
                Word(
                    $0.text, TranscriptReading.range($0.start, $0.end), confidence: $0.confidence ?? 0,
                    isSpread: $0.timeEstimated ?? false)
            }
            return Segment(
                id: id, range: TranscriptReading.range(start, end), words: words,
                // Without `unclear`, a confidence of 0 was rounded.
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
    var speakers: [Speaker]?
    var segments: [Part]
    var gaps: [GapJSON]?
    var marks: [MarkJSON]?

    /// - Parameter bytes: JSON with well-formed strings.
    init(_ bytes: [UInt8]) throws {
        guard let (segments, place) = JSONScanner.segments(in: bytes) else {
            self = try JSONDecoder().decode(TranscriptDocument.self, from: Data(bytes))
            return
        }
        var rest = Data(bytes[..<place.lowerBound])
        rest.append(contentsOf: "[]".utf8)
        rest.append(contentsOf: bytes[place.upperBound...])
        self = try JSONDecoder().decode(TranscriptDocument.self, from: rest)
        self.segments = segments
    }

    /// The speakers' names.
    var annotations: Annotations? {
        var names: [String: String] = [:]
        for speaker in speakers ?? [] {
            guard let number = Speakers.speaker(labelled: speaker.speaker), let name = speaker.name, !name.isEmpty
            else { continue }
            names[Speakers.label(number)] = name
        }
        guard !names.isEmpty else { return nil }
        var annotations = Annotations()
        annotations.speakers = names
        return annotations
    }

    /// Who spoke when, by the words; nil if not diarized.
    var turns: Speakers? {
        guard speakers != nil else { return nil }
        var turns: [Speakers.Turn] = []
        for word in segments.flatMap({ $0.words ?? [] }) {
            guard let speaker = word.speaker.flatMap(Speakers.speaker(labelled:)) else { continue }
            let range = TranscriptReading.range(word.start, word.end)
            if let last = turns.last, last.speaker == speaker, last.range.end <= range.start {
                turns[turns.count - 1].range = SampleRange(last.range.start, range.end)
            } else {
                turns.append(Speakers.Turn(range, speaker: speaker))
            }
        }
        return Speakers(turns: turns)
    }
}
