import Core
import FoundationEssentials

/// What a worker answers, as it comes: in pieces, and from a program that may be anybody's.
struct WorkerReplies {
    /// No reply is longer: half an hour of speech with a hundred alternatives.
    static let longestLine = 16 << 20

    /// A line that is no reply.
    struct Unreadable: Error {}

    private var received: [UInt8] = []

    mutating func take(_ bytes: some Collection<UInt8>) { received.append(contentsOf: bytes) }

    /// The next reply, nil where it has not come whole.
    ///
    /// - Parameters:
    ///   - samples: the length of the utterance; no word lies beyond it.
    ///   - parts: how many parts of it were named; there are as many voices, or none.
    mutating func next(within samples: Int, parts: Int = 0) throws -> WorkerProtocol.Reply? {
        guard let end = received.firstIndex(of: 0x0A) else {
            guard received.count <= Self.longestLine else { throw Unreadable() }
            return nil
        }
        defer { received.removeSubrange(...end) }
        let line = Array(received[..<end])
        guard var reply = try? JSONDecoder().decode(WorkerProtocol.Reply.self, from: Data(JSONStrings.check(line)))
        else { throw Unreadable() }
        reply.result?.settle(within: Int64(samples), parts: parts)
        return reply
    }
}

extension WorkerProtocol.Result {
    /// Words in the order of time, none over another, inside the utterance and each of one line; shares between 0 and 1; voices
    /// only where there is one for each part.
    ///
    /// Of two that overlap the first ends where the second begins; one that is told to begin before the one before it
    /// begins behind that: the text's order is the engine's, whatever its times are.
    mutating func settle(within samples: Int64, parts: Int = 0) {
        if parts == 0 || voices?.count != parts { voices = nil }
        var settled: [Word] = []
        for word in words {
            let text = Self.line(word.text)
            guard !text.isEmpty else { continue }
            var start = min(max(word.range.start, .zero), SamplePosition(samples))
            if let before = settled.last?.range, start < before.end {
                if start > before.start {
                    settled[settled.count - 1].range = SampleRange(before.start, start)
                } else {
                    start = before.end
                }
            }
            let end = min(max(word.range.end, start), SamplePosition(samples))
            settled.append(
                Word(
                    text, SampleRange(start, end), confidence: min(max(word.confidence, 0), 1), isSpread: word.isSpread)
            )
        }
        words = settled
        alternatives = alternatives.map {
            Alternative(text: Self.line($0.text), confidence: min(max($0.confidence, 0), 1))
        }
        cpuSeconds = max(cpuSeconds, 0)
    }

    /// The text without what would end a line or steer a terminal.
    private static func line(_ text: String) -> String {
        let clean = text.unicodeScalars.map { $0.value < 0x20 || (0x7F..<0xA0).contains($0.value) ? " " : $0 }
        var line = String.UnicodeScalarView()
        line.append(contentsOf: clean)
        return String(line).split(separator: " ").joined(separator: " ")
    }
}
