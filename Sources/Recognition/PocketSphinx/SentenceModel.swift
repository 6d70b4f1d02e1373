import Core
import Glibc
import Synchronization

/// Finds the ends of sentences with a language model.
package final class SentenceModel: Sendable {
    /// The log odds of a sentence end after a word that the model does not know.
    private static let unknown = -5.0

    private let file: Mutex<LanguageModelFile>

    /// - Throws: `DeviceError` with `damaged` if the library rejects the file.
    package init(path: String) throws(DeviceError) {
        file = Mutex(try LanguageModelFile(path: path))
    }

    /// Returns the log odds that a sentence ends between these words. On both sides, the nearest word comes first.
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
