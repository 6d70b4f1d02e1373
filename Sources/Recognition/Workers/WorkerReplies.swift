import Core
import System

/// Parses a worker's replies, which arrive in pieces and may come from another vendor's program.
struct WorkerReplies {
    /// The maximum length of a reply in bytes: half an hour of speech with a hundred alternatives.
    static let maximumLineBytes = 16 << 20

    /// The error for a line that is not a valid reply.
    struct InvalidReply: Error {}

    private var received: [UInt8] = []

    mutating func append(_ bytes: some Collection<UInt8>) { received.append(contentsOf: bytes) }

    /// Returns the next reply; nil if it is not complete yet.
    ///
    /// - Parameters:
    ///   - samples: the length of the utterance, to which words are limited.
    ///   - parts: the number of requested parts. Voices are dropped unless there is one per part.
    /// - Throws: `InvalidReply` for a line that is invalid or too long.
    mutating func next(within samples: Int, parts: Int = 0) throws -> WorkerProtocol.Reply? {
        guard let end = received.firstIndex(of: 0x0A) else {
            guard received.count <= Self.maximumLineBytes else { throw InvalidReply() }
            return nil
        }
        defer { received.removeSubrange(...end) }
        guard var reply = try? decodedJSON(WorkerProtocol.Reply.self, from: received[..<end]) else {
            throw InvalidReply()
        }
        reply.result?.normalize(within: Int64(samples), parts: parts)
        return reply
    }
}

extension WorkerProtocol.Result {
    /// Limits the words' ranges to the utterance, and removes overlaps and line breaks. Drops the voices unless
    /// there is one per part.
    ///
    /// If two words overlap, the first word ends where the second begins. A word that does not begin later than the
    /// previous word moves to that word's end, because the order of the text counts.
    mutating func normalize(within samples: Int64, parts: Int = 0) {
        if parts == 0 || voices?.count != parts { voices = nil }
        var normalized: [Word] = []
        for word in words {
            let text = Self.line(word.text)
            guard !text.isEmpty else { continue }
            var start = min(max(word.range.start, .zero), SamplePosition(samples))
            if let previous = normalized.last?.range, start < previous.end {
                if start > previous.start {
                    normalized[normalized.count - 1].range = SampleRange(previous.start, start)
                } else {
                    start = previous.end
                }
            }
            let range = SampleRange(start, min(word.range.end, SamplePosition(samples)))
            normalized.append(Word(text, range, confidence: word.confidence, hasEstimatedTime: word.hasEstimatedTime))
        }
        words = normalized
        alternatives = alternatives.map { Alternative(text: Self.line($0.text), confidence: $0.confidence) }
        cpuSeconds = max(cpuSeconds, 0)
    }

    /// Returns the text with single spaces instead of line breaks, control characters and runs of spaces.
    private static func line(_ text: String) -> String {
        let clean = text.unicodeScalars.map { $0.value < 0x20 || (0x7F..<0xA0).contains($0.value) ? " " : $0 }
        return String(String.UnicodeScalarView(clean)).split(separator: " ").joined(separator: " ")
    }
}
