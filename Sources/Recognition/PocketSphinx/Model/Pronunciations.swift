import Core
import System

/// Pronunciations from the model's dictionary or eSpeak NG, with a bounded cache.
///
/// The dictionary stays on the disk, because an aligner needs only a few dozen words at a time.
final class Pronunciations {
    /// The phone that matches any speech, for words without a pronunciation.
    private static let anySpeech = "+SPN+"
    private static let maxKept = 4_096

    private let dictionary: MappedFile
    private let sounds: Set<String>
    private let voice: EspeakVoice
    /// The pronunciations of each requested word, phones separated by spaces; empty if the dictionary lacks it.
    private var known: [String: [String]] = [:]
    private var said: [String: [String]] = [:]

    /// - Throws: `DeviceError` if the dictionary cannot be read, `damaged` if the acoustic model's phones cannot be
    ///   read.
    init(model: PocketSphinxModel) throws(DeviceError) {
        dictionary = try MappedFile(model.dictionary)
        sounds = try model.sounds()
        voice = EspeakVoice(language: ModelFolder.language(of: model.name))
    }

    /// Returns the forms of each word that consist of dictionary words; the most likely form if there is no such form.
    func choose(_ forms: [SpokenForm]) -> [[[String]]] {
        lookUp(Set(forms.flatMap { $0.ways.joined() }))
        return forms.map { form in
            let ways = form.ways.filter { way in way.allSatisfy { known[$0]?.isEmpty == false } }
            return ways.isEmpty ? Array(form.ways.prefix(1)) : ways
        }
    }

    /// Returns the pronunciations of each word in phones of the acoustic model: at least one per word, or none if the
    /// model has no phone that matches any speech.
    func ways(of words: Set<String>) -> [String: [String]] {
        lookUp(words)
        say(words.filter { known[$0]?.isEmpty != false && said[$0] == nil }.sorted())
        return words.reduce(into: [:]) { ways, word in
            let own = known[word].flatMap { $0.isEmpty ? said[word] : $0 } ?? []
            ways[word] = own.isEmpty && sounds.contains(Self.anySpeech) ? [Self.anySpeech] : own
        }
    }

    private func say(_ words: [String]) {
        guard !words.isEmpty else { return }
        if said.count + words.count > Self.maxKept { said = [:] }
        // A word that begins with a dash would be an option.
        let sayable = words.filter { $0.contains(where: \.isLetter) && $0.first != "-" }
        for word in words { said[word] = [] }
        for (word, ways) in zip(sayable, voice.ways(sayable)) {
            said[word] = ways.filter { $0.allSatisfy(sounds.contains) }.map { $0.joined(separator: " ") }
        }
    }

    /// Looks up unknown words in one pass.
    private func lookUp(_ words: Set<String>) {
        if known.count + words.count > Self.maxKept { known = [:] }
        let missing = words.filter { known[$0] == nil }
        guard !missing.isEmpty else { return }
        for word in missing { known[word] = [] }
        dictionary.withBytes { bytes in
            DictionaryScan(missing).run(over: bytes) { word, ways in
                let its = ways.split { $0 == " " || $0 == "\t" || $0 == "\r" }
                if !its.isEmpty, its.allSatisfy({ sounds.contains(String($0)) }) {
                    known[word, default: []].append(its.joined(separator: " "))
                }
            }
        }
    }
}
