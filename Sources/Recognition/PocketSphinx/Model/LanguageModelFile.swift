import Core
internal import CPocketSphinx
import Glibc

/// Owns a language model that is asked for its opinion, without a decoder.
final class LanguageModelFile {
    // Safety: owned by this object alone, closed once in deinit.
    private let opened: fieldscribe_lm

    /// - Throws: `DeviceError` with `damaged` where the library refuses the file.
    init(path: String) throws(DeviceError) {
        opened = fieldscribe_lm_open(path, DecoderLog.listener)
        guard opened.model != nil else {
            fieldscribe_lm_close(opened)
            throw DeviceError(
                .damaged, "ngram_model_read", on: path, "PocketSphinx cannot read this language model",
                remedy: "name another with recognizer.language-model")
        }
    }

    deinit { fieldscribe_lm_close(opened) }

    /// How likely a word is after others, the nearest first; 0 for one that the model lacks.
    func probability(of word: String, after before: [String]) -> Double {
        let strings = ([word] + before).map { strdup($0) }
        defer { strings.forEach { free($0) } }
        return fieldscribe_lm_probability(opened, strings.map { UnsafePointer($0) }, Int32(strings.count))
    }
}
