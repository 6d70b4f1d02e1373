import Core
import System

/// Prepares a user's vocabulary for the decoder before recording, and keeps the result for later recordings.
package struct VocabularyPreparation: Sendable {
    /// `vocabulary.txt`, or a JSGF grammar; nil for learned words only.
    let file: String?
    /// The vocabulary learned from corrections, whose phrases have their own weight and are not used with a grammar;
    /// nil for none.
    var learned: String?
    let dictionary: String
    /// The model's language model; if it changes, the result is prepared again.
    let languageModel: String
    /// Such as `en-US`.
    let language: String
    /// The acoustic model's phones.
    let sounds: Set<String>
    /// The folder for the result, which may be deleted at any time.
    let folder: String

    /// Returns the report on the vocabulary without preparing it.
    ///
    /// - Throws: `DeviceError` with `missing` or `denied` for a file that cannot be read.
    package func check() throws(DeviceError) -> VocabularyReport { try read(text()).report }

    /// Prepares the vocabulary, or uses an earlier result for the same files.
    ///
    /// - Parameter base: the model's own probabilities; called only if something must be prepared.
    /// - Returns: the paths of the model's dictionary with the missing words, and of the phrases' language model or the
    ///   grammar; the report, or nil if an earlier result was used.
    func prepare(
        base: () throws(DeviceError) -> PhraseModel.Base
    ) throws(DeviceError) -> (dictionary: String, addition: PocketSphinxModel.Addition, report: VocabularyReport?) {
        let text = try text()
        let name = name(of: text)
        let place = "\(folder)/\(name)"
        let isGrammar = GrammarFile.isGrammar(text)
        let (words, model) = ("\(place)/words.dict", "\(place)/\(isGrammar ? "said.gram" : "phrases.lm")")
        let addition: PocketSphinxModel.Addition = isGrammar ? .grammar(model) : .phrases(model)
        let sums = "\(place)/sums"
        if let kept = try? content(ofFile: sums, limit: 1_000), let made = Self.sums(of: [words, model]), kept == made {
            return (words, addition, nil)
        }
        let reading = try read(text)
        guard !reading.report.isEmpty else {
            let named = file ?? LearnedFile.name
            throw DeviceError(
                .unsupported, "vocabulary",
                "\(named): contains no word that can be heard; fieldscribe vocabulary check \(named) explains why")
        }
        try makeFolder(place)
        let isReplaceable = [words, model, sums].allSatisfy { (FileStatus($0)?.kind ?? .file) == .file }
        if !isReplaceable {
            try removeFolder(place)
            try makeFolder(place)
        }
        let content =
            isGrammar
            ? GrammarFile(text).text(naming: reading.lexicon.names)
            : PhraseModel(phrases(reading), base: try base()).arpa
        try durableReplace(path: model, with: content)
        try durableReplace(path: words, with: reading.lexicon.extendedDictionary())
        // Written last: if the digests exist, so does everything else.
        try durableReplace(path: sums, with: Self.sums(of: [words, model]) ?? [])
        // Each correction creates another dictionary of several megabytes: delete outdated ones.
        if learned != nil, !isGrammar { try? Self.removeLearned(from: folder, but: name) }
        return (words, addition, reading.report)
    }

    /// Deletes the results that contain learned words.
    ///
    /// - Parameters:
    ///   - folder: the folder with the results; it need not exist.
    ///   - name: the result to keep.
    /// - Throws: `DeviceError` for a result that cannot be deleted.
    static func removeLearned(from folder: String, but name: String? = nil) throws(DeviceError) {
        for other in try names(inFolder: folder) where other.hasPrefix(learnedPrefix) && other != name {
            try removeFolder("\(folder)/\(other)")
        }
    }

    /// Returns digests that detect damaged results, on which the decoder would end its process; nil if a result cannot
    /// be read.
    private static func sums(of paths: [String]) -> [UInt8]? {
        var text = ""
        for path in paths {
            guard let bytes = try? content(ofFile: path) else { return nil }
            text += "\(hash(bytes).padded(to: 16, radix: 16))\n"
        }
        return Array(text.utf8)
    }

    private static let learnedPrefix = "learned-"

    private struct Reading {
        var phrases: [VocabularyFile.Phrase] = []
        var lexicon: Lexicon
        var report: VocabularyReport
    }

    private func text() throws(DeviceError) -> String {
        guard let file else { return "" }
        return String(decoding: try content(ofFile: file, limit: VocabularyFile.largest), as: UTF8.self)
    }

    private func read(_ text: String) throws(DeviceError) -> Reading {
        let voice = EspeakVoice(language: language)
        if GrammarFile.isGrammar(text) {
            let grammar = GrammarFile(text)
            if let excess = grammar.excess {
                throw DeviceError(.unsupported, "vocabulary", "\(file ?? ""): this grammar \(excess)")
            }
            let lexicon = try Lexicon(
                grammar.words, pronunciations: [:], dictionary: dictionary, speak: voice.ways)
            return Reading(
                lexicon: lexicon,
                report: VocabularyReport(
                    problems: grammar.undefined.map {
                        VocabularyFile.Problem(line: $0.line, reason: "\($0.rule) is used, but not defined")
                    }, phrases: 0, isGrammar: true, lexicon: lexicon, sounds: sounds))
        }
        let vocabulary = VocabularyFile(text)
        let own = vocabulary.words
        let other = VocabularyFile(learned ?? "", usual: LearnedFile.usual)
        let known = Set(own.map(\.word))
        let lexicon = try Lexicon(
            own + other.words.filter { !known.contains($0.word) },
            pronunciations: vocabulary.pronunciations.merging(other.pronunciations) { own, _ in own },
            dictionary: dictionary, speak: voice.ways)
        // Report learned words only if there is no file.
        let reported = file == nil ? (other, lexicon) : (vocabulary, lexicon.prefix(own.count))
        return Reading(
            phrases: vocabulary.phrases + other.phrases, lexicon: lexicon,
            report: VocabularyReport(
                problems: reported.0.problems, phrases: reported.0.phrases.count, isGrammar: false, lexicon: reported.1,
                sounds: sounds))
    }

    /// Returns the phrases whose words all have a pronunciation, with the decoder's names.
    private func phrases(_ reading: Reading) -> [VocabularyFile.Phrase] {
        let strange = Set(reading.lexicon.strange(to: sounds).map(\.entry.written))
        let names = reading.lexicon.names.filter { !strange.contains($0.key) }
        return reading.phrases.compactMap { phrase in
            let known = phrase.words.compactMap { names[$0] }
            guard known.count == phrase.words.count else { return nil }
            return VocabularyFile.Phrase(words: known, perThousand: phrase.perThousand, line: phrase.line)
        }
    }

    /// Returns a name that identifies the input files.
    private func name(of text: String) -> String {
        var hash = Self.hash([])
        func add(_ bytes: some Sequence<UInt8>) { hash = Self.hash(bytes, after: hash) }
        // Increment the version when the same words give another result.
        add("fieldscribe vocabulary 2\n\(text)\n".utf8)
        let isLearned = learned != nil && !GrammarFile.isGrammar(text)
        if isLearned, let learned { add("learned \(LearnedFile.usual)\n\(learned)\n".utf8) }
        for path in [dictionary, languageModel] {
            let status = FileStatus(target: path)
            add("\(path) \(status?.bytes ?? 0) \(status?.modified ?? 0)\n".utf8)
        }
        return (isLearned ? Self.learnedPrefix : "") + hash.padded(to: 16, radix: 16)
    }

    /// FNV-1a.
    private static func hash(_ bytes: some Sequence<UInt8>, after start: UInt64 = 0xcbf2_9ce4_8422_2325) -> UInt64 {
        var hash = start
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01b3 }
        return hash
    }
}
