import Core
import System

/// Finds pronunciations in the model's dictionary or with eSpeak NG, and keeps them in a bounded cache.
///
/// The dictionary stays on disk, because an aligner needs only a few dozen words at a time.
final class Pronunciations {
    /// The phone that matches any speech, for words without a pronunciation.
    private static let anySpeech = "+SPN+"
    static let maxCached = 4_096

    private let dictionary: MappedFile
    private let sounds: Set<String>
    private let voice: EspeakVoice
    /// Each requested word's pronunciations from the dictionary, with phones separated by spaces; empty if it has none.
    private var fromDictionary: [String: [String]] = [:]
    /// Each requested word's pronunciations from eSpeak NG, in the same form.
    private var fromEspeak: [String: [String]] = [:]

    /// - Throws: `DeviceError` if the dictionary cannot be read; `damaged` if the acoustic model's definition cannot be
    ///   parsed.
    init(model: PocketSphinxModel) throws(DeviceError) {
        dictionary = try MappedFile(model.dictionary)
        sounds = try model.sounds()
        voice = EspeakVoice(language: model.language)
    }

    /// Returns, for each word, the variants that consist of dictionary words, or its most likely variant if none do.
    func choose(_ forms: [SpokenForm]) -> [[[String]]] {
        lookUp(Set(forms.flatMap { $0.variants.joined() }))
        return forms.map { form in
            let variants = form.variants.filter { words in words.allSatisfy { fromDictionary[$0]?.isEmpty == false } }
            return variants.isEmpty ? Array(form.variants.prefix(1)) : variants
        }
    }

    /// Returns the pronunciations of each word in the acoustic model's phones. A word that has none gets the phone that
    /// matches any speech, if the model has it.
    func pronunciations(of words: Set<String>) -> [String: [String]] {
        lookUp(words)
        pronounce(words.filter { fromDictionary[$0]?.isEmpty != false })
        return words.reduce(into: [:]) { result, word in
            let phones = fromDictionary[word].flatMap { $0.isEmpty ? fromEspeak[word] : $0 } ?? []
            result[word] = phones.isEmpty && sounds.contains(Self.anySpeech) ? [Self.anySpeech] : phones
        }
    }

    /// Pronounces words that are not cached.
    private func pronounce(_ words: Set<String>) {
        if fromEspeak.count + words.count > Self.maxCached { fromEspeak = [:] }
        let new = words.filter { fromEspeak[$0] == nil }.sorted()
        guard !new.isEmpty else { return }
        // eSpeak NG would parse a word that begins with a dash as an option.
        let pronounceable = new.filter { $0.contains(where: \.isLetter) && $0.first != "-" }
        for word in new { fromEspeak[word] = [] }
        for (word, pronunciations) in zip(pronounceable, voice.pronunciations(of: pronounceable)) {
            fromEspeak[word] = pronunciations.filter { $0.allSatisfy(sounds.contains) }
                .map { $0.joined(separator: " ") }
        }
    }

    /// Looks up new words in one pass through the dictionary.
    private func lookUp(_ words: Set<String>) {
        if fromDictionary.count + words.count > Self.maxCached { fromDictionary = [:] }
        let missing = words.filter { fromDictionary[$0] == nil }
        guard !missing.isEmpty else { return }
        for word in missing { fromDictionary[word] = [] }
        dictionary.withBytes { bytes in
            DictionaryScan(missing).run(over: bytes) { word, phones in
                let pronunciation = phones.split { $0 == " " || $0 == "\t" || $0 == "\r" }
                if !pronunciation.isEmpty, pronunciation.allSatisfy({ sounds.contains(String($0)) }) {
                    fromDictionary[word, default: []].append(pronunciation.joined(separator: " "))
                }
            }
        }
    }
}
