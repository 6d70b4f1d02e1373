/// The report on a vocabulary: the pronunciations of its words, and its problems.
package struct VocabularyReport: Hashable, Sendable, Codable {
    /// A word that the dictionary lacks, with its pronunciations from eSpeak NG.
    package struct Guess: Hashable, Sendable, Codable {
        package var word: String
        /// The line of its first use, from 1.
        var line: Int
        /// The pronunciations, as phones separated by spaces.
        package var ways: [String]
    }

    /// The number of usable phrases, with templates expanded.
    package var phrases = 0
    /// The number of different words.
    package var words = 0
    /// The number of words that are in the dictionary.
    package var known = 0
    /// The number of words whose pronunciation is in the vocabulary.
    package var told = 0
    /// The words with a pronunciation from eSpeak NG, in file order.
    package var guesses: [Guess] = []
    /// The problems, in line order.
    package var problems: [VocabularyFile.Problem] = []
    package var isGrammar = false

    package init() {}

    init(
        problems: [VocabularyFile.Problem], phrases: Int, isGrammar: Bool, lexicon: Lexicon, sounds: Set<String>
    ) {
        self.phrases = phrases
        self.isGrammar = isGrammar
        words = lexicon.entries.count
        known = lexicon.entries.count { $0.origin == .dictionary }
        told = lexicon.entries.count { $0.origin == .user }
        guesses = lexicon.entries.filter { $0.origin == .espeak }.map {
            Guess(word: $0.written, line: $0.line, ways: $0.pronunciations.map { $0.joined(separator: " ") })
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
    var isEmpty: Bool { known + told + guesses.count == 0 }
}
