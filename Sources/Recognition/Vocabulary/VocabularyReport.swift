import Core

/// What there is to say about a vocabulary: how its words will be heard, and what cannot be used.
package struct VocabularyReport: Hashable, Sendable, Codable {
    /// A word that the dictionary lacks, and how it will be heard.
    package struct Guess: Hashable, Sendable, Codable {
        /// As it was written.
        package var word: String
        /// The line that it was first written in, from 1.
        var line: Int
        /// The sounds of each way to say it, with a space between each two.
        package var ways: [String]
    }

    /// A line that cannot be used.
    package typealias Problem = VocabularyFile.Problem

    /// Phrases that can be used, templates with every member of their classes.
    package var phrases = 0

    /// Different words.
    package var words = 0

    /// Words that the dictionary has.
    package var known = 0

    /// Words whose sounds the file tells.
    package var told = 0
    /// Words whose sounds eSpeak NG told, in the order of the file.
    package var guesses: [Guess] = []

    /// What cannot be used, in the order of lines; the rest is.
    package var problems: [Problem] = []
    /// Whether it is a grammar, and not a list.
    package var isGrammar = false

    package init() {}

    init(
        problems: [Problem], phrases: Int, isGrammar: Bool, lexicon: Lexicon, sounds: Set<String>
    ) {
        self.phrases = phrases
        self.isGrammar = isGrammar
        words = lexicon.entries.count
        known = lexicon.entries.count { $0.origin == .dictionary }
        told = lexicon.entries.count { $0.origin == .told }
        guesses = lexicon.entries.filter { $0.origin == .guessed }.map {
            Guess(word: $0.written, line: $0.line, ways: $0.ways.map { $0.joined(separator: " ") })
        }
        self.problems = problems
        self.problems += lexicon.entries.filter { $0.origin == .unknown }.map {
            Problem(
                line: $0.line,
                reason:
                    "\($0.written): not in the dictionary, and espeak-ng cannot say it; install espeak-ng, or give its "
                    + "sounds: \($0.written) = D OW G")
        }
        self.problems += lexicon.strange(to: sounds).map {
            Problem(
                line: $0.entry.line,
                reason: "\($0.entry.written): the model has no sound \($0.sound); it has "
                    + sounds.filter { $0.first?.isLetter ?? false }.sorted().joined(separator: " "))
        }
        self.problems.sort { $0.line < $1.line }
    }

    /// Whether nothing of it can be heard.
    var isEmpty: Bool { words == 0 || known + told + guesses.count == 0 }
}
