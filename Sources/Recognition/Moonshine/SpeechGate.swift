/// Rejects what a network makes of silence, noise and music: it always writes something.
package struct SpeechGate: Sendable {
    /// The statistics of a reading.
    package struct Evidence: Hashable, Sendable {
        /// The text of the reading.
        package var text: String
        /// Its tokens, without start and end.
        var tokens: [Int]
        /// The maximum number of tokens.
        var limit: Int
        var firstEnd: Double
        /// Over all tokens, in nats.
        package var meanEntropy: Double
        /// The seconds of speech according to the voice detector.
        var seconds: Double
    }

    /// The most frequent texts for silence; people also say them.
    private static let usual: Set<String> = [
        "you", "thank you", "thanks for watching", "thank you for watching", "bye", "so", "the",
    ]
    /// If the log probability of an immediate end exceeds this, such a text is rejected.
    private static let minEndOfUsual = -12.0
    /// The last letter of European alphabets.
    private static let lastLetter: UInt32 = 0x24F
    /// Dashes and quotation marks.
    private static let marks: ClosedRange<UInt32> = 0x2010...0x203A
    private static let copyright: UInt32 = 0xA9
    /// The minimum tokens per second of speech, from so many seconds on.
    private static let minTokens = (aSecond: 0.7, from: 2.0)
    /// Above this, the text repeats itself: a loop of the network, or a speaker repeating words.
    private static let maxRepeats = 0.4
    /// A loop rarely ends by itself; it uses more than this share of the maximum number of tokens.
    private static let maxShareOfLimit = 0.68
    /// The limits on the probability of an immediate end combined with the entropy; stricter below so many seconds.
    private static let limits = (
        entropyWeight: 1.5, most: -7.2, maxOfShort: -6.0, shortSeconds: 1.5, maxOfStrange: -9.0
    )
    /// The minimum confidence of the best word in a short text: noises of a room were below, all speech was at 0.24 or more.
    private static let minConfidenceOfShort = 0.1
    /// English rarely reaches this mean entropy; other languages do.
    private static let foreignEntropy = 2.5

    /// Whether the text is speech.
    ///
    /// The constants were chosen on the corpus's `fit` part and 147 synthetic sounds without speech, those for strange texts on
    /// the sounds only; see `benchmark silence`.
    static func isSpeech(_ evidence: Evidence) -> Bool {
        let words = evidence.text.lowercased().split { !($0.isLetter || $0.isNumber || $0 == "'") }
        guard !words.isEmpty else { return false }
        if usual.contains(words.joined(separator: " ")), evidence.firstEnd > minEndOfUsual { return false }
        if evidence.seconds > minTokens.from,
            Double(evidence.tokens.count) < minTokens.aSecond * evidence.seconds
        {
            return false
        }
        let isLoop = repeats(evidence.tokens) > maxRepeats
        if isLoop, Double(evidence.tokens.count) > maxShareOfLimit * Double(evidence.limit) { return false }
        let most = evidence.seconds < limits.shortSeconds ? limits.maxOfShort : limits.most
        return evidence.firstEnd + limits.entropyWeight * evidence.meanEntropy
            <= (isLoop || isStrange(evidence.text) ? limits.maxOfStrange : most)
    }

    /// Whether a text that passes as speech is plausible.
    ///
    /// - Parameter confidences: those of its words.
    static func isLikely(_ evidence: Evidence, _ confidences: [Double]) -> Bool {
        evidence.seconds >= limits.shortSeconds || confidences.contains { $0 >= minConfidenceOfShort }
    }

    /// Whether the audio is probably another language or music, so that the text is not reliable.
    static func isForeign(_ evidence: Evidence) -> Bool { evidence.meanEntropy > foreignEntropy }

    /// Whether a text has characters that an English network writes for silence: notes, other alphabets, "©" of subtitle authors.
    /// A network for another language writes them for speech, with certainty.
    private static func isStrange(_ text: String) -> Bool {
        text.unicodeScalars.contains {
            $0.value == copyright || ($0.value > lastLetter && !marks.contains($0.value) && $0 != "€")
        }
    }

    /// Returns the share of repeated trigrams, 0 to 1.
    static func repeats(_ tokens: [Int]) -> Double {
        guard tokens.count > 5 else { return 0 }
        var seen: Set<[Int]> = []
        let triples = 0..<(tokens.count - 2)
        let again = triples.count { !seen.insert(Array(tokens[$0..<$0 + 3])).inserted }
        return Double(again) / Double(triples.count)
    }
}
