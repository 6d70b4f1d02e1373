import FoundationEssentials
import Glibc
import Testing
import TestKit

@testable import Archive
@testable import Core
@testable import Maintenance
@testable import Recognition
@testable import Settings
@testable import System

/// Words learned from corrections, and `learned.txt`, which other programs may change.
@Suite("Learning from corrections") struct LearningTests {
    private let storage = Storage()
    private var path: String { storage.folder.file("learned.txt") }

    private func text() throws -> String { String(decoding: try Data(contentsOf: URL(filePath: path)), as: UTF8.self) }

    private func write(_ text: String) throws { try Data(text.utf8).write(to: URL(filePath: path)) }

    private func configuration(_ mode: Configuration.Recognizer.Learning = .yes) -> Configuration {
        var configuration = storage.configuration
        configuration.recognizer.learn = mode
        return configuration
    }

    private func learn(_ archive: SQLiteArchive, mode: Configuration.Recognizer.Learning = .yes) async throws
        -> [String]
    {
        try await Learning(configuration(mode), archive: archive).learn()
    }

    /// Corrects a recording's words to `words`, and returns its ID. If `id` is nil, makes a new recording first.
    private func correct(_ words: [String], over id: Int? = nil, in archive: SQLiteArchive) async throws -> Int {
        let recognized = words.indices.map { "heard\($0)" }
        let recording: Int
        if let id {
            recording = id
        } else {
            recording = try await storage.record(
                [.samples([Int16](repeating: 100, count: 16_000))], words: recognized, in: archive)
        }
        let base = try await archive.passes(of: recording).count
        _ = try await archive.correct(
            words.enumerated().map { segment($0 + 1, $1) },
            Correction(person: "Anna", savedAt: 1_795_000_000, base: base), recording: recording)
        return recording
    }

    @Test(
        "the file lists words with counts and recordings; a deleted word returns only if it is corrected again"
    )
    func learned() async throws {
        let archive = try storage.archive()
        let first = try await correct(["zorpel", "balafonu", "water", "heard3"], in: archive)
        #expect(try await learn(archive) == ["balafonu", "zorpel"])
        #expect(try text().contains("\nzorpel  # 1 time, in \(first)\n"))
        #expect(try await learn(archive).isEmpty)
        try write(text().replacing("zorpel  # 1 time, in \(first)\n", with: ""))
        // The same page is saved again, with one more word changed.
        _ = try await correct(["zorpel", "balafonu", "water", "kadiu"], over: first, in: archive)
        #expect(try await learn(archive) == ["kadiu"])
        let second = try await correct(["zorpel", "water"], in: archive)
        #expect(try await learn(archive) == ["water", "zorpel"], "water was corrected twice and must be learned")
        #expect(try text().contains("\nzorpel  # 2 times, in \(first) \(second)\n"))
        // A deleted file is rebuilt.
        unlink(path)
        #expect(try await learn(archive).count == 4)
    }

    /// Creates a cache folder like one that a decode worker makes from learned words.
    private func makeCache() throws -> String {
        let path = storage.folder.file("cache/learned-1f")
        try makeFolder(path)
        try Data("zorpel Z AO R\n".utf8).write(to: URL(filePath: "\(path)/words.dict"))
        return path
    }

    @Test("redact and delete remove words from learned.txt and from caches, and report that")
    func forgotten() async throws {
        let archive = try storage.archive()
        let first = try await correct(["zorpel", "balafonu", "kadiu"], in: archive)
        _ = try await correct(["kadiu"], in: archive)
        _ = try await learn(archive)
        try write(text().replacing("balafonu ", with: "# balafonu ") + "mine\n")
        var cachePath = try makeCache()
        let redaction = Redaction(storage: storage.folder.path, archive: archive)
        let notes = try await redaction.redact(segment(1, "").range, of: first)
        #expect(notes == ["\(path): removed 1 word or phrase learned only from recording \(first)"])
        #expect(try !text().contains("zorpel") && text().contains("# balafonu  # 1 time, in \(first)\n"))
        #expect(access(cachePath, F_OK) != 0)
        #expect(try await learn(archive).isEmpty, "a forgotten word was learned again")
        cachePath = try makeCache()
        let reported = try await Erasure(storage: storage.folder.path, archive: archive).erase([first])
        #expect(reported == ["\(path): removed 1 word or phrase learned only from recording \(first)"])
        #expect(try !text().contains("balafonu") && text().contains("kadiu  # 1 time, in 2\n"))
        #expect(try text().contains("mine\n") && access(cachePath, F_OK) != 0)
        // An unreadable file is reported and does not prevent the erasure.
        unlink(path)
        mkfifo(path, 0o600)
        let messages = try await Erasure(storage: storage.folder.path, archive: archive).erase([2])
        #expect(messages.count == 1 && messages[0].hasPrefix("\(path): may still have words"), "\(messages)")
        #expect(try await archive.recordings().isEmpty)
    }

