import Core
import Glibc
import Synchronization

/// A language model that is asked where sentences end.
package final class SentenceModel: Sendable {
    /// The odds of an end behind a word that the model does not know, as a natural logarithm.
    private static let unknown = -5.0

    private let file: Mutex<LanguageModelFile>

    /// - Throws: `DeviceError` with `damaged` where the library refuses the file.
    package init(path: String) throws(DeviceError) {
        file = Mutex(try LanguageModelFile(path: path))
    }

    /// How much likelier a sentence ends between these words, and another begins, than that it goes on, as a natural
    /// logarithm; the words on either side in their order away from the place.
    package func odds(before: [String], after: [String]) -> Double {
        file.withLock { file in
            func chance(_ word: String, _ history: [String]) -> Double? {
                let probability = file.probability(of: word, after: history)
                return probability > 0 ? log(probability) : nil
            }
            var odds = chance("</s>", before) ?? Self.unknown
            guard let next = after.first else { return odds }
            if let begins = chance(next, ["<s>"]), let goesOn = chance(next, before) { odds += begins - goesOn }
            if after.count > 1, let begins = chance(after[1], [next, "<s>"]),
                let goesOn = chance(after[1], [next] + before.prefix(1))
            {
                odds += begins - goesOn
            }
            return odds
        }
    }
}
