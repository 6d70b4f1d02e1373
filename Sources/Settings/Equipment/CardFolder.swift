import Core
import Glibc
import Recognition
import System

/// The partition of the card that a laptop sees. Reads the user's settings there and composes RESULT.txt.
package struct CardFolder {
    /// The result of reading the partition.
    package struct Outcome: Hashable, Sendable {
        /// The valid settings.
        package var settings: CardSettings

        /// The user's vocabulary; nil if there is no valid one.
        package var vocabulary: [UInt8]?

        /// The problems, one line each.
        package var problems: [String]

        /// The content of RESULT.txt, with line ends that every system shows. It has no date, so that the same result
        /// is not written again.
        package var resultText: String {
            var lines =
                problems.isEmpty
                ? ["\(CardSettings.fileName): all settings are used."]
                : ["\(CardSettings.fileName): these lines are ignored; all others are used. Correct them:"]
            lines += problems.map { "    \($0)" }
            return lines.map { "\($0)\r\n" }.joined()
        }
    }

    private let path: String
    private let zones: String

    /// - Parameters:
    ///   - path: The partition's mount point.
    ///   - zones: The folder with the time zones.
    package init(_ path: String, zones: String = "/usr/share/zoneinfo") {
        self.path = path
        self.zones = zones
    }

    /// Reads the folder. Never fails: unreadable files are reported as problems, and the others are used.
    ///
    /// - Parameter vocabularyPath: The path at which the recorder will find the user's vocabulary.
    package func read(vocabularyAt vocabularyPath: String) -> Outcome {
        var bytes: [UInt8] = []
        var readProblems: [String] = []
        do throws(DeviceError) {
            bytes = try file(CardSettings.fileName, upTo: CardSettings.maximumBytes)
        } catch {
            // If the file is missing, all settings have their defaults.
            if error.code != .missing { readProblems = ["\(CardSettings.fileName): \(error.message)"] }
        }
        var outcome = Outcome(settings: CardSettings(bytes, isTimeZone: isTimeZone), problems: readProblems)
        if !readProblems.isEmpty { outcome.settings.refuseCopies() }
        outcome.problems += outcome.settings.problems
        guard let name = outcome.settings.vocabulary else { return outcome }
        do throws(DeviceError) {
            let words = try file(name, upTo: VocabularyFile.maximumBytes)
            let vocabularyProblems = StickSettings.vocabularyProblems(words, in: name)
            if vocabularyProblems.isEmpty {
                outcome.vocabulary = words
                outcome.settings.setVocabulary(path: vocabularyPath)
            } else {
                outcome.problems.append("\(name): ignored until these lines are corrected")
                outcome.problems += vocabularyProblems.prefix(Self.maxProblems)
            }
        } catch {
            outcome.problems.append(
                "vocabulary: \(name) \(error.code == .missing ? "is not beside this file" : error.message)")
        }
        return outcome
    }

    private static let maxProblems = 50

    private func file(_ name: String, upTo limit: Int) throws(DeviceError) -> [UInt8] {
        try Folder(opening: path).content(ofFile: name, limit: limit)
    }

    private func isTimeZone(_ name: String) -> Bool {
        let isPlain = name.allSatisfy { $0.isASCIIAlphanumeric || "/_-+".contains($0) }
        guard isPlain, name.first != "/", let bytes = try? beginning(ofFile: "\(zones)/\(name)", count: 4)
        else { return false }
        return bytes == Array("TZif".utf8)
    }
}
