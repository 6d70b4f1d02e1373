import Copying
import Core
import FoundationEssentials
import Recognition
import System

extension StickSettings {
    /// The kinds of settings files on a stick.
    package enum Kind: String, CaseIterable {
        case settings, vocabulary, recipients

        var fileName: String {
            switch self {
            case .settings: configurationName
            case .vocabulary: vocabularyName
            case .recipients: recipientsName
            }
        }

        /// Finds the problems of a file in a sandboxed process.
        ///
        /// - Parameter configuration: The machine's own configuration.
        /// - Throws: `DeviceError` if the process exceeds its limits.
        func problems(
            of bytes: [UInt8], over configuration: Configuration, _ program: String
        ) throws(DeviceError) -> [String] {
            let process = SandboxedProcess(
                program: program,
                arguments: [SandboxedProcess.command, rawValue] + (configuration.file.map { ["--config=\($0)"] } ?? []))
            let answer = try process.answer(to: bytes, named: "\(folderName)/\(fileName)")
            guard let lines = try? JSONDecoder().decode([String].self, from: Data(answer)) else {
                throw DeviceError(.damaged, "read", on: "\(folderName)/\(fileName)", "cannot be read")
            }
            return lines
        }

        /// Returns the sandboxed process's answer: the problems as JSON.
        ///
        /// - Parameter configuration: The machine's own configuration, which the settings would override.
        package func answer(to bytes: [UInt8], over configuration: Configuration) -> [UInt8] {
            let lines = problems(bytes, over: configuration)
            return (try? JSONEncoder().encode(lines)).map(Array.init) ?? []
        }

        private func problems(_ bytes: [UInt8], over configuration: Configuration) -> [String] {
            switch self {
            case .settings:
                do throws(ConfigurationError) {
                    _ = try configuration.overlaid(by: bytes, file: configurationName)
                    return []
                } catch { return error.problems.map(\.description) }
            case .vocabulary: return vocabularyProblems(bytes)
            case .recipients:
                do throws(DeviceError) {
                    _ = try RecipientsFile.recipients(bytes, "\(folderName)/\(recipientsName)")
                    return []
                } catch { return [error.message] }
            }
        }
    }

    /// Returns the problems in a vocabulary, one line each.
    ///
    /// - Parameter name: The file's name in messages.
    static func vocabularyProblems(_ bytes: [UInt8], in name: String = vocabularyName) -> [String] {
        let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        if let index = lines.firstIndex(where: { String(validating: $0, as: UTF8.self) == nil }) {
            return ["\(name):\(index + 1): is not UTF-8; save the file as plain text in UTF-8"]
        }
        let text = String(decoding: bytes, as: UTF8.self)
        guard GrammarFile.isGrammar(text) else {
            return VocabularyFile(text).problems.map { "\(name):\($0.line): \($0.reason)" }
        }
        let grammar = GrammarFile(text)
        return (grammar.sizeProblem.map { ["\(name): this grammar \($0)"] } ?? [])
            + grammar.undefined.map {
                "\(name):\($0.line): \($0.rule) is used but not defined; add a line \($0.rule) = ...;"
            }
    }
}
