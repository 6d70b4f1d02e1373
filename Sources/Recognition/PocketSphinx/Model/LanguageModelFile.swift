import Core
internal import CPocketSphinx

final class LanguageModelFile {
    // Safety: owned by this object, closed once in deinit.
    private let opened: fieldscribe_lm

    /// - Throws: `DeviceError` with `damaged` if the library rejects the file.
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

    /// Returns the probability of a word after others, nearest first; 0 for an unknown word.
    func probability(of word: String, after before: [String]) -> Double {
        let strings = CStrings([word] + before)
        defer { withExtendedLifetime(strings) {} }
        return fieldscribe_lm_probability(opened, strings.pointers, Int32(strings.pointers.count))
    }
}
