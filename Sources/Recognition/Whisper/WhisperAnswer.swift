import Core
import System

/// Parses the output of `whisper-cli --output-json-full` for an utterance.
struct WhisperAnswer {
    private struct Answer: Decodable {
        /// A range in milliseconds.
        struct Offsets: Decodable {
            var from: Int64
            var to: Int64

            var range: SampleRange { SampleRange(Self.position(from), Self.position(to)) }

            static func position(_ milliseconds: Int64) -> SamplePosition {
                SamplePosition(min(max(0, milliseconds), 1 << 40) * Int64(SamplePosition.rate) / 1_000)
            }
        }

        struct Token: Decodable {
            var text: String
            /// The token's times; nil if the program does not report them.
            var offsets: Offsets?
            var p: Double
        }

        struct Segment: Decodable {
            var text: String
            var offsets: Offsets
            var tokens: [Token]
        }

        var transcription: [Segment]
    }

    /// The words in time order, with ranges in samples from the start of the utterance. A range may extend beyond the
    /// utterance.
    let words: [Word]

    /// Parses the output; nil if it is invalid.
    init?(_ bytes: [UInt8]) {
        // whisper-cli may split a character between two tokens. Both are then invalid UTF-8.
        let repaired = String(decoding: bytes, as: UTF8.self)
        guard let answer = try? decodedJSON(Answer.self, from: repaired.utf8) else { return nil }
        words = answer.transcription.flatMap(Self.words)
    }

    private static func words(of segment: Answer.Segment) -> [Word] {
        let texts = segment.text.split(whereSeparator: \.isWhitespace).map(String.init)
        guard let first = texts.first?.first, let last = texts.last?.last else { return [] }
        // Texts such as [BLANK_AUDIO] and (music) are not speech.
        if (first == "[" && last == "]") || (first == "(" && last == ")") || first == "♪" { return [] }
        let groups = groups(of: segment.tokens)
        if groups.count == texts.count {
            return zip(texts, groups).map { text, tokens in
                let ranges = tokens.compactMap(\.offsets?.range)
                let start = ranges.map(\.start).min() ?? segment.offsets.range.start
                return Word(
                    text, SampleRange(start, ranges.map(\.end).max() ?? start), confidence: confidence(of: tokens))
            }
        }
        // If tokens and words do not match, spread the words over the segment.
        let (range, wordConfidence) = (segment.offsets.range, confidence(of: segment.tokens))
        return texts.enumerated().map { index, text in
            let edges = [index, index + 1].map { range.start + range.count.share(Int64($0), of: Int64(texts.count)) }
            return Word(text, SampleRange(edges[0], edges[1]), confidence: wordConfidence, hasEstimatedTime: true)
        }
    }

    /// Groups tokens by word. A leading space starts a word.
    private static func groups(of tokens: [Answer.Token]) -> [[Answer.Token]] {
        var groups: [[Answer.Token]] = []
        for token in tokens where !token.text.hasPrefix("[_") && token.text.contains(where: { !$0.isWhitespace }) {
            if groups.isEmpty || token.text.first?.isWhitespace ?? false {
                groups.append([token])
            } else {
                groups[groups.count - 1].append(token)
            }
        }
        return groups
    }

    /// Returns the confidence of the least likely token.
    private static func confidence(of tokens: [Answer.Token]) -> Double { tokens.map(\.p).min() ?? 0 }
}
