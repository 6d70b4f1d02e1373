import Core
import Glibc
import System

/// How words sound, as the model's dictionary has them, or as eSpeak NG says them; a bounded number of answers is kept.
///
/// The dictionary stays on the disk: an aligner needs some dozens of its words at a time.
final class Pronunciations {
    /// What stands for a word that nobody can say: any speech.
    private static let anySpeech = "+SPN+"
    private static let mostKept = 4_096

    private let dictionary: MappedFile
    private let sounds: Set<String>
    private let voice: EspeakVoice
    /// The ways of each word that was asked for, sounds with a space between; none for one that the dictionary lacks.
    private var known: [String: [String]] = [:]
    private var said: [String: [String]] = [:]

    /// - Throws: `DeviceError` where the dictionary cannot be read, `damaged` where the acoustic model does not tell its
    ///   sounds.
    init(model: PocketSphinxModel) throws(DeviceError) {
        dictionary = try MappedFile(model.dictionary)
        guard let sounds = ModelFolder.sounds(of: model.acousticModel) else {
            throw DeviceError(
                .damaged, "mdef", "\(model.acousticModel)/mdef: not a model definition",
                remedy: "see fieldscribe models")
        }
        self.sounds = sounds
        voice = EspeakVoice(language: ModelFolder.language(of: model.name))
    }

    /// Of each word the ways that can be said with words of the dictionary; the likeliest where there is none.
    func choose(_ forms: [SpokenForm]) -> [[[String]]] {
        lookUp(Set(forms.flatMap { $0.ways.joined() }))
        return forms.map { form in
            let ways = form.ways.filter { way in way.allSatisfy { known[$0]?.isEmpty == false } }
            return ways.isEmpty ? Array(form.ways.prefix(1)) : ways
        }
    }

    /// The ways to say each word, all in sounds of the acoustic model; at least one a word, none where that has no sound
    /// for any speech.
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
        if said.count + words.count > Self.mostKept { said = [:] }
        // A word that begins with a dash would be an option.
        let sayable = words.filter { $0.contains(where: \.isLetter) && $0.first != "-" }
        for word in words { said[word] = [] }
        for (word, ways) in zip(sayable, voice.ways(sayable)) {
            said[word] = ways.filter { $0.allSatisfy(sounds.contains) }.map { $0.joined(separator: " ") }
        }
    }

    /// Finds in one pass what is not known yet.
    private func lookUp(_ words: Set<String>) {
        if known.count + words.count > Self.mostKept { known = [:] }
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
