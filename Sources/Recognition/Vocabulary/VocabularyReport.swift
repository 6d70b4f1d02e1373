/// A report on a vocabulary: how many of its words have a pronunciation, and its problems.
package struct VocabularyReport: Hashable, Sendable, Codable {
    /// A word that the dictionary lacks, with its pronunciations from eSpeak NG.
    package struct Guess: Hashable, Sendable, Codable {
        package var word: String
        /// The line of its first use, from 1.
        var line: Int
        /// The phones of each pronunciation, separated by spaces.
        package var pronunciations: [String]

        private enum CodingKeys: String, CodingKey {
            case word, line
            case pronunciations = "ways"
        }
    }

    /// The number of phrases, with templates expanded; 0 for a grammar.
    package var phrases = 0
    package var words = 0
    /// The number of words whose pronunciation is in the dictionary.
    package var dictionaryWords = 0
    /// The number of words whose pronunciation is in the vocabulary.
    package var userPronouncedWords = 0
    /// The words with a pronunciation from eSpeak NG, in file order.
    package var guesses: [Guess] = []
    package var problems: [VocabularyFile.Problem] = []
    package var isGrammar = false

    private enum CodingKeys: String, CodingKey {
        case phrases, words, guesses, problems, isGrammar
        case dictionaryWords = "known"
        case userPronouncedWords = "told"
    }

    package init() {}

    init(
        problems: [VocabularyFile.Problem], phrases: Int, isGrammar: Bool, lexicon: Lexicon, sounds: Set<String>
    ) {
        self.phrases = phrases
        self.isGrammar = isGrammar
        words = lexicon.entries.count
        dictionaryWords = lexicon.entries.count { $0.origin == .dictionary }
        userPronouncedWords = lexicon.entries.count { $0.origin == .user }
        guesses = lexicon.entries.filter { $0.origin == .espeak }.map {
            Guess(word: $0.written, line: $0.line, pronunciations: $0.pronunciations.map { $0.joined(separator: " ") })
        }
        self.problems = problems
        self.problems += lexicon.entries.filter { $0.origin == .unknown }.map {
            VocabularyFile.Problem(
                line: $0.line,
                reason:
                    "\($0.written): not in the dictionary, and espeak-ng cannot pronounce it; install espeak-ng or "
                    + "add its sounds: \($0.written) = D OW G")
        }
        self.problems += lexicon.unusableEntries(forModelWith: sounds).map {
            VocabularyFile.Problem(
                line: $0.entry.line,
                reason: "\($0.entry.written): the model has no sound \($0.sound); it has "
                    + sounds.filter { $0.first?.isLetter ?? false }.sorted().joined(separator: " "))
        }
        self.problems.sort { $0.line < $1.line }
    }

    /// Whether no word has a pronunciation.
    var isEmpty: Bool { dictionaryWords + userPronouncedWords + guesses.count == 0 }
}
