/// Rejects the text that a network outputs for silence, noise and music.
package struct SpeechGate: Hashable, Sendable {
    /// The statistics of a decoded text.
    package struct Evidence: Hashable, Sendable {
        package var text: String
        /// The tokens of the text, without those for start and end.
        var tokens: [Int]
        /// The search's limit for the number of tokens.
        var limit: Int
        /// The log probability that the first token is the end token.
        var immediateEnd: Double
        /// The mean entropy of all tokens, in nats.
        var meanEntropy: Double
        /// The seconds of speech found by the voice detector.
        var seconds: Double
    }

    /// The most frequent texts for silence. People also say them.
    private static let silenceTexts: Set<String> = [
        "you", "thank you", "thanks for watching", "thank you for watching", "bye", "so", "the",
    ]
    /// The last code point of Latin Extended-B, which covers European alphabets.
    private static let lastLetter: UInt32 = 0x24F
    /// Dashes and quotation marks.
    private static let marks: ClosedRange<UInt32> = 0x2010...0x203A
    private static let copyright: UInt32 = 0xA9
    private static let shortSeconds = 1.5
    /// The seconds of speech above which `minTokensPerSecond` applies.
    private static let minSecondsForTokenRate = 2.0
    /// Above this log probability of an immediate end, the most frequent texts for silence are rejected.
    package var minEndOfUsual = -12.0
    package var minTokensPerSecond = 0.7
    /// Above this share of repeated trigrams, the text counts as a loop: the network or the speaker repeats words.
    package var maxRepeats = 0.4
    /// A loop that uses more than this share of the token limit is rejected: a network's loop rarely ends by itself.
    package var maxShareOfLimit = 0.68
    /// The weight of the mean entropy in a sum with the log probability of an immediate end. The next three properties
    /// are the limits for this sum.
    package var entropyWeight = 1.5
    /// The limit for most texts.
    package var maxEnd = -7.2
    /// The limit for short speech.
    package var maxEndOfShort = -6.0
    /// The limit for loops, and for texts with characters that an English network outputs for silence.
    package var maxEndOfStrange = -9.0
    /// If the mean confidence of the words is lower, the speech counts as another language. For such speech, the
    /// network outputs fluent text, but with improbable words.
    ///
    /// `benchmark folds --constant gate-foreign` chose 0.5 to 0.65. The lowest value also keeps most English groups in
    /// which voices follow each other without a pause.
    package var minMeanConfidence = 0.5
    var minTokensOfForeign = 10
    /// The minimum confidence of the best word in a short text. Room noise stayed below it; all speech reached 0.24 or
    /// more.
    package var minConfidenceOfShort = 0.1

    package init() {}

    /// Whether the text is speech.
    ///
    /// The constants were chosen on the corpus's `fit` part and 147 synthetic sounds without speech; those for strange
    /// texts were chosen only on the sounds. See `benchmark silence`.
    func isSpeech(_ evidence: Evidence) -> Bool {
        if isSilenceText(evidence) || hasFewTokens(evidence) { return false }
        let isLoop = Self.repeats(evidence.tokens) > maxRepeats
        if isLoop, Double(evidence.tokens.count) > maxShareOfLimit * Double(evidence.limit) { return false }
        let limit = evidence.seconds < Self.shortSeconds ? maxEndOfShort : maxEnd
        return evidence.immediateEnd + entropyWeight * evidence.meanEntropy
            <= (isLoop || Self.isStrange(evidence.text) ? maxEndOfStrange : limit)
    }

    /// Whether a rejected text may still be correct if the audio contains a voice. False for the texts that the
    /// network typically outputs for silence and music.
    ///
    /// Combined with `VoiceTest`, this accepts only one of the 147 synthetic sounds without speech, a siren.
    func mayBeSpeech(_ evidence: Evidence) -> Bool {
        !isSilenceText(evidence) && !hasFewTokens(evidence) && !Self.isStrange(evidence.text)
            && Self.repeats(evidence.tokens) <= maxRepeats
    }

    private func hasFewTokens(_ evidence: Evidence) -> Bool {
        evidence.seconds > Self.minSecondsForTokenRate
            && Double(evidence.tokens.count) < minTokensPerSecond * evidence.seconds
    }

    /// Whether the text has no words or is one of the most frequent texts for silence.
    private func isSilenceText(_ evidence: Evidence) -> Bool {
        let words = evidence.text.lowercased().split { !($0.isLetter || $0.isNumber || $0 == "'") }
        guard !words.isEmpty else { return true }
        return Self.silenceTexts.contains(words.joined(separator: " ")) && evidence.immediateEnd > minEndOfUsual
    }

    /// Whether the speech of a text that passed `isSpeech` is long, or one of the words is probable.
    func isLikely(_ evidence: Evidence, _ confidences: [Double]) -> Bool {
        evidence.seconds >= Self.shortSeconds || confidences.contains { $0 >= minConfidenceOfShort }
    }

    /// Whether the speech is probably in a language other than English.
    func isForeign(_ evidence: Evidence, _ confidences: [Double]) -> Bool {
        evidence.tokens.count >= minTokensOfForeign
            && confidences.reduce(0, +) < minMeanConfidence * Double(confidences.count)
    }

    /// Whether a text has characters that an English network outputs for silence: music notes, other alphabets, and the
    /// "©" of subtitle credits. A network for another language outputs such letters for speech, with a low entropy.
    private static func isStrange(_ text: String) -> Bool {
        text.unicodeScalars.contains {
            $0.value == copyright || ($0.value > lastLetter && !marks.contains($0.value) && $0 != "€")
        }
    }

    /// Returns the share of repeated trigrams, from 0 to 1; 0 for five tokens or fewer.
    static func repeats(_ tokens: [Int]) -> Double {
        guard tokens.count > 5 else { return 0 }
        var seen: Set<[Int]> = []
        let triples = 0..<(tokens.count - 2)
        let repeated = triples.count { !seen.insert(Array(tokens[$0..<$0 + 3])).inserted }
        return Double(repeated) / Double(triples.count)
    }
}
