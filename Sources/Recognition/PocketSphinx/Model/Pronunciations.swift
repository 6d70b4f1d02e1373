import Core
import System

/// Finds pronunciations in the model's dictionary or with eSpeak NG, and keeps them in a bounded cache.
///
/// The dictionary stays on disk, because an aligner needs only a few dozen words at a time.
final class Pronunciations {
    /// The phone that matches any speech, for words without a pronunciation.
    private static let anySpeech = "+SPN+"
    private static let maxCached = 4_096

    private let dictionary: MappedFile
    private let sounds: Set<String>
    private let voice: EspeakVoice
    /// The dictionary's pronunciations of each requested word, phones separated by spaces; empty if it lacks the word.
    private var listed: [String: [String]] = [:]
    /// The pronunciations from eSpeak NG, in the same form.
    private var spoken: [String: [String]] = [:]

    /// - Throws: `DeviceError` if the dictionary cannot be read, `damaged` if the acoustic model's phones cannot be
    ///   read.
    init(model: PocketSphinxModel) throws(DeviceError) {
        dictionary = try MappedFile(model.dictionary)
        sounds = try model.sounds()
        voice = EspeakVoice(language: ModelFolder.language(of: model.name))
    }

    /// Returns the variants of each word that consist of dictionary words, or its most likely variant if none do.
    func choose(_ forms: [SpokenForm]) -> [[[String]]] {
        lookUp(Set(forms.flatMap { $0.variants.joined() }))
        return forms.map { form in
            let variants = form.variants.filter { variant in variant.allSatisfy { listed[$0]?.isEmpty == false } }
            return variants.isEmpty ? Array(form.variants.prefix(1)) : variants
        }
    }

    /// Returns the pronunciations of each word in the acoustic model's phones: at least one per word, or none if the
    /// model has no phone that matches any speech.
    func pronunciations(of words: Set<String>) -> [String: [String]] {
        lookUp(words)
        pronounce(words.filter { listed[$0]?.isEmpty != false && spoken[$0] == nil }.sorted())
        return words.reduce(into: [:]) { result, word in
            let own = listed[word].flatMap { $0.isEmpty ? spoken[word] : $0 } ?? []
            result[word] = own.isEmpty && sounds.contains(Self.anySpeech) ? [Self.anySpeech] : own
        }
    }

    private func pronounce(_ words: [String]) {
        guard !words.isEmpty else { return }
        if spoken.count + words.count > Self.maxCached { spoken = [:] }
        // eSpeak NG would parse a word that begins with a dash as an option.
        let pronounceable = words.filter { $0.contains(where: \.isLetter) && $0.first != "-" }
        for word in words { spoken[word] = [] }
        for (word, pronunciations) in zip(pronounceable, voice.pronunciations(of: pronounceable)) {
            spoken[word] = pronunciations.filter { $0.allSatisfy(sounds.contains) }.map { $0.joined(separator: " ") }
        }
    }

    /// Looks up new words in one pass through the dictionary.
    private func lookUp(_ words: Set<String>) {
        if listed.count + words.count > Self.maxCached { listed = [:] }
        let missing = words.filter { listed[$0] == nil }
        guard !missing.isEmpty else { return }
        for word in missing { listed[word] = [] }
        dictionary.withBytes { bytes in
            DictionaryScan(missing).run(over: bytes) { word, phones in
                let pronunciation = phones.split { $0 == " " || $0 == "\t" || $0 == "\r" }
                if !pronunciation.isEmpty, pronunciation.allSatisfy({ sounds.contains(String($0)) }) {
                    listed[word, default: []].append(pronunciation.joined(separator: " "))
                }
            }
        }
    }
}