    @Test("when an interrupted redaction is completed, it also removes the learned words")
    func interrupted() async throws {
        let archive = try storage.archive()
        let recording = try await correct(["zorpel", "balafonu"], in: archive)
        _ = try await learn(archive)
        let folder = storage.folder.file("recordings/000001")
        try Data().write(to: URL(filePath: "\(folder)/.striking"))
        try await archive.add(Gap(segment(1, "").range, cause: .redacted), recording: recording)
        #expect(try await Redaction(storage: storage.folder.path, archive: archive).finish(recording))
        #expect(try !text().contains("zorpel") && text().contains("balafonu"))
    }

    @Test("with learn = ask, words are only proposed; with learn = no, nothing is learned")
    func modes() async throws {
        let archive = try storage.archive()
        _ = try await correct(["zorpel"], in: archive)
        #expect(try await learn(archive, mode: .no).isEmpty && !FileManager.default.fileExists(atPath: path))
        #expect(try await learn(archive, mode: .ask) == ["zorpel"])
        #expect(try text().contains("\n#? zorpel ") && configuration().learned.usedText { _ in } == nil)
        #expect(try await learn(archive, mode: .yes).isEmpty, "a proposed word must not be accepted automatically")
    }

    @Test(
        "an unusable learned.txt is reported, stays unchanged, and does not prevent transcription",
        arguments: ["link", "pipe", "folder", "huge", "bytes"])
    func hostile(kind: String) async throws {
        let archive = try storage.archive()
        _ = try await correct(["zorpel"], in: archive)
        let target = storage.folder.file("elsewhere")
        switch kind {
        case "link":
            try Data("mine\n".utf8).write(to: URL(filePath: target))
            symlink(target, path)
        case "pipe": mkfifo(path, 0o600)
        case "folder": mkdir(path, 0o700)
        case "huge":
            let file = open(path, O_WRONLY | O_CREAT, 0o600)
            ftruncate(file, 1 << 40)
            close(file)
        default: try Data([0x41, 0x0A, 0xFF, 0xFE, 0x0A]).write(to: URL(filePath: path))
        }
        let error = await thrown { _ = try await learn(archive) }
        #expect(error?.message.contains("learned.txt") == true, "\(String(describing: error))")
        if kind == "bytes" { #expect(error?.message.contains("learned.txt:2: is not UTF-8") == true) }
        var reported: [String] = []
        let vocabulary = configuration().learned.usedText { reported.append($0) }
        #expect(kind == "bytes" ? vocabulary?.contains("A") == true : vocabulary == nil)
        #expect(reported.count == 1 && reported[0].contains("learned.txt"), "\(reported)")
        var status = stat()
        #expect(lstat(path, &status) == 0)
        if kind == "link" { #expect(try Data(contentsOf: URL(filePath: target)) == Data("mine\n".utf8)) }
    }

    @Test("an unreadable file is not replaced, because its lines would be lost")
    func unreadable() async throws {
        guard geteuid() != 0 else { return print("skipped: root can read every file") }
        let archive = try storage.archive()
        _ = try await correct(["zorpel"], in: archive)
        try write("mine\n")
        chmod(path, 0)
        #expect(await thrown { _ = try await learn(archive) }?.code == .denied)
        chmod(path, 0o600)
        #expect(try text() == "mine\n")
    }

    @Test("if an editor saves the file during a change, the change is repeated with the editor's version")
    func meanwhile() throws {
        let proposal = "#? mine  # 1 time, in 3\n"
        try write(proposal)
        var attempts = 0
        let accepted = try configuration().learned.change { file -> [String] in
            attempts += 1
            if attempts == 1 { try? write("\(proposal)#? yours  # 1 time, in 4\n") }
            return file.accept(["yours", "mine"])
        }
        #expect(attempts == 2 && accepted == ["mine", "yours"])
        #expect(try text() == "mine  # 1 time, in 3\nyours  # 1 time, in 4\n")
    }

    @Test("a missing storage folder is not an error")
    func missing() {
        var reported: [String] = []
        let learned = LearnedVocabulary(storage: storage.folder.file("none"))
        #expect(learned.usedText { reported.append($0) } == nil && reported.isEmpty)
    }
}
