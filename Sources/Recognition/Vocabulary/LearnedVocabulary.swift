import Core
import Glibc
import System

/// `learned.txt` in the archive's folder. It is accessed only through that folder, since others may edit it at the same
/// time.
package struct LearnedVocabulary: Sendable {
    /// How many lines are used: each further one costs accuracy for all speech.
    package static let mostUsed = 200

    private static let largest = VocabularyFile.largest
    private static let mostAttempts = 5

    private let storage: String

    /// - Parameter storage: the archive's folder.
    package init(storage: String) { self.storage = storage }

    /// The path of `learned.txt`.
    package var path: String { "\(storage)/\(LearnedFile.name)" }

    /// Removes a recording's words, and the files made from them, which may hold redacted words.
    ///
    /// - Parameter kept: keys of corrected words that the recording still has.
    /// - Returns: what to tell the user, without the words; empty if there was nothing to remove.
    package func forget(_ recording: Int, keeping kept: Set<String>) -> [String] {
        do throws(DeviceError) {
            let cache = "\(storage)/cache"
            var file = try file()
            // Before the lines, which say what to do after a power cut; and after them, since a worker may have made it
            // again.
            if file.forget(recording, keeping: kept) > 0 { try VocabularyPreparation.removeLearned(from: cache) }
            let lines = try change { $0.forget(recording, keeping: kept) }
            guard lines > 0 else { return [] }
            try VocabularyPreparation.removeLearned(from: cache)
            let words = lines == 1 ? "1 word or phrase" : "\(lines) words or phrases"
            return ["\(path): \(words) that came of recording \(recording) alone were taken out"]
        } catch {
            return ["\(path): may still have words that came of recording \(recording): \(error.message)"]
        }
    }

    /// The file's bytes; nil if there is none.
    ///
    /// - Parameter isOptional: whether an inaccessible folder counts as a missing file.
    /// - Throws: `DeviceError` with `denied` for a link or an unreadable file, `unsupported` if it is not a file or too
    ///   long.
    private func bytes(isOptional: Bool = false) throws(DeviceError) -> [UInt8]? {
        let folder: Folder
        do throws(DeviceError) { folder = try Folder(opening: storage, crosses: true) } catch {
            if error.status == ENOENT || isOptional && error.status == EACCES { return nil }
            throw error
        }
        do throws(DeviceError) {
            return try folder.openFile(LearnedFile.name, O_RDONLY).content(limit: Self.largest)
        } catch {
            // A folder that may be listed, but not entered.
            if error.status == ENOENT || isOptional && error.status == EACCES && access(storage, X_OK) != 0 {
                return nil
            }
            throw error
        }
    }

    /// The lines in use, as a vocabulary with the file's line numbers; nil if there are none.
    ///
    /// - Parameter tell: gets each problem; the rest of the file is used.
    package func inUse(_ tell: (String) -> Void) -> String? {
        do throws(DeviceError) {
            guard let bytes = try bytes(isOptional: true) else { return nil }
            let file = LearnedFile(String(decoding: bytes, as: UTF8.self))
            for problem in file.problems { tell("\(path):\(problem.line): \(problem.reason)") }
            let text = file.inUse(most: Self.mostUsed)
            return VocabularyFile(text).phrases.isEmpty ? nil : text
        } catch {
            tell("\(error.message); nothing of it is used")
            return nil
        }
    }

    /// The parsed file; empty if it is missing.
    ///
    /// - Throws: `DeviceError` if it cannot be read; `damaged`, with file and line, if it is not UTF-8, since rewriting it
    ///   would lose text.
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

    /// Changes the file atomically; repeats the change if another program wrote the file meanwhile.
    ///
    /// - Returns: the result of `body`.
    /// - Throws: `DeviceError` as `file()`, or if it cannot be written; `busy` if others keep changing it. It is unchanged
    ///   then.
    package func change<Value>(_ body: (inout LearnedFile) -> Value) throws(DeviceError) -> Value {
        for _ in 0..<Self.mostAttempts {
            let before = try bytes()
            var file = try file(of: before ?? [])
            let old = file
            let value = body(&file)
            guard file != old else { return value }
            let text = Array(file.text.utf8)
            guard text.count <= Self.largest else {
                throw DeviceError(.unsupported, "learn", on: path, "is full", remedy: "delete lines of it")
            }
            // Comparing its status is not enough: an editor may have written within the clock's resolution.
            guard try bytes() == before else { continue }
            let folder = try Folder(opening: storage, crosses: true)
            try folder.replace(LearnedFile.name, with: text)
            return value
        }
        throw DeviceError(.busy, "learn", on: path, "somebody is changing it", remedy: "try again later")
    }
}
