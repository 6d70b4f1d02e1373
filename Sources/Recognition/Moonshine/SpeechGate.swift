/// Tells what was read of speech from what a network makes of silence, noise and music: it always writes something.
package struct SpeechGate: Sendable {
    /// What is known of a reading.
    package struct Evidence: Hashable, Sendable {
        /// The reading itself.
        package var text: String
        /// Its tokens, without start and end.
        var tokens: [Int]
        /// How many there might have been at most.
        var limit: Int
        /// `TokenReading.firstEnd`.
        var firstEnd: Double
        /// Over all tokens, in nats.
        package var meanEntropy: Double
        /// Of what was heard, speech by the voice detector.
        var seconds: Double
    }

    /// What is written of silence most of all; said for good, too.
    private static let usual: Set<String> = [
        "you", "thank you", "thanks for watching", "thank you for watching", "bye", "so", "the",
    ]
    /// Above this the first step thinks so little of speech that a usual text is none.
    private static let leastEndOfUsual = -12.0
    /// Letters of European languages end here.
    private static let lastLetter: UInt32 = 0x24F
    /// Dashes and quotation marks.
    private static let marks: ClosedRange<UInt32> = 0x2010...0x203A
    private static let copyright: UInt32 = 0xA9
    /// Tokens a second of speech, where that lasts so many seconds.
    private static let leastTokens = (aSecond: 0.7, from: 2.0)
    /// Above this a text repeats itself: a network's loop, or what somebody says again.
    private static let mostRepeats = 0.4
    /// A loop seldom ends by itself: of the tokens that there might have been, it takes more.
    private static let mostOfLimit = 0.68
    /// An end at once, and being undecided, speak against speech together; what is shorter than so many seconds ends sooner.
    private static let doubt = (
        entropyWeight: 1.5, most: -7.2, mostOfShort: -6.0, shortSeconds: 1.5, mostOfStrange: -9.0
    )
    /// Of what is that short, one word at least is as likely as this: below it were noises of a room; of speech the unlikeliest
    /// had 0.24.
    private static let leastConfidenceOfShort = 0.1
    /// Of English the mean entropy seldom reaches this; of other languages it does.
    private static let foreignEntropy = 2.5

    /// Whether somebody spoke.
    ///
    /// The constants were chosen on the corpus's `fit` part and on 147 made sounds without speech, that of strange texts on those
    /// sounds alone; `benchmark silence` tells them.
    static func isSpeech(_ evidence: Evidence) -> Bool {
        let words = evidence.text.lowercased().split { !($0.isLetter || $0.isNumber || $0 == "'") }
        guard !words.isEmpty else { return false }
        if usual.contains(words.joined(separator: " ")), evidence.firstEnd > leastEndOfUsual { return false }
        if evidence.seconds > leastTokens.from,
            Double(evidence.tokens.count) < leastTokens.aSecond * evidence.seconds
        {
            return false
        }
        let isLoop = repeats(evidence.tokens) > mostRepeats
        if isLoop, Double(evidence.tokens.count) > mostOfLimit * Double(evidence.limit) { return false }
        let most = evidence.seconds < doubt.shortSeconds ? doubt.mostOfShort : doubt.most
        return evidence.firstEnd + doubt.entropyWeight * evidence.meanEntropy
            <= (isLoop || isStrange(evidence.text) ? doubt.mostOfStrange : most)
    }

    /// Whether a reading that passes for speech is worth anything.
    ///
    /// - Parameter confidences: of its words.
    static func isLikely(_ evidence: Evidence, _ confidences: [Double]) -> Bool {
        evidence.seconds >= doubt.shortSeconds || confidences.contains { $0 >= leastConfidenceOfShort }
    }

    /// Whether what was said is likely of another language, or music: read, but not to be believed.
    static func isForeign(_ evidence: Evidence) -> Bool { evidence.meanEntropy > foreignEntropy }

    /// Whether a text has signs that an English network writes of silence: notes, writing of other alphabets, "©" of a subtitle's
    /// author. A network for another language writes such of speech, and is sure of it then.
    private static func isStrange(_ text: String) -> Bool {
        text.unicodeScalars.contains {
            $0.value == copyright || ($0.value > lastLetter && !marks.contains($0.value) && $0 != "€")
        }
    }

    /// The share of three tokens in a row that were there before, 0 to 1.
    static func repeats(_ tokens: [Int]) -> Double {
        guard tokens.count > 5 else { return 0 }
        var seen: Set<[Int]> = []
        let triples = 0..<(tokens.count - 2)
        let again = triples.count { !seen.insert(Array(tokens[$0..<$0 + 3])).inserted }
        return Double(again) / Double(triples.count)
    }
}
