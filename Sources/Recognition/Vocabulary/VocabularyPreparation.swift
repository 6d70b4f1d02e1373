import Core
import System

/// Prepares a user's vocabulary for the decoder before recording, and caches the result for later recordings.
package struct VocabularyPreparation: Sendable {
    /// The path of `vocabulary.txt` or of a JSGF grammar; nil to use only learned words.
    let file: String?
    /// The vocabulary learned from corrections; nil if there is none. Its phrases have a lower default frequency, and
    /// are not used with a grammar.
    var learned: String?
    let dictionary: String
    /// The path of the model's language model. If this file changes, the vocabulary is prepared again.
    let languageModel: String
    /// The language of the model, such as `en-US`.
    let language: String
    let sounds: Set<String>
    /// The folder for the result, which may be deleted at any time.
    let folder: String

    /// Returns the report on the vocabulary without preparing it.
    ///
    /// - Throws: `DeviceError` with `missing` or `denied` for a file that cannot be read, `unsupported` for a grammar
    ///   that cannot be used.
    package func check() throws(DeviceError) -> VocabularyReport { try parse(text()).report }

    /// Prepares the vocabulary, or reuses an earlier result for the same files.
    ///
    /// - Parameter base: returns the model's own probabilities; called only if something must be prepared.
    /// - Returns: the paths of the extended dictionary and of the language model or grammar, and the report. The report
    ///   is nil if an earlier result was reused.
    /// - Throws: the errors of `check`; `DeviceError` with `unsupported` if no line of the vocabulary or the learned
    ///   words can be used.
    func prepare(
        base: () throws(DeviceError) -> PhraseModel.Base
    ) throws(DeviceError) -> (dictionary: String, addition: PocketSphinxModel.Addition, report: VocabularyReport?) {
        let text = try text()
        let name = name(of: text)
        let resultFolder = "\(folder)/\(name)"
        let isGrammar = GrammarFile.isGrammar(text)
        let dictionaryPath = "\(resultFolder)/words.dict"
        let modelPath = "\(resultFolder)/\(isGrammar ? "said.gram" : "phrases.lm")"
        let addition: PocketSphinxModel.Addition = isGrammar ? .grammar(modelPath) : .phrases(modelPath)
        let sumsPath = "\(resultFolder)/sums"
        if let expected = try? content(ofFile: sumsPath, limit: 1_000),
            let actual = Self.sums(of: [dictionaryPath, modelPath]), expected == actual
        {
            return (dictionaryPath, addition, nil)
        }
        let parsed = try parse(text)
        let phrases = phrases(parsed)
        guard isGrammar ? !parsed.report.isEmpty : !phrases.isEmpty else {
            let path = file ?? LearnedFile.name
            throw DeviceError(
                .unsupported, "vocabulary",
                "\(path): contains no usable lines; run fieldscribe vocabulary check \(path) to find out why")
        }
        try makeFolder(resultFolder)
        let paths = [dictionaryPath, modelPath, sumsPath]
        let isReplaceable = paths.allSatisfy { (FileStatus($0)?.kind ?? .file) == .file }
        if !isReplaceable {
            try removeFolder(resultFolder)
            try makeFolder(resultFolder)
        }
        let content =
            isGrammar
            ? GrammarFile(text).text(naming: parsed.lexicon.names)
            : PhraseModel(phrases, base: try base()).arpa
        try durableReplace(path: modelPath, with: content)
        try durableReplace(path: dictionaryPath, with: parsed.lexicon.extendedDictionary())
        // The digests are written last: if they exist, so do the other files.
        try durableReplace(path: sumsPath, with: Self.sums(of: [dictionaryPath, modelPath]) ?? [])
        // Each correction creates another dictionary of several megabytes, so delete outdated ones.
        if learned != nil, !isGrammar { try? Self.removeLearned(from: folder, but: name) }
        return (dictionaryPath, addition, parsed.report)
    }

    /// Deletes the results that contain learned words.
    ///
    /// - Parameters:
    ///   - folder: the folder that contains the results. It may be missing.
    ///   - name: the result to keep.
    /// - Throws: `DeviceError` for a result that cannot be deleted.
    static func removeLearned(from folder: String, but name: String? = nil) throws(DeviceError) {
        for other in try names(inFolder: folder) where other.hasPrefix(learnedPrefix) && other != name {
            try removeFolder("\(folder)/\(other)")
        }
    }

    /// Returns digests that detect damaged files, because the decoder would exit the process when it reads such a file;
    /// nil if a file cannot be read.
    private static func sums(of paths: [String]) -> [UInt8]? {
        var text = ""
        for path in paths {
            guard let bytes = try? content(ofFile: path) else { return nil }
            text += "\(hash(bytes).padded(to: 16, radix: 16))\n"
        }
        return Array(text.utf8)
    }

    private static let learnedPrefix = "learned-"

    private struct ParsedVocabulary {
        var phrases: [VocabularyFile.Phrase] = []
        var lexicon: Lexicon
        var report: VocabularyReport
    }

    private func text() throws(DeviceError) -> String {
        guard let file else { return "" }
        return String(decoding: try content(ofFile: file, limit: VocabularyFile.maximumBytes), as: UTF8.self)
    }

    private func parse(_ text: String) throws(DeviceError) -> ParsedVocabulary {
        let voice = EspeakVoice(language: language)
        if GrammarFile.isGrammar(text) {
            let grammar = GrammarFile(text)
            if let problem = grammar.sizeProblem {
                throw DeviceError(.unsupported, "vocabulary", "\(file ?? ""): this grammar \(problem)")
            }
            let lexicon = try Lexicon(
                grammar.words, pronunciations: [:], dictionary: dictionary, pronounce: voice.pronunciations)
            return ParsedVocabulary(
                lexicon: lexicon,
                report: VocabularyReport(
                    problems: grammar.undefined.map {
                        VocabularyFile.Problem(line: $0.line, reason: "\($0.rule) is used but not defined")
                    }, phrases: 0, isGrammar: true, lexicon: lexicon, sounds: sounds))
        }
        let vocabulary = VocabularyFile(text)
        let words = vocabulary.words
        let learnedVocabulary = VocabularyFile(learned ?? "", defaultFrequency: LearnedFile.defaultFrequency)
        let ownWords = Set(words.map(\.word))
        let lexicon = try Lexicon(
            words + learnedVocabulary.words.filter { !ownWords.contains($0.word) },
            pronunciations: vocabulary.pronunciations.merging(learnedVocabulary.pronunciations) { first, _ in first },
            dictionary: dictionary, pronounce: voice.pronunciations)
        // Learned words are reported only if there is no file.
        let reported = file == nil ? (learnedVocabulary, lexicon) : (vocabulary, lexicon.prefix(words.count))
        return ParsedVocabulary(
            phrases: vocabulary.phrases + learnedVocabulary.phrases, lexicon: lexicon,
            report: VocabularyReport(
                problems: reported.0.problems, phrases: reported.0.phrases.count, isGrammar: false, lexicon: reported.1,
                sounds: sounds))
    }

    /// Returns the phrases whose words all have a pronunciation, with the decoder's names for their words.
    private func phrases(_ parsed: ParsedVocabulary) -> [VocabularyFile.Phrase] {
        let unusable = Set(parsed.lexicon.unusableEntries(forModelWith: sounds).map(\.entry.written))
        let names = parsed.lexicon.names.filter { !unusable.contains($0.key) }
        return parsed.phrases.compactMap { phrase in
            let decoderNames = phrase.words.compactMap { names[$0] }
            guard decoderNames.count == phrase.words.count else { return nil }
            return VocabularyFile.Phrase(words: decoderNames, perThousand: phrase.perThousand, line: phrase.line)
        }
    }

    /// Returns a name for the result that identifies the input files.
    private func name(of text: String) -> String {
        var hash = Self.hash([])
        func add(_ bytes: some Sequence<UInt8>) { hash = Self.hash(bytes, after: hash) }
        // Increment this version when the same words give a different result.
        add("fieldscribe vocabulary 3\n\(language)\n\(text)\n".utf8)
        let isLearned = learned != nil && !GrammarFile.isGrammar(text)
        if isLearned, let learned { add("learned \(LearnedFile.defaultFrequency)\n\(learned)\n".utf8) }
        for path in [dictionary, languageModel] {
            let status = FileStatus(target: path)
            add("\(path) \(status?.bytes ?? 0) \(status?.modified ?? 0)\n".utf8)
        }
        return (isLearned ? Self.learnedPrefix : "") + hash.padded(to: 16, radix: 16)
    }

    private static func hash(_ bytes: some Sequence<UInt8>, after start: UInt64 = 0xcbf2_9ce4_8422_2325) -> UInt64 {
        var hash = start
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01b3 }
        return hash
    }
}
