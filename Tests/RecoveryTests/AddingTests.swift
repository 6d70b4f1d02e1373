import FoundationEssentials
import Glibc
import TestKit
import Testing

@testable import Archive
@testable import Audio
@testable import Core
@testable import Maintenance
@testable import Settings

@Suite("Files added as recordings", .serialized) struct AddingTests {
    private let storage = Storage()
    private let sources = TemporaryFolder()
    /// The modification time of the added files, in Unix time.
    private static let modificationTime = 1_500_000_000.0
    private static let convertedFiles = ["audio.sums", "audio.wav", "journal.jsonl", "original.wav"]

    /// Writes a 16-bit mono WAV file like that of another recorder.
    private func file(_ name: String, _ samples: [Int16], rate: UInt32 = 8_000) throws -> String {
        func bytes(_ value: UInt32, _ width: Int = 4) -> [UInt8] {
            (0..<width).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
        }
        let audio = samples.flatMap { bytes(UInt32(UInt16(bitPattern: $0)), 2) }
        let format = bytes(1, 2) + bytes(1, 2) + bytes(rate) + bytes(2 * rate) + bytes(2, 2) + bytes(16, 2)
        let head = Array("RIFF".utf8) + bytes(36 + UInt32(audio.count)) + Array("WAVEfmt ".utf8) + bytes(16) + format
        let path = sources.file(name)
        try Data(head + Array("data".utf8) + bytes(UInt32(audio.count)) + audio).write(to: URL(filePath: path))
        let time = timespec(tv_sec: Int(Self.modificationTime), tv_nsec: 0)
        #expect(utimensat(AT_FDCWD, path, [time, time], 0) == 0)
        return path
    }

    private func makeAdder(reserve: Int = 0) -> FileAdder {
        FileAdder(
            storage: storage.folder.path,
            reserve: DiskReserve(directory: storage.folder.path, megabytes: reserve), channels: 1, track: .automatic)
    }

    private func prepare(_ path: String) async throws -> FileAdder.Prepared {
        let input = try InputFile(path)
        return try await makeAdder().prepare(
            input, named: input.name, existingRecording: { _ in nil }, progress: { _ in })
    }

    private func add(_ path: String, to archive: SQLiteArchive) async throws -> Int {
        let prepared = try await prepare(path)
        return try await FileAdder.add(prepared.folder, in: storage.folder.path, to: archive)
    }

