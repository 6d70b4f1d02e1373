import Core

/// What the decoder made of one utterance, with all that tells how far it can be believed.
struct Reading {
    /// A word and where it was said, in frames.
    struct Spoken {
        var text: String
        var range: SampleRange
        var evidence: WordEvidence
    }

    /// No word is longer than 1.6 s, and none of over 0.6 s has more than 0.2 s a letter, unless it can be believed: people
    /// draw out a "no". What else seems to be one is a hum or a tone.
    private static let longestWord = 160
    private static let longWord = 60
    private static let framesPerLetter = 20
    private static let believed = 0.5
    /// Of speech at least so much is words, and not noise: in the corpus never less than 0.78.
    private static let leastOfSound = 0.6
    /// Of an utterance, but for a little silence around it, at least so much is words: music is read as pauses with a
    /// word in between. In the corpus never less than 0.48.
    private static let leastOfAll = 0.4
    private static let framesAround = 60

    private(set) var spoken: [Spoken] = []
    private var noiseFrames = 0
    private let limit: Int64

    /// - Parameter limit: the utterance's length in samples.
    init(limit: Int64) { self.limit = limit }

    mutating func add(_ word: VocabularyWord, frames: Range<Int64>, posterior: Double) {
        if word.isNoise { noiseFrames += frames.count }
        guard let text = word.spoken else { return }
        let perFrame = PocketSphinxRecognizer.samplesPerFrame
        spoken.append(
            Spoken(
                text: text,
                range: SampleRange(
                    SamplePosition(min(limit, frames.lowerBound * perFrame)),
                    SamplePosition(min(limit, frames.upperBound * perFrame))),
                evidence: WordEvidence(posterior: posterior, frames: frames.count)))
    }

    /// The words with their confidence; none where it was no speech that was read.
    func words(by calibration: Calibration) -> [Word] {
        let evidence = spoken.map(\.evidence)
        let wordFrames = evidence.reduce(0) { $0 + min($1.frames, Self.longestWord) }
        let frames = Int(limit / PocketSphinxRecognizer.samplesPerFrame)
        let isSpeech =
            Double(wordFrames) >= Self.leastOfSound * Double(wordFrames + noiseFrames)
            && Double(wordFrames) >= Self.leastOfAll * Double(frames - Self.framesAround)
        let words = zip(spoken, calibration.confidences(of: evidence)).compactMap { spoken, confidence in
            Self.isDrawnOut(spoken) && confidence < Self.believed
                ? nil : Word(spoken.text, spoken.range, confidence: confidence)
        }
        guard isSpeech, words.contains(where: { $0.confidence >= Calibration.floor }) else { return [] }
        return words
    }

    private static func isDrawnOut(_ spoken: Spoken) -> Bool {
        spoken.evidence.frames > min(longestWord, max(longWord, framesPerLetter * spoken.text.utf8.count))
    }
}
