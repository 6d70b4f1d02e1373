import Core
import Glibc
import Synchronization

/// Finds the ends of sentences with a language model.
package final class SentenceModel: Sendable {
    /// The log odds that a sentence ends where the model gives no probability.
    private static let unknownWordLogOdds = -5.0

    private let file: Mutex<LanguageModelFile>

    /// - Throws: `DeviceError` with `damaged` if the library rejects the file.
    package init(path: String) throws(DeviceError) {
        file = Mutex(try LanguageModelFile(path: path))
    }

    /// Returns the log odds that a sentence ends between these words. Each array begins with the word nearest to the
    /// boundary.
    package func logOdds(before: [String], after: [String]) -> Double {
        file.withLock { file in
            func logProbability(_ word: String, _ history: [String]) -> Double? {
                let probability = file.probability(of: word, after: history)
                return probability > 0 ? log(probability) : nil
            }
            var logOdds = logProbability("</s>", before) ?? Self.unknownWordLogOdds
            guard let next = after.first else { return logOdds }
            if let begins = logProbability(next, ["<s>"]), let continues = logProbability(next, before) {
                logOdds += begins - continues
            }
            if after.count > 1, let begins = logProbability(after[1], [next, "<s>"]),
                let continues = logProbability(after[1], [next] + before.prefix(1))
            {
                logOdds += begins - continues
            }
            return logOdds
        }
    }
}
