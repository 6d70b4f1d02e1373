import Core

/// The decoder's best hypothesis for an utterance, with evidence of its reliability.
struct DecoderHypothesis {
    struct DecodedWord {
        var text: String
        var range: SampleRange
        var evidence: WordEvidence
    }

    // A plausible word lasts at most 0.2 s per letter or 0.6 s, whichever is longer, and never more than 1.6 s. Longer
    // words are hums or tones unless their confidence is high: people do draw out a "no".
    private static let maximumWordFrames = 160
    private static let longWordFrames = 60
    private static let framesPerLetter = 20
    private static let minConfidenceOfDrawnOut = 0.5
    /// The minimum share of words in the frames with words or noise. In the corpus, the share is at least 0.78.
    private static let minShareOfSound = 0.6
    /// The minimum share of words in the utterance without its surrounding silence. The decoder turns music into pauses
    /// with single words. In the corpus, the share is at least 0.48.
    private static let minShare = 0.4
    private static let silentFrames = 60

    private(set) var decodedWords: [DecodedWord] = []
    private var noiseFrames = 0
    private let limit: Int64

    /// - Parameter limit: the utterance's length in samples.
    init(limit: Int64) { self.limit = limit }

    mutating func add(_ word: VocabularyWord, frames: Range<Int64>, posterior: Double) {
        if word.isNoise { noiseFrames += frames.count }
        guard let text = word.spokenText else { return }
        let perFrame = PocketSphinxRecognizer.samplesPerFrame
        decodedWords.append(
            DecodedWord(
                text: text,
                range: SampleRange(
                    SamplePosition(min(limit, frames.lowerBound * perFrame)),
                    SamplePosition(min(limit, frames.upperBound * perFrame))),
                evidence: WordEvidence(posterior: posterior, frames: frames.count)))
    }

    /// Returns the words with their confidence, without implausibly long ones; empty if the audio is not speech.
    func words(by calibration: Calibration) -> [Word] {
        let evidence = decodedWords.map(\.evidence)
        let wordFrames = evidence.reduce(0) { $0 + min($1.frames, Self.maximumWordFrames) }
        let frames = Int(limit / PocketSphinxRecognizer.samplesPerFrame)
        let isSpeech =
            Double(wordFrames) >= Self.minShareOfSound * Double(wordFrames + noiseFrames)
            && Double(wordFrames) >= Self.minShare * Double(frames - Self.silentFrames)
        let words = zip(decodedWords, calibration.confidences(of: evidence)).compactMap { decoded, confidence in
            Self.isDrawnOut(decoded) && confidence < Self.minConfidenceOfDrawnOut
                ? nil : Word(decoded.text, decoded.range, confidence: confidence)
        }
        guard isSpeech, words.contains(where: { $0.confidence >= Calibration.floor }) else { return [] }
        return words
    }

    private static func isDrawnOut(_ decoded: DecodedWord) -> Bool {
        decoded.evidence.frames > min(maximumWordFrames, max(longWordFrames, framesPerLetter * decoded.text.utf8.count))
    }
}

/// A word in PocketSphinx's dictionary, such as `tomato(2)`, `<sil>` or `[NOISE]`.
struct VocabularyWord {
    private let name: Substring

    init(_ name: String) { self.name = name[...] }

    /// The name without the number of the pronunciation; nil for fillers (silence and noise).
    var spokenText: String? {
        guard let first = name.first, first != "<", first != "[", !name.hasPrefix("++") else { return nil }
        guard name.last == ")", let open = name.lastIndex(of: "("), open != name.startIndex,
            name[name.index(after: open)...].dropLast().allSatisfy(\.isNumber)
        else { return String(name) }
        return String(name[..<open])
    }

    /// Whether the word stands for a noise, such as `[NOISE]` or `++BREATH++`.
    var isNoise: Bool { name.first == "[" || name.hasPrefix("++") }

    /// Returns the text of a hypothesis, without fillers.
    static func text(of hypothesis: String) -> String {
        hypothesis.split(separator: " ").compactMap { VocabularyWord(String($0)).spokenText }.joined(separator: " ")
    }
}