    private func names(_ folder: String = "000001") throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: storage.folder.file("recordings/\(folder)")).sorted()
    }

    private func recordings() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: storage.folder.file("recordings")).sorted()
    }

    private func verify(_ archive: SQLiteArchive) async throws -> [StorageFinding] {
        try await Verification(storage: storage.folder.path, archive: archive).run([]).problems
    }

    private func redact(_ archive: SQLiteArchive) async throws -> [String] {
        try await Redaction(storage: storage.folder.path, archive: archive).redact(
            SampleRange(SamplePosition(100), SamplePosition(200)), of: 1)
    }

    @Test("a file that already has the recordings' format becomes the audio file, without a second copy")
    func recordingFormat() async throws {
        let path = try file("Talk.wav", numbered(20_000), rate: 16_000)
        do {
            let archive = try storage.archive()
            #expect(try await add(path, to: archive) == 1)
            #expect(try names() == ["audio.sums", "audio.wav", "journal.jsonl"] && recordings() == ["000001"])
            #expect(try bytes(storage.audio(1)) == bytes(path) && samples(of: storage.audio(1)) == numbered(20_000))
            let row = try #require(try await archive.recordings().first)
            #expect(row.title == "Talk" && row.length == SamplePosition(20_000) && row.stopReason == .ended)
            #expect(row.startedAt == Self.modificationTime - 1.25 && row.clock == .unverified && row.powerOn == nil)
            #expect(try await archive.unfinished().map(\.id) == [1])
            #expect(try await archive.recordingsToSign().map { $0.recording } == [1])
            #expect(try await archive.history(of: 1).map(\.entry.act) == [.added, .recorded])
            #expect(try await verify(archive) == [])
        }
        #expect(try await storage.recover().problems == [])
        #expect(try bytes(storage.audio(1)) == bytes(path))
    }

    @Test("a file in another format is kept next to the converted audio, and a lost database can be rebuilt")
    func converted() async throws {
        let path = try file("Über Anna.WAV", numbered(8_000))
        do {
            let archive = try storage.archive()
            #expect(try await add(path, to: archive) == 1)
            #expect(try names() == Self.convertedFiles)
            #expect(try bytes(storage.folder.file("recordings/000001/original.wav")) == bytes(path))
            #expect(try await archive.recordings().first?.title == "Über Anna")
            #expect(try RecordingReader(path: storage.audio(1)).length == SamplePosition(16_000))
            #expect(try await verify(archive) == [])
        }
        for suffix in ["", "-wal", "-shm"] { unlink(storage.configuration.archivePath + suffix) }
        try await storage.recover()
        let archive = try storage.archive()
        let row = try #require(try await archive.recordings().first)
        #expect(row.title == "Über Anna" && row.length == SamplePosition(16_000))
        #expect(row.startedAt == Self.modificationTime - 1)
    }

    @Test(
        "the title is the file's name without its extension",
        arguments: [
            ("talk.m4a", "talk"), ("Anna", "Anna"), (".m4a", ".m4a"),
            ("3.5 hours at the mill", "3.5 hours at the mill"),
            ("a.b.WAV", "a.b"), ("über.äöü", "über.äöü"), ("end.", "end"),
        ])
    func titles(name: String, title: String) {
        #expect(AddedFile.title(from: "added: \(name)") == title)
        #expect(AddedFile.title(from: name) == nil)
    }

    @Test(
        "the file is kept under a name that is valid on any stick",
        arguments: [
            ("talk.M4A", "original.m4a"), ("talk", "original"), ("talk.", "original"), ("a.b.3gp", "original.3gp"),
            ("talk.été", "original"), ("talk.123456789", "original"), ("talk.m4a ", "original"),
            (".wav", "original.wav"),
        ])
    func originalName(name: String, expected: String) {
        #expect(RecordingFolder.originalName(for: name) == expected && RecordingFolder.isOriginal(expected))
        for invalidName in ["original.", "original.a/b", "originals.wav", "audio.wav"] {
            #expect(!RecordingFolder.isOriginal(invalidName))
        }
    }

    @Test("a file that is already in the archive is not added again unless its recording is deleted")
    func twice() async throws {
        let archive = try storage.archive()
        let path = try file("talk.wav", numbered(8_000))
        #expect(try await add(path, to: archive) == 1)
        let history = try await archive.history(of: nil).map(\.entry)
        let existing = try await makeAdder().prepare(
            InputFile(path), named: "talk.wav", existingRecording: { history.recording(addedFrom: $0) },
            progress: { _ in }
        ).existingRecording
        #expect(existing == 1)
        await #expect(throws: AddedFile.duplicateError(1, "talk.wav")) { _ = try await add(path, to: archive) }
        #expect(try recordings() == ["000001"])
        try await Erasure(storage: storage.folder.path, archive: archive).erase([1])
        #expect(try await add(path, to: archive) == 2)
    }

    @Test("the folder of a killed process is removed, and no recording number is skipped")
    func killed() async throws {
        let deadProcess = try #require((2...32_768).reversed().first { kill($0, 0) != 0 && errno == ESRCH })
        let leftover = storage.folder.file("recordings/fieldscribe-adding-\(deadProcess)-AbC123")
        try FileManager.default.createDirectory(atPath: leftover, withIntermediateDirectories: true)
        try Data([1]).write(to: URL(filePath: "\(leftover)/original.wav"))
        let archive = try storage.archive()
        #expect(try await archive.beginRecording(startedAt: 1, clock: .unverified, microphone: "m") == 1)
        _ = try await prepare(try file("talk.wav", numbered(8_000)))
        // The thread that prepared the file may remove its folder later.
        try await eventually("only the recording remains") { try recordings() == ["000001"] }
    }

    @Test("if the recorder stops between the folder's rename and the database row, the next start adds the recording")
    func interrupted() async throws {
        let prepared = try await prepare(try file("talk.wav", numbered(8_000)))
        do {
            let archive = try storage.archive()
            unlink(storage.folder.file("recordings/\(prepared.folder)/\(AddedFile.description)"))
            let start = prepared.file.startedAt
            let isClaimed = try await archive.journal.claim(
                1, for: prepared.folder,
                [
                    .recording(number: 1, startedAt: start, sound: nil, length: nil),
                    .began(
                        startedAt: start, clock: .unverified, microphone: prepared.file.source, boot: nil,
                        monotonic: nil),
                ])
            #expect(isClaimed)
        }
        try await storage.recover(.start)
        let archive = try storage.archive()
        let row = try #require(try await archive.recordings().first)
        #expect(row.title == "talk" && row.startedAt == prepared.file.startedAt && row.length == SamplePosition(16_000))
        #expect(try await archive.recordingsToSign().map { $0.recording } == [1])
        #expect(try names() == Self.convertedFiles)
        #expect(try await verify(archive) == [])
    }

    @Test("redacting a part of a recording erases the whole added file")
    func redacted() async throws {
        let archive = try storage.archive()
        _ = try await add(try file("talk.wav", numbered(8_000)), to: archive)
        let notes = try await redact(archive)
        #expect(notes.count == 1 && notes.first?.contains("original.wav: the whole added file was erased") == true)
        #expect(try names() == ["audio.sums", "audio.wav", "journal.jsonl"])
        #expect(try samples(of: storage.audio(1))[100..<200].allSatisfy { $0 == 0 })
        #expect(try await verify(archive) == [])
    }

    @Test("verify finds a changed or missing added file")
    func verified() async throws {
        let archive = try storage.archive()
        _ = try await add(try file("talk.wav", numbered(8_000)), to: archive)
        let original = storage.folder.file("recordings/000001/original.wav")
        try change(original) { $0[100] ^= 1 }
        #expect(try await verify(archive).map(\.file) == [original])
        unlink(original)
        #expect(try await verify(archive).first?.message.contains("is missing") == true)
    }

    @Test("a sealed recording contains the added file, and no readable file contains its name")
    func sealed() async throws {
        signal(SIGPIPE, SIG_IGN)
        let key = sources.file("key.txt")
        let recipient = try shell("age-keygen -o '\(key)' 2>/dev/null; age-keygen -y '\(key)'")
        var configuration = storage.configuration
        configuration.storage.seal = [String(recipient.prefix { $0 != "\n" })]
        configuration.recognizer.secondPass = .no
        let archive = try storage.archive()
        let path = try file("Zanzibar.wav", numbered(8_000))
        _ = try await add(path, to: archive)
        let pass = try await archive.beginPass(recording: 1, engine: engine, profile: "live")
        try await archive.commit(segment(1, "apples"), pass: pass, recording: 1)
        try await archive.markTranscribed(upTo: SamplePosition(16_000), recording: 1)
        try await archive.endPass(pass, recording: 1)
        #expect(try await SealingJob(configuration, archive: archive).run().isEmpty)
        #expect(try names() == ["journal.jsonl", "sealed.age"])
        #expect(try shell("cd '\(storage.folder.path)' && grep -rail zanzibar .") == "")
        #expect(try await archive.recordings().first?.title == nil)
        let folder = storage.folder.file("recordings/000001")
        let target = sources.file("opened")
        let opened = try shell(
            "mkdir '\(target)' && cd '\(target)' && age -d -i '\(key)' '\(folder)/sealed.age' "
                + "| tar x --strip-components=1 && sha256sum --quiet -c SHA256SUMS 2>&1; grep -c Zanzibar journal.jsonl"
        )
        #expect(opened == "1\n")
        #expect(try bytes(sources.file("opened/original.wav")) == bytes(path))
        // Sealing does not allow the file to be added again.
        await #expect(throws: AddedFile.duplicateError(1, "Zanzibar.wav")) { _ = try await add(path, to: archive) }
    }

    @Test("if a file cannot be added, nothing remains in the archive")
    func refused() async throws {
        _ = try storage.archive()
        try FileManager.default.createDirectory(
            atPath: storage.folder.file("recordings"), withIntermediateDirectories: true)
        let path = try file("talk.wav", numbered(8_000))
        let adder = makeAdder(reserve: 1 << 40)
        let diskFullError = await thrown {
            _ = try await adder.prepare(
                InputFile(path), named: "talk.wav", existingRecording: { _ in nil }, progress: { _ in })
        }
        #expect(diskFullError?.code == .full)
        let empty = sources.file("empty.wav")
        try Data().write(to: URL(filePath: empty))
        let pipe = sources.file("pipe.wav")
        #expect(mkfifo(pipe, 0o600) == 0)
        for path in [empty, pipe, sources.path, "/dev/null", sources.file("missing.wav")] {
            let message = await thrown { _ = try await prepare(path) }?.message ?? ""
            #expect(message.hasPrefix("\(path): ") && !message.contains("\n"), "\(path) \(message)")
        }
        #expect(try recordings() == [])
    }
}
