import Core
internal import CPocketSphinx

final class LanguageModelFile {
    // Safety: owned by this object, closed once in deinit.
    private let handle: fieldscribe_lm

    /// - Throws: `DeviceError` with `damaged` if the library rejects the file.
    init(path: String) throws(DeviceError) {
        handle = fieldscribe_lm_open(path, DecoderLog.listener)
        guard handle.model != nil else {
            fieldscribe_lm_close(handle)
            throw DeviceError(
                .damaged, "ngram_model_read", on: path, "PocketSphinx cannot read this language model",
                remedy: "set recognizer.language-model to another file")
        }
    }

    deinit { fieldscribe_lm_close(handle) }

    /// Returns the probability of a word after the given words, nearest first; 0 for an unknown word.
    func probability(of word: String, after history: [String]) -> Double {
        let strings = CStrings([word] + history)
        defer { withExtendedLifetime(strings) {} }
        return fieldscribe_lm_probability(handle, strings.pointers, Int32(strings.pointers.count))
    }
}
