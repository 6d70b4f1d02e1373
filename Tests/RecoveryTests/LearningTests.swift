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

/// Corrections in the archive, and `learned.txt` while other programs change it.
@Suite("Learning from corrections") struct LearningTests {
    private let storage = Storage()
    private var path: String { storage.folder.file("learned.txt") }

    private func text() throws -> String { String(decoding: try Data(contentsOf: URL(filePath: path)), as: UTF8.self) }

    private func write(_ text: String) throws { try Data(text.utf8).write(to: URL(filePath: path)) }

    private func configuration(_ learn: Configuration.Recognizer.Learning = .yes) -> Configuration {
        var configuration = storage.configuration
        configuration.recognizer.learn = learn
        return configuration
    }

    private func learn(_ archive: SQLiteArchive, _ learn: Configuration.Recognizer.Learning = .yes) async throws
        -> [String]
    {
        try await Learning(configuration(learn), archive: archive).learn()
    }

    /// A recording with words that a person corrected.
    private func correct(_ words: [String], over id: Int? = nil, in archive: SQLiteArchive) async throws -> Int {
        let heard = words.indices.map { "heard\($0)" }
        let recording: Int
        if let id {
            recording = id
        } else {
            recording = try await storage.record(
                [.samples([Int16](repeating: 100, count: 16_000))], words: heard, in: archive)
        }
        let base = try await archive.passes(of: recording).count
        _ = try await archive.correct(
            words.enumerated().map { segment($0 + 1, $1) },
            Correction(person: "Anna", savedAt: 1_795_000_000, base: base), recording: recording)
        return recording
    }

    @Test(
        "the file has words, counts and recordings, and a deleted line returns only when it is corrected again"
    )
    func learned() async throws {
        let archive = try storage.archive()
        let first = try await correct(["zorpel", "balafonu", "water", "heard3"], in: archive)
        #expect(try await learn(archive) == ["balafonu", "zorpel"])
        #expect(try text().contains("\nzorpel  # 1 time, in \(first)\n"))
        #expect(try await learn(archive).isEmpty)
        try write(text().replacing("zorpel  # 1 time, in \(first)\n", with: ""))
        // The same page again, with one more word changed.
        _ = try await correct(["zorpel", "balafonu", "water", "kadiu"], over: first, in: archive)
        #expect(try await learn(archive) == ["kadiu"])
        let second = try await correct(["zorpel", "water"], in: archive)
        #expect(try await learn(archive) == ["water", "zorpel"], "water was corrected twice")
        #expect(try text().contains("\nzorpel  # 2 times, in \(first) \(second)\n"))
        // A lost file is rebuilt.
        unlink(path)
        #expect(try await learn(archive).count == 4)
    }

    /// A file that a decode worker made from learned words.
    private func cache() throws -> String {
        let path = storage.folder.file("cache/learned-1f")
        try makeFolder(path)
        try Data("zorpel Z AO R\n".utf8).write(to: URL(filePath: "\(path)/words.dict"))
        return path
    }

    @Test("redacted or deleted words leave learned.txt and the files made from it, and both commands report it")
    func forgotten() async throws {
        let archive = try storage.archive()
        let first = try await correct(["zorpel", "balafonu", "kadiu"], in: archive)
        _ = try await correct(["kadiu"], in: archive)
        _ = try await learn(archive)
        try write(text().replacing("balafonu ", with: "# balafonu ") + "mine\n")
        var made = try cache()
        let redaction = Redaction(storage: storage.folder.path, archive: archive)
        let notes = try await redaction.redact(segment(1, "").range, of: first)
        #expect(notes == ["\(path): removed 1 word or phrase learned only from recording \(first)"])
        #expect(try !text().contains("zorpel") && text().contains("# balafonu  # 1 time, in \(first)\n"))
        #expect(access(made, F_OK) != 0)
        #expect(try await learn(archive).isEmpty, "it came back")
        made = try cache()
        let reported = try await Erasure(storage: storage.folder.path, archive: archive).erase([first])
        #expect(reported == ["\(path): removed 1 word or phrase learned only from recording \(first)"])
        #expect(try !text().contains("balafonu") && text().contains("kadiu  # 1 time, in 2\n"))
        #expect(try text().contains("mine\n") && access(made, F_OK) != 0)
        // An unreadable file is reported, and does not stop the erasure.
        unlink(path)
        mkfifo(path, 0o600)
        let others = try await Erasure(storage: storage.folder.path, archive: archive).erase([2])
        #expect(others.count == 1 && others[0].hasPrefix("\(path): may still have words"), "\(others)")
        #expect(try await archive.recordings().isEmpty)
    }

    @Test("an interrupted redaction removes the words at the next start")
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

    @Test("the value ask only proposes, and no learns nothing")
    func modes() async throws {
        let archive = try storage.archive()
        _ = try await correct(["zorpel"], in: archive)
        #expect(try await learn(archive, .no).isEmpty && !FileManager.default.fileExists(atPath: path))
        #expect(try await learn(archive, .ask) == ["zorpel"])
        #expect(try text().contains("\n#? zorpel ") && configuration().learned.inUse { _ in } == nil)
        #expect(try await learn(archive, .yes).isEmpty, "it was proposed, and not accepted")
    }

    @Test(
        "anything else with the file's name is reported, stays, and stops neither learning nor transcription",
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
        let used = configuration().learned.inUse { reported.append($0) }
        #expect(kind == "bytes" ? used?.contains("A") == true : used == nil)
        #expect(reported.count == 1 && reported[0].contains("learned.txt"), "\(reported)")
        var status = stat()
        #expect(lstat(path, &status) == 0)
        if kind == "link" { #expect(try Data(contentsOf: URL(filePath: target)) == Data("mine\n".utf8)) }
    }

    @Test("an unreadable file is not replaced by one that lacks its lines")
    func unreadable() async throws {
        guard geteuid() != 0 else { return print("skipped: root may read everything") }
        let archive = try storage.archive()
        _ = try await correct(["zorpel"], in: archive)
        try write("mine\n")
        chmod(path, 0)
        #expect(await thrown { _ = try await learn(archive) }?.code == .denied)
        chmod(path, 0o600)
        #expect(try text() == "mine\n")
    }

    @Test("an editor's change at the same time is kept")
    func meanwhile() throws {
        try write("mine\n")
        var turns = 0
        let learned = configuration().learned
        let accepted = try learned.change { file -> Int in
            turns += 1
            if turns == 1 { try? Data("mine\n#? yours  # 1 time, in 4\n".utf8).write(to: URL(filePath: path)) }
            return file.accept(["yours", "mine"]).count
        }
        _ = accepted
        #expect(try text().contains("mine\n"))
        #expect(try text().contains("yours"))
    }

    @Test("a missing storage folder is not an error")
    func missing() {
        var reported: [String] = []
        let learned = LearnedVocabulary(storage: storage.folder.file("none"))
        #expect(learned.inUse { reported.append($0) } == nil && reported.isEmpty)
    }
}
