import Core
import Glibc
import Recognition
import System

/// `learned.txt` in the archive's folder: read and written through that folder alone, since others may edit it meanwhile.
package struct LearnedVocabulary: Sendable {
    /// So many of its lines are used: each further one costs accuracy with all that is said.
    package static let mostUsed = 200

    private static let largest = VocabularyFile.largest
    private static let mostAttempts = 5

    private let storage: String

    /// - Parameter storage: the archive's folder.
    package init(storage: String) { self.storage = storage }

    /// Its path.
    package var path: String { "\(storage)/\(LearnedFile.name)" }

    /// Takes a recording out of it, and removes what was made of the lines that go. They may hold what nobody is to read any more.
    ///
    /// - Parameter kept: keys of words that people have corrected in the recording and that still stand there.
    /// - Returns: what a person should know of it, without the words: empty where the file tells nothing of the recording.
    package func forget(_ recording: Int, keeping kept: Set<String>) -> [String] {
        do throws(DeviceError) {
            let cache = "\(storage)/cache"
            var file = try file()
            // Before the lines, which say what is to be done after a power cut; and after them, since a worker may make it again.
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

    /// Its bytes; nil where there is none.
    ///
    /// - Parameter isOptional: whether a folder that this user may not look into is as good as none.
    /// - Throws: `DeviceError` with `denied` for a link or where it may not be read, `unsupported` for what is no file, or too long.
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

    /// What of it is used, as a vocabulary whose lines have the file's numbers; nil where nothing is.
    ///
    /// - Parameter tell: takes what is wrong with it, a line each; the rest is used.
    func inUse(_ tell: (String) -> Void) -> String? {
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

    /// Its content, which is empty where there is no file.
    ///
    /// - Throws: `DeviceError` as where it cannot be read; `damaged`, with file and line, where it is not UTF-8: then it must not be
    ///   written again, since that would lose something.
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

    /// Changes it, so that a power cut leaves the old content or the new; where somebody has changed it meanwhile, what they wrote is
    /// changed instead.
    ///
    /// - Returns: what `body` returns.
    /// - Throws: `DeviceError` as `file()`, or where it cannot be written, `busy` where somebody goes on changing it; then it is as it was.
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
            // Not only its status: an editor may have written within the same tick of the clock.
            guard try bytes() == before else { continue }
            let folder = try Folder(opening: storage, crosses: true)
            try folder.replace(LearnedFile.name, with: text)
            return value
        }
        throw DeviceError(.busy, "learn", on: path, "somebody is changing it", remedy: "try again later")
    }
}

extension Configuration {
    /// What people have put right, as far as it is to be learned from.
    package var learned: LearnedVocabulary { LearnedVocabulary(storage: storage.directory) }

    /// Whether a vocabulary of any kind is listened for, which makes a board slower.
    var hasVocabulary: Bool {
        recognizer.vocabulary != nil || recognizer.learn != .no && learned.inUse({ _ in }) != nil
    }

    /// What a decode worker is told of vocabularies.
    var vocabularyArguments: [String] {
        (recognizer.vocabulary.map { ["--vocabulary", $0] } ?? [])
            + (recognizer.learn == .no ? [] : ["--learned", storage.directory])
    }
}
