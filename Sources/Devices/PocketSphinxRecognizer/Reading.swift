import Core

/// What the decoder made of one utterance, with all that tells how far it can be believed.
struct Reading {
    /// A word and where it was said, in frames.
    struct Spoken {
        var text: String
        var range: SampleRange
        var evidence: WordEvidence
    }

    /// No word is longer: 1.6 s. What seems to be is a hum or a tone.
    private static let longestWord = 160
    /// Of speech at least so much is words, and not noise.
    private static let leastShare = 0.35

    private(set) var spoken: [Spoken] = []
    private var noiseFrames = 0

    mutating func add(_ word: VocabularyWord, frames: Range<Int64>, posterior: Double, limit: Int64) {
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
        let isSpeech = Double(wordFrames) >= Self.leastShare * Double(wordFrames + noiseFrames)
        let words = zip(spoken, calibration.confidences(of: evidence)).compactMap { spoken, confidence in
            spoken.evidence.frames > Self.longestWord
                ? nil : Word(spoken.text, spoken.range, confidence: confidence)
        }
        guard isSpeech, words.contains(where: { $0.confidence >= Calibration.floor }) else { return [] }
        return words
    }
}
