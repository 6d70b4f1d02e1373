import FoundationEssentials
import Glibc
import Testing
import TestKit

@testable import Appliance
@testable import Archive
@testable import Audio
@testable import Core
@testable import Maintenance
@testable import System

// wait: a limit for a test that opens a pipe, which would hang
/// The archive must work despite foreign files, folders, links and pipes in it, and must never follow a link.
@Suite("Entries that do not belong in an archive", .timeLimit(.minutes(60))) struct ForeignEntryTests {
    private let storage = Storage()

    private func makeRecordings(_ count: Int = 1) async throws {
        let archive = try storage.archive()
        for _ in 0..<count { try await storage.record([.samples(numbered(4000))], words: ["kept"], in: archive) }
    }

    /// Creates a folder with foreign files outside the recordings' folder.
    private func makeOutsideFolder() throws -> String {
        let path = storage.folder.file("outside")
        try makeFolder("\(path)/deep")
        try durableReplace(path: "\(path)/theirs", with: "theirs")
        return path
    }

    private func recordings(_ name: String) -> String { storage.folder.file("recordings/\(name)") }

    /// Whether a new recording can be made and its transcript read.
    private func canRecord() async throws -> Bool {
        let archive = try storage.archive()
        let id = try await storage.record([.samples(numbered(1000))], words: ["more"], in: archive)
        return try await archive.transcript(of: id)?.1.segments.map(\.text) == ["more"]
    }

    @Test("If a link is in place of a recording or of its remains, an erasure removes the link, but not its target")
    func links() async throws {
        try await makeRecordings(2)
        let outside = try makeOutsideFolder()
        #expect(symlink(outside, recordings(".erasing-9")) == 0)
        try durableReplace(path: recordings(".erasing-8"), with: "a file")
        try removeFolder(recordings("000001"))
        #expect(symlink(outside, recordings("000001")) == 0)
        #expect(try await storage.recover(.start).contains { $0.recording == 9 && $0.outcome == .note })
        try await Erasure(storage: storage.folder.path, archive: try storage.archive()).erase([1])
        #expect(try names(inFolder: storage.folder.file("recordings")) == ["000002"])
        #expect(try names(inFolder: outside) == ["deep", "theirs"])
        #expect(try await canRecord())
    }

    @Test(
        "A failed erasure is reported and tried again, and does not prevent a start or a recording",
        .enabled(if: canCreateUnremovableFolder, "root can erase everything and cannot mount here"))
    func failedErasure() async throws {
        try await makeRecordings(2)
        let folder = recordings(".erasing-9/stuck")
        try makeFolder("\(folder)/full")
        try durableReplace(path: "\(folder)/full/file", with: "")
        let isRoot = geteuid() == 0
        if isRoot {
            #expect(mount("tmpfs", folder, "tmpfs", 0, "size=64k") == 0)
        } else {
            chmod("\(folder)/full", 0o500)
        }
        let findings = try await storage.recover(.start)
        #expect(findings.map(\.recording) == [9] && findings.map(\.outcome) == [.damaged])
        #expect(findings.first?.message.contains(folder) == true)
        #expect(try await canRecord())
        // The erasure is tried again with a later erasure and while the appliance is idle.
        let archive = try storage.archive()
        try await Erasure(storage: storage.folder.path, archive: archive).erase([1])
        let result = try await Retention(.keep).apply(to: archive, storage: storage.folder.path)
        #expect(result.failures[9]?.message.contains(folder) == true && result.erased == [])
        #expect(pathExists(folder))
        if isRoot { umount(folder) } else { chmod("\(folder)/full", 0o700) }
        #expect(try await Retention(.keep).apply(to: archive, storage: storage.folder.path).failures.isEmpty)
        #expect(try names(inFolder: storage.folder.file("recordings")) == ["000002", "000010"])
    }

    @Test("The remains of an erasure do not affect a recording with the same number")
    func reused() async throws {
        try await makeRecordings()
        try makeFolder(recordings(".erasing-1/deep"))
        #expect(try await storage.recover(.start).map(\.outcome) == [.note])
        #expect(try await storage.archive().transcript(of: 1)?.1.segments.map(\.text) == ["kept"])
        try makeFolder(recordings(".erasing-1/again"))
        try await Erasure(storage: storage.folder.path, archive: try storage.archive()).erase([1])
        #expect(try names(inFolder: storage.folder.file("recordings")) == [])
    }

    @Test("A pipe, a folder or a link in place of the audio is reported and is neither opened nor followed")
    func audio() async throws {
        let outside = try makeOutsideFolder()
        try await makeRecordings(4)
        for id in 1...3 { unlink(storage.audio(id)) }
        #expect(mkfifo(storage.audio(1), 0o600) == 0)
        try makeFolder(storage.audio(2))
        try FileManager.default.copyItem(atPath: storage.audio(4), toPath: "\(outside)/theirs.wav")
        try change("\(outside)/theirs.wav") { $0.append(1) }
        let before = try bytes("\(outside)/theirs.wav")
        #expect(symlink("\(outside)/theirs.wav", storage.audio(3)) == 0)
        for depth in [Recovery.Depth.start, .everything] {
            let findings = try await storage.recover(depth)
            #expect(findings.map(\.recording) == [1, 2, 3] && findings.allSatisfy { $0.outcome == .damaged })
        }
        let archive = try storage.archive()
        let damaged = try await Verification(storage: storage.folder.path, archive: archive).run([]).problems
        #expect(Set(damaged.map(\.recording)) == [1, 2, 3])
        #expect(try await archive.recordings().allSatisfy { !$0.isMissing })
        #expect(try bytes("\(outside)/theirs.wav") == before)
    }

    @Test(
        "A pipe or a link in place of a journal is renamed, and nothing is written to its target",
        arguments: [true, false])
    func journal(isPipe: Bool) async throws {
        let outside = try makeOutsideFolder()
        try await makeRecordings()
        let path = recordings("000001/journal.jsonl")
        unlink(path)
        #expect((isPipe ? mkfifo(path, 0o600) : symlink("\(outside)/theirs", path)) == 0)
        #expect(try await storage.recover(.start).isEmpty)
        #expect(try await storage.recover().map(\.outcome) == [.repaired])
        #expect(try bytes("\(outside)/theirs") == Array("theirs".utf8))
        #expect(try await storage.recover().isEmpty)
        #expect(try await storage.archive().search("kept", limit: 1).count == 1)
    }

    @Test("If the ballast file is a link, nothing is written to its target")
    func ballast() throws {
        let outside = try makeOutsideFolder()
        #expect(symlink("\(outside)/theirs", storage.folder.file("ballast")) == 0)
        #expect(thrown { try storage.configuration.reserve.ensureBallast() }?.code == .denied)
        #expect(try bytes("\(outside)/theirs") == Array("theirs".utf8))
        storage.configuration.reserve.releaseBallast()
        #expect(try bytes("\(outside)/theirs") == Array("theirs".utf8))
    }

    /// An entry in place of the database; `log` is a pipe in place of the write-ahead log.
    enum Replacement: String, CaseIterable, Sendable { case pipe, folder, loop, link, foreign, log }

    @Test(
        "A database that is not a file, or is another program's, is renamed and rebuilt",
        arguments: Replacement.allCases)
    func database(replacement: Replacement) async throws {
        try await makeRecordings()
        let outside = try makeOutsideFolder()
        let path = storage.configuration.archivePath
        if replacement != .log { for suffix in ["", "-wal"] { unlink(path + suffix) } }
        switch replacement {
        case .pipe: #expect(mkfifo(path, 0o600) == 0)
        case .folder: try makeFolder("\(path)/deep")
        case .loop: #expect(symlink(path, path) == 0)
        case .link: #expect(symlink("\(outside)/theirs.sqlite", path) == 0)
        case .foreign:
            // A database with the application ID of another program.
            var content = try bytes(try makeIntactDatabase())
            content.replaceSubrange(68..<72, with: [1, 2, 3, 4])
            try Data(content).write(to: URL(filePath: path))
        case .log: #expect(mkfifo("\(path)-wal", 0o600) == 0)
        }
        let refusal = try #require(thrown { _ = try storage.archive() })
        #expect(refusal.message.contains("fieldscribe recover"), "\(refusal.message)")
        let findings = try await storage.recover(.start)
        #expect(findings.contains { $0.message.contains("\(path).damaged-1") }, "\(findings)")
        #expect(pathExists("\(path).damaged-1") && !pathExists("\(outside)/theirs.sqlite"))
        #expect(try await storage.archive().search("kept", limit: 1).count == 1)
        #expect(try await canRecord())
    }

    /// The header of an empty WAV file with two channels at 44.1 kHz.
    private static let stereoHeader: [UInt8] = {
        var bytes = Array("RIFF".utf8)
        bytes += [36, 0, 0, 0] as [UInt8]
        bytes += Array("WAVEfmt ".utf8)
        bytes += [16, 0, 0, 0, 1, 0, 2, 0, 0x44, 0xAC, 0, 0, 0x10, 0xB1, 2, 0, 4, 0, 16, 0] as [UInt8]
        bytes += Array("data".utf8)
        bytes += [0, 0, 0, 0] as [UInt8]
        return bytes
    }()

    /// Creates an intact database and returns its path.
    private func makeIntactDatabase() throws -> String {
        let path = storage.folder.file("another/archive.sqlite")
        _ = try SQLiteArchive(path: path)
        return path
    }

    @Test("If the last recording's folder has foreign audio, a new recording gets the next number")
    func foreignFolder() async throws {
        try await makeRecordings(2)
        for suffix in ["", "-wal"] { unlink(storage.configuration.archivePath + suffix) }
        unlink(recordings("000002/journal.jsonl"))
        try durableReplace(path: recordings("000002/journal.jsonl"), with: "theirs\n")
        // Another program's file, with two channels.
        try Data(Self.stereoHeader).write(to: URL(filePath: storage.audio(2)))
        let before = try bytes(recordings("000002/journal.jsonl"))
        _ = try await storage.recover(.start)
        func begin() async throws {
            let archive = try storage.archive()
            let id = try await archive.beginRecording(startedAt: 0, clock: .unverified, microphone: "")
            #expect(id == 3)
            try await archive.discard(recording: id)
        }
        try await begin()
        #expect(!pathExists(recordings("000003")))
        #expect(try bytes(recordings("000002/journal.jsonl")) == before)
        #expect(try await canRecord())
    }

    @Test("A link or a file in place of the recordings' folder is renamed and reported", arguments: [true, false])
    func noFolder(isLink: Bool) async throws {
        let outside = try makeOutsideFolder()
        let path = storage.folder.file("recordings")
        if isLink { #expect(symlink(outside, path) == 0) } else { try durableReplace(path: path, with: "") }
        #expect(try await storage.recover(.start).map(\.outcome) == [.damaged])
        #expect(pathExists("\(path).damaged-1"))
        #expect(try await canRecord())
        #expect(try names(inFolder: outside) == ["deep", "theirs"])
    }

    @Test("Folders with impossible numbers are ignored; the next recording follows the existing ones")
    func numbers() async throws {
        try await makeRecordings()
        try makeFolder(recordings("9223372036854775807"))
        try makeFolder(recordings("000007"))
        try makeFolder(recordings(".erasing-8/deep"))
        let archive = try storage.archive()
        #expect(try await archive.beginRecording(startedAt: 0, clock: .unverified, microphone: "") == 9)
        #expect(try await archive.beginRecording(startedAt: 0, clock: .unverified, microphone: "") == 10)
    }
}

/// Whether this user can create a folder that it cannot remove. For root, that must be a mount point.
private var canCreateUnremovableFolder: Bool {
    guard geteuid() == 0 else { return true }
    let folder = TemporaryFolder()
    guard mount("tmpfs", folder.path, "tmpfs", 0, "size=64k") == 0 else { return false }
    umount(folder.path)
    return true
}
