import Core
import Glibc
import System

/// Reads and changes `learned.txt` in the archive's folder. Users and other processes may change it at the same time.
package struct LearnedVocabulary: Sendable {
    /// The maximum number of used lines. Each additional line makes the recognition of all other speech less accurate.
    package static let maximumUsedLines = 200

    private static let maximumBytes = VocabularyFile.maximumBytes
    private static let maximumAttempts = 5

    private let storage: String

    /// - Parameter storage: the archive's folder.
    package init(storage: String) { self.storage = storage }

    package var path: String { "\(storage)/\(LearnedFile.name)" }

    /// Removes the words that were learned only from this recording, and all cached files made from learned words. Both
    /// may contain redacted words.
    ///
    /// - Parameter remainingKeys: the keys of the phrases that are still corrected in the recording.
    /// - Returns: messages for the user, which do not contain the words; empty if there was nothing to remove.
    package func forget(_ recording: Int, keeping remainingKeys: Set<String>) -> [String] {
        do throws(DeviceError) {
            let cache = "\(storage)/cache"
            var file = try file()
            // Remove the cached files first: after a power cut, the remaining lines show what to remove. Remove the
            // files again after the lines, because a worker may have recreated them.
            if file.forget(recording, keeping: remainingKeys) > 0 {
                try VocabularyPreparation.removeLearned(from: cache)
            }
            let removedLines = try change { $0.forget(recording, keeping: remainingKeys) }
            guard removedLines > 0 else { return [] }
            try VocabularyPreparation.removeLearned(from: cache)
            let words = counted(removedLines, "word or phrase", "words or phrases")
            return ["\(path): removed \(words) learned only from recording \(recording)"]
        } catch {
            return ["\(path): may still have words learned from recording \(recording): \(error.message)"]
        }
    }

    /// Returns the file's bytes; nil if it does not exist.
    ///
    /// - Parameter isOptional: whether an inaccessible folder counts as a missing file.
    /// - Throws: `DeviceError` with `denied` for a link or an unreadable file, `unsupported` for anything that is not a
    ///   file or is too large.
    private func bytes(isOptional: Bool = false) throws(DeviceError) -> [UInt8]? {
        let folder: Folder
        do throws(DeviceError) { folder = try Folder(opening: storage, crossesMounts: true) } catch {
            if error.status == ENOENT || isOptional && error.status == EACCES { return nil }
            throw error
        }
        do throws(DeviceError) {
            return try folder.content(ofFile: LearnedFile.name, limit: Self.maximumBytes)
        } catch {
            // A folder that may be listed but not entered also causes EACCES.
            if error.status == ENOENT || isOptional && error.status == EACCES && access(storage, X_OK) != 0 {
                return nil
            }
            throw error
        }
    }

    /// Returns the used lines as a vocabulary with the file's line numbers; nil if there are none.
    ///
    /// - Parameter report: receives each problem. The rest of the file is used.
    package func usedText(_ report: (String) -> Void) -> String? {
        do throws(DeviceError) {
            guard let bytes = try bytes(isOptional: true) else { return nil }
            let file = LearnedFile(String(decoding: bytes, as: UTF8.self))
            for problem in file.problems { report("\(path):\(problem.line): \(problem.reason)") }
            let text = file.usedText(maximumLines: Self.maximumUsedLines)
            return VocabularyFile(text).phrases.isEmpty ? nil : text
        } catch {
            report("\(error.message); learned words are not used")
            return nil
        }
    }

    /// Returns the parsed file, or an empty one if it is missing.
    ///
    /// - Throws: `DeviceError` if it cannot be read; `damaged`, with file and line, if it is not UTF-8, because
    ///   rewriting it would lose text.
    package func file() throws(DeviceError) -> LearnedFile { try file(of: bytes() ?? []) }

    private func file(of bytes: [UInt8]) throws(DeviceError) -> LearnedFile {
        guard let text = String(validating: bytes, as: UTF8.self) else {
            let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            let line = lines.firstIndex { String(validating: $0, as: UTF8.self) == nil } ?? 0
            throw DeviceError(
                .damaged, "learn", "\(path):\(line + 1): is not UTF-8; save the file as plain text in UTF-8")
        }
        return LearnedFile(text)
    }

    /// Changes the file atomically. Repeats the change if another program writes the file in the meantime.
    ///
    /// - Returns: the result of `body`.
    /// - Throws: `DeviceError` like `file()`, or if the file cannot be written; `busy` if other programs keep changing
    ///   it. The file is then unchanged.
    package func change<Value>(_ body: (inout LearnedFile) -> Value) throws(DeviceError) -> Value {
        for _ in 0..<Self.maximumAttempts {
            let before = try bytes()
            var file = try file(of: before ?? [])
            let old = file
            let value = body(&file)
            guard file != old else { return value }
            let text = Array(file.text.utf8)
            guard text.count <= Self.maximumBytes else {
                throw DeviceError(.unsupported, "learn", on: path, "is full", remedy: "delete some of its lines")
            }
            // The file's status is not enough: an editor may have written the file within the clock's resolution.
            guard try bytes() == before else { continue }
            let folder = try Folder(opening: storage, crossesMounts: true)
            try folder.replace(LearnedFile.name, with: text)
            return value
        }
        throw DeviceError(.busy, "learn", on: path, "another program keeps changing it", remedy: "try again later")
    }
}
