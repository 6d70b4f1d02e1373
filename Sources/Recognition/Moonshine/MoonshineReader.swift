import Core
import Glibc

/// Decodes audio with the network, its beam search and the speech gate. The words have no times.
package final class MoonshineReader {
    /// The words, with the evidence for them.
    package struct Outcome: Sendable {
        /// The words, with empty ranges because the network gives no times.
        package var words: [Word]
        /// Other hypotheses, best first.
        var alternatives: [Alternative]
        /// The evidence for each word, even if the words were rejected.
        package var evidence: [WordConfidence.Evidence]
        /// The evidence for the whole text; nil if the audio was not decoded.
        package var gate: SpeechGate.Evidence?
        /// The rejected text if it may still be speech or is probably in another language; nil otherwise. The caller
        /// checks whether the audio contains a voice.
        package var heldBack: String?
    }

    /// The number of tokens allowed beyond the maximum speaking rate.
    private static let extraTokens = 4

    private static let minWidthForPhrases = 4

    let engine: EngineDescription
    private let network: MoonshineNetwork
    private let profile: MoonshineProfile
    /// The maximum speaking rate in tokens per second.
    private let maxTokensPerSecond: Double
    /// Whether to test for another language; the constants of that test were fitted to English.
    private let isEnglish: Bool
    private var search: BeamSearch
    /// The search without phrases.
    private let plainSearch: BeamSearch

    /// Loads the model, which takes 0.3 s and 110 MB for tiny-en.
    ///
    /// - Parameters:
    ///   - phrases: words and phrases to prefer, as the user writes them. Phrases widen the beam of `fast`.
    ///   - learned: additional phrases, learned from corrections.
    /// - Throws: `DeviceError` with `missing`, `denied`, `damaged` or `unsupported` for a file or the runtime.
    package init(
        _ model: MoonshineModel, profile: MoonshineProfile, phrases: [String] = [], learned: [String] = []
    ) throws(DeviceError) {
        try model.verify()
        network = try MoonshineNetwork(model, prepacks: profile.prepacks)
        self.profile = profile
        maxTokensPerSecond = model.maxTokensPerSecond
        isEnglish = model.isEnglish
        plainSearch = BeamSearch(width: profile.width)
        search = plainSearch
        if !phrases.isEmpty || !learned.isEmpty {
            search.width = max(search.width, Self.minWidthForPhrases)
            search.bias = PhraseTrie(phrases, learned: learned, of: network.tokenizer, profile)
        }
        engine = EngineDescription(
            name: "moonshine", version: "onnxruntime \(network.runtime.version)", model: model.name)
    }

    private struct Source: TokenSource {
        let network: MoonshineNetwork
        var state: MoonshineNetwork.State

        func withLogits<Value>(
            of row: Int, _ body: (UnsafeBufferPointer<Float>) -> Value
        ) throws(DeviceError) -> Value { try network.withLogits(of: row, state, body) }

        mutating func advance(by tokens: [Int], extending rows: [Int]) throws(DeviceError) {
            try network.advance(&state, by: tokens, extending: rows)
        }
    }

    /// Decodes audio.
    ///
    /// - Parameters:
    ///   - samples: mono, 16 kHz.
    ///   - alternatives: the maximum number of other hypotheses, which the beam's width also limits.
    ///   - speech: the seconds of speech found by the voice detector.
    package func read(
        _ samples: UnsafeBufferPointer<Int16>, alternatives: Int, speech: Double
    ) throws(DeviceError) -> Outcome {
        let emptyOutcome = Outcome(words: [], alternatives: [], evidence: [], gate: nil)
        guard let normalizedSamples = normalized(samples) else { return emptyOutcome }
        let encoded = Source(network: network, state: try network.encode(normalizedSamples))
        var source = encoded
        let seconds = Double(samples.count) / Double(SamplePosition.rate)
        let limit = Int(maxTokensPerSecond * seconds) + Self.extraTokens
        let sequences = try search.sequences(of: &source, limit: limit, minimumCount: 1 + alternatives)
        guard var best = sequences.first else { return emptyOutcome }
        var words = self.words(of: best)
        if let phrases = search.bias?.phrases(in: best.tokens), !phrases.isEmpty {
            source = encoded
            guard let plain = try plainSearch.sequences(of: &source, limit: limit).first else { return emptyOutcome }
            words = grafted(phrases, of: words, into: self.words(of: plain))
            best = plain
        }
        let evidence = words.map(\.evidence)
        let gate = SpeechGate.Evidence(
            text: words.map(\.text).joined(separator: " "), tokens: best.tokens, limit: limit,
            immediateEnd: best.immediateEnd,
            meanEntropy: best.evidence.reduce(0) { $0 + $1.entropy } / Double(max(1, best.evidence.count)),
            seconds: speech)
        let confidences = WordConfidence.confidences(of: evidence)
        let isSpeech = profile.gate.isSpeech(gate) && profile.gate.isLikely(gate, confidences)
        let isForeign = isSpeech && isEnglish && profile.gate.isForeign(gate, confidences)
        guard isSpeech, !isForeign else {
            return Outcome(
                words: [], alternatives: [], evidence: evidence, gate: gate,
                heldBack: isForeign || profile.gate.mayBeSpeech(gate) ? gate.text : nil)
        }
        let emptyRange = SampleRange(.zero, .zero)
        return Outcome(
            words: zip(words, confidences).map { Word($0.text, emptyRange, confidence: $1) },
            alternatives: self.alternatives(sequences, to: gate.text, maximumCount: alternatives), evidence: evidence,
            gate: gate)
    }

    private typealias DecodedWord = (text: String, tokens: Range<Int>, evidence: WordConfidence.Evidence)

    private func words(of sequence: TokenSequence) -> [DecodedWord] {
        network.tokenizer.words(of: sequence.tokens).map { text, tokens in
            (text, tokens, WordConfidence.Evidence(of: sequence.evidence[tokens]))
        }
    }

    /// Replaces words decoded without the phrase list with the phrases decoded at the same position.
    private func grafted(
        _ phrases: [Range<Int>], of listed: [DecodedWord], into plain: [DecodedWord]
    ) -> [DecodedWord] {
        PhraseGraft.sources(
            plain: plain.map(\.text), listed: listed.map(\.text),
            isPhrase: listed.map { word in phrases.contains { $0.overlaps(word.tokens) } }
        ).map { source in
            switch source {
            case .plain(let word): plain[word]
            case .listed(let word): listed[word]
            }
        }
    }

    /// Returns the hypotheses that differ from the text.
    private func alternatives(_ sequences: [TokenSequence], to text: String, maximumCount: Int) -> [Alternative] {
        guard maximumCount > 0, let best = sequences.first else { return [] }
        let weights = sequences.map { exp($0.score - best.score) }
        let total = weights.reduce(0, +)
        var seen: Set = ["", text]
        return zip(sequences, weights).compactMap { sequence, weight in
            let text = network.tokenizer.words(of: sequence.tokens).map(\.text).joined(separator: " ")
            return seen.insert(text).inserted ? Alternative(text: text, confidence: weight / total) : nil
        }.prefix(maximumCount).map { $0 }
    }

    /// Returns the samples without DC offset, amplified if they are quiet; nil if they are too few or all equal.
    private func normalized(_ samples: UnsafeBufferPointer<Int16>) -> [Float]? {
        guard samples.count >= MoonshineNetwork.minSamples else { return nil }
        let mean = Float(samples.reduce(0) { $0 + Int($1) }) / Float(samples.count)
        let peak = samples.reduce(Float(0)) { max($0, abs(Float($1) - mean)) } / 32_768
        guard peak > 0 else { return nil }
        let gain = (peak < Float(profile.quietPeak) ? 1 / peak : 1) / 32_768
        return samples.map { (Float($0) - mean) * gain }
    }
}
