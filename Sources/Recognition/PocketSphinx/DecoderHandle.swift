import Core
internal import CPocketSphinx
import Glibc
import System

final class DecoderHandle {
    // Safety: owned by this object, freed once in deinit.
    let pointer: OpaquePointer

    init(model: PocketSphinxModel, profile: DecoderProfile) throws(DeviceError) {
        var options = profile.options
        if case .phrases = model.addition { options.merge(profile.phraseOptions) { $1 } }
        pointer = try Self.open(
            model,
            ["hmm", model.acousticModel, "lm", model.languageModel, "dict", model.dictionary]
                + options.flatMap { [$0.key, $0.value] })
        try checkDictionary(model)
        if let addition = model.addition { try add(addition) }
    }

    /// Creates a decoder with only the acoustic model. The caller adds words and a search later.
    ///
    /// - Parameter settings: the library's settings, as alternating names and values.
    init(acousticsOf model: PocketSphinxModel, settings: [String]) throws(DeviceError) {
        pointer = try Self.open(model, ["hmm", model.acousticModel] + settings)
    }

    private static func open(_ model: PocketSphinxModel, _ options: [String]) throws(DeviceError) -> OpaquePointer {
        let strings = CStrings(options)
        defer { withExtendedLifetime(strings) {} }
        guard let pointer = fieldscribe_ps_open(strings.pointers, Int32(options.count), DecoderLog.listener) else {
            throw DeviceError(
                .damaged, "ps_init", on: model.acousticModel, "PocketSphinx cannot load this model (\(lastError))",
                remedy: "reinstall the package pocketsphinx-en-us, or set recognizer.model to another model")
        }
        return pointer
    }

    private func add(_ addition: PocketSphinxModel.Addition) throws(DeviceError) {
        let (status, path) =
            switch addition {
            case .phrases(let path): (fieldscribe_ps_add_model(pointer, path), path)
            case .grammar(let path): (fieldscribe_ps_set_grammar(pointer, path), path)
            }
        guard status < 0 else { return }
        throw DeviceError(
            .unsupported, "vocabulary", on: path, "PocketSphinx rejected this vocabulary (\(Self.lastError))",
            remedy: "run fieldscribe vocabulary check to find out why")
    }

    /// Checks that the decoder knows most of the first words in the dictionary. The library silently skips words with
    /// phones that the acoustic model lacks, and would recognize nothing if it skipped them all.
    private func checkDictionary(_ model: PocketSphinxModel) throws(DeviceError) {
        let words = model.firstWords(maximumCount: Self.wordsToCheck)
        let knownCount = words.count { word in
            let sounds = ps_lookup_word(pointer, word)
            free(sounds)
            return sounds != nil
        }
        guard knownCount * 2 > words.count else {
            throw DeviceError(
                .damaged, "ps_lookup_word", on: model.dictionary,
                "this dictionary does not match the acoustic model \(model.acousticModel) (\(knownCount) of its first "
                    + "\(words.count) words are known)",
                remedy: "set recognizer.dictionary to the dictionary of this acoustic model")
        }
    }

    private static let wordsToCheck = 100

    deinit { ps_free(pointer) }

    func check(_ status: Int32, _ operation: String) throws(DeviceError) {
        guard status < 0 else { return }
        throw DeviceError(
            .failed, operation, status: status, "PocketSphinx failed in \(operation) (\(Self.lastError))",
            remedy: "the utterance will be decoded again")
    }

    /// Starts an utterance and resets the noise estimate, so that the same audio gives the same text in every worker.
    func start() throws(DeviceError) {
        try check(ps_start_stream(pointer), "ps_start_stream")
        try check(ps_start_utt(pointer), "ps_start_utt")
    }

    func bestText() -> String {
        guard let text = ps_get_hyp(pointer, nil) else { return "" }
        return VocabularyWord.text(of: String(cString: text))
    }

    var score: Double? {
        var score: Int32 = 0
        return ps_get_hyp(pointer, &score) == nil ? nil : Double(score)
    }

    /// Returns the best hypothesis.
    ///
    /// - Parameter limit: the length of the utterance in samples.
    func bestHypothesis(limit: Int64) -> DecoderHypothesis {
        var hypothesis = DecoderHypothesis(limit: limit)
        forEachWord { segment, name, frames in
            let posterior = fieldscribe_ps_probability(pointer, ps_seg_prob(segment, nil, nil, nil))
            hypothesis.add(VocabularyWord(name), frames: frames, posterior: min(1, max(0, posterior)))
        }
        return hypothesis
    }

    /// Returns the words of the best hypothesis, without fillers: their names in the dictionary, without pronunciation
    /// numbers, and their frames.
    func words() -> [(name: String, frames: Range<Int64>)] {
        var words: [(name: String, frames: Range<Int64>)] = []
        forEachWord { _, name, frames in
            if let text = VocabularyWord(name).spokenText { words.append((text, frames)) }
        }
        return words
    }

    private func forEachWord(_ body: (OpaquePointer, String, Range<Int64>) -> Void) {
        var segment = ps_seg_iter(pointer)
        while let current = segment {
            if let name = ps_seg_word(current) {
                var first: Int32 = 0
                var last: Int32 = 0
                ps_seg_frames(current, &first, &last)
                body(current, String(cString: name), Int64(first)..<Int64(max(first, last) + 1))
            }
            segment = ps_seg_next(current)
        }
    }

    /// Returns up to `maximumCount` other hypotheses from the lattice that have different words, best first.
    func alternatives(maximumCount: Int) -> [Alternative] {
        guard maximumCount > 0, let best = ps_get_hyp(pointer, nil) else { return [] }
        var seenTexts: Set<String> = [VocabularyWord.text(of: String(cString: best))]
        var scoredTexts: [(text: String, score: Int32)] = []
        var bestScore: Int32?
        var hypothesis = ps_nbest(pointer)
        // Most hypotheses may differ only in fillers, so the number to examine is limited.
        var remaining = 10 * maximumCount
        while let current = hypothesis, remaining > 0, scoredTexts.count < maximumCount {
            var score: Int32 = 0
            if let text = ps_nbest_hyp(current, &score) {
                bestScore = max(bestScore ?? score, score)
                let words = VocabularyWord.text(of: String(cString: text))
                if !words.isEmpty, seenTexts.insert(words).inserted { scoredTexts.append((words, score)) }
            }
            remaining -= 1
            hypothesis = remaining > 0 ? ps_nbest_next(current) : current
        }
        if let hypothesis { ps_nbest_free(hypothesis) }
        let weights = scoredTexts.map { fieldscribe_ps_probability(pointer, min(0, $0.score - (bestScore ?? 0))) }
        // The best hypothesis has weight 1.
        let total = weights.reduce(1, +)
        return zip(scoredTexts, weights).map { Alternative(text: $0.text, confidence: $1 / total) }
    }

    private static var lastError: String {
        guard let text = fieldscribe_ps_last_error(), text.pointee != 0 else { return "no reason given" }
        return String(cString: text)
    }
}

/// PocketSphinx's log, which is dropped unless `FIELDSCRIBE_LOG` enables debug messages of `decoder`.
enum DecoderLog {
    /// The library's log callback; nil if the log is dropped.
    static var listener: fieldscribe_ps_listener? {
        guard Log.filter.includes(.debug, .decoder) else { return nil }
        return { line in
            guard let line else { return }
            Log.debug(.decoder, "pocketsphinx", ["message": String(cString: line)])
        }
    }
}
