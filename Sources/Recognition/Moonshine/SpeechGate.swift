/// Rejects the text that a network writes for silence, noise and music.
package struct SpeechGate: Hashable, Sendable {
    /// The statistics of a reading.
    package struct Evidence: Hashable, Sendable {
        package var text: String
        /// The tokens of the reading, without start and end.
        var tokens: [Int]
        /// The maximum number of tokens.
        var limit: Int
        var firstEnd: Double
        /// The mean entropy of all tokens, in nats.
        var meanEntropy: Double
        /// The seconds of speech according to the voice detector.
        var seconds: Double
    }

    /// The most frequent texts for silence, which people also say.
    private static let usual: Set<String> = [
        "you", "thank you", "thanks for watching", "thank you for watching", "bye", "so", "the",
    ]
    /// The last code point of Latin Extended-B, which covers European alphabets.
    private static let lastLetter: UInt32 = 0x24F
    /// Dashes and quotation marks.
    private static let marks: ClosedRange<UInt32> = 0x2010...0x203A
    private static let copyright: UInt32 = 0xA9
    private static let shortSeconds = 1.5
    /// The seconds of speech from which `minTokensPerSecond` applies.
    private static let minTokensFrom = 2.0
    /// One of the most frequent texts for silence is rejected if the log probability of an immediate end exceeds this
    /// limit.
    package var minEndOfUsual = -12.0
    package var minTokensPerSecond = 0.7
    /// Above this share of repeated trigrams, the text counts as a loop: of the network, or a speaker who repeats
    /// words.
    package var maxRepeats = 0.4
    /// A loop rarely ends by itself; it uses more than this share of the maximum number of tokens.
    package var maxShareOfLimit = 0.68
    /// The weight of the mean entropy beside the log probability of an immediate end. Their sum has the limits below.
    package var entropyWeight = 1.5
    /// The limit for most texts.
    package var maxEnd = -7.2
    /// The limit for short speech.
    package var maxEndOfShort = -6.0
    /// The limit for loops, and for characters that an English network writes for silence.
    package var maxEndOfStrange = -9.0
    /// Speech is in another language if the mean confidence of its words is lower. The network writes fluent text for it,
    /// but of improbable words.
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
    /// The constants were chosen on the corpus's `fit` part and 147 synthetic sounds without speech, those for strange
    /// texts on the sounds only; see `benchmark silence`.
    func isSpeech(_ evidence: Evidence) -> Bool {
        if isOfSilence(evidence) || hasFewTokens(evidence) { return false }
        let isLoop = Self.repeats(evidence.tokens) > maxRepeats
        if isLoop, Double(evidence.tokens.count) > maxShareOfLimit * Double(evidence.limit) { return false }
        let most = evidence.seconds < Self.shortSeconds ? maxEndOfShort : maxEnd
        return evidence.firstEnd + entropyWeight * evidence.meanEntropy
            <= (isLoop || Self.isStrange(evidence.text) ? maxEndOfStrange : most)
    }

    /// Whether a rejected text may still be what was said, if the audio contains a voice. False for the texts that the
    /// network typically writes for silence and music.
    ///
    /// Combined with `VoiceTest`, this accepts one of the 147 synthetic sounds without speech, a siren.
    func mayBeSpeech(_ evidence: Evidence) -> Bool {
        !isOfSilence(evidence) && !hasFewTokens(evidence) && !Self.isStrange(evidence.text)
            && Self.repeats(evidence.tokens) <= maxRepeats
    }

    private func hasFewTokens(_ evidence: Evidence) -> Bool {
        evidence.seconds > Self.minTokensFrom && Double(evidence.tokens.count) < minTokensPerSecond * evidence.seconds
    }

    /// Whether there is no word, or one of the most frequent texts for silence.
    private func isOfSilence(_ evidence: Evidence) -> Bool {
        let words = evidence.text.lowercased().split { !($0.isLetter || $0.isNumber || $0 == "'") }
        guard !words.isEmpty else { return true }
        return Self.usual.contains(words.joined(separator: " ")) && evidence.firstEnd > minEndOfUsual
    }

    /// Whether a text that passes as speech is plausible.
    func isLikely(_ evidence: Evidence, _ confidences: [Double]) -> Bool {
        evidence.seconds >= Self.shortSeconds || confidences.contains { $0 >= minConfidenceOfShort }
    }

    /// Whether the speech is probably in a language other than English.
    func isForeign(_ evidence: Evidence, _ confidences: [Double]) -> Bool {
        evidence.tokens.count >= minTokensOfForeign
            && confidences.reduce(0, +) < minMeanConfidence * Double(confidences.count)
    }

    /// Whether a text has characters that an English network writes for silence: music notes, other alphabets, and the
    /// "©" of subtitle credits. A network for another language writes such letters for speech, with a low entropy.
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
