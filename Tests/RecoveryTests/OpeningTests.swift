import FoundationEssentials
import Glibc
import Synchronization
import Testing
import TestKit

@testable import Archive
@testable import Audio
@testable import Copying
@testable import Core
@testable import Maintenance
@testable import Settings
@testable import System

@Suite("Opening sealed recordings with a private key", .serialized) struct OpeningTests {
    private let storage = Storage()
    private let keys = TemporaryFolder()
    private let recipient: String
    /// A private folder on a tmpfs.
    private let memoryFolder: ScratchFolder

    init() throws {
        signal(SIGPIPE, SIG_IGN)
        memoryFolder = try ScratchFolder(for: "opening-test", in: "/dev/shm")
        recipient = try Self.makeKey(keys.file("key.txt"))
    }

    /// Creates a key pair and returns the public key.
    private static func makeKey(_ path: String) throws -> String {
        let output = try shell("age-keygen -o '\(path)' 2>&1 >/dev/null; age-keygen -y '\(path)'")
        let recipient = output.split(separator: "\n").last.map(String.init) ?? ""
        #expect(recipient.hasPrefix("age1"))
        return recipient
    }

    /// Runs a shell command and returns its output.
    @discardableResult
    private static func shell(_ command: String) throws -> String {
        guard let stream = popen(command, "r") else { throw DeviceError.system("popen", on: command) }
        defer { pclose(stream) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while case let count = fread(&buffer, 1, buffer.count, stream), count > 0 { bytes += buffer[..<count] }
        return String(decoding: bytes, as: UTF8.self)
    }

    private func configuration(for recipient: String? = nil) -> Configuration {
        var configuration = storage.configuration
        configuration.storage.seal = [recipient ?? self.recipient]
        configuration.recognizer.secondPass = .no
        return configuration
    }

    private func text(_ name: String = "key.txt") throws -> String {
        String(decoding: try bytes(keys.file(name)), as: UTF8.self)
    }

    private func makeOpening(
        _ archive: SQLiteArchive, lasting duration: Duration = .seconds(3_600), in folders: [String]? = nil
    ) -> OpenedRecordings {
        OpenedRecordings(
            storage: storage.folder.path, archive: archive, in: folders ?? [memoryFolder.path], for: duration,
            onChange: { _ in })
    }

    private func folder(_ id: Int = 1) -> String { storage.folder.file("recordings/\(RecordingFolder.name(of: id))") }

    private func sealedFile(_ id: Int = 1) -> String { "\(folder(id))/sealed.age" }

    /// Makes one recording for each word, and seals them.
    private func seal(_ words: [String], in archive: SQLiteArchive, for recipient: String? = nil) async throws {
        for word in words {
            try await storage.record([.samples(numbered(20_000))], words: [word, "kaduna"], in: archive)
        }
        let failures = try await SealingJob(configuration(for: recipient), archive: archive).run()
        #expect(failures.isEmpty)
        #expect(try await archive.recordings().allSatisfy(\.isSealed))
    }

    /// Returns the paths of the files below a folder that contain a word, one per line.
    private func paths(containing word: String, below path: String) throws -> String {
        try Self.shell("cd '\(path)' && grep -rail '\(word)' . | sort")
    }

    private func filesInMemory() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: memoryFolder.path)
    }

    @Test("an opened transcript can be read and searched, is only in memory, and is gone after a lock")
    func opens() async throws {
        let archive = try storage.archive()
        try await seal(["zanzibar", "mombasa"], in: archive)
        let before = try bytes(sealedFile())
        let opening = makeOpening(archive)
        #expect(opening.state == nil)
        #expect(try await opening.search("zanzibar", limit: 9).isEmpty)
        let messages = try await opening.open(text(), named: "key.txt")
        #expect(messages == ["recordings 1 and 2 are open for an hour, or until fieldscribe lock"])
        #expect(opening.state?.recordings == [1, 2])
        #expect((1...3_600).contains(opening.state?.secondsLeft ?? 0))
        #expect(try await opening.search("zanzibar", limit: 9).map(\.recording) == [1])
        #expect(try await opening.search("kaduna", limit: 9).count == 2)
        let (summary, timeline) = try #require(try await opening.archive(of: 2)?.transcript(of: 2))
        #expect(timeline.segments.map(\.text) == ["mombasa", "kaduna"] && summary.length.samples == 20_000)
        // On the disk, only the history has changed.
        #expect(try await archive.search("zanzibar", limit: 9).isEmpty)
        #expect(try paths(containing: "zanzibar", below: storage.folder.path) == "")
        #expect(try bytes(sealedFile()) == before)
        let names = try filesInMemory()
        #expect(names.count == 1)
        let openedFolder = "\(memoryFolder.path)/\(names.first ?? "")"
        #expect(try paths(containing: "zanzibar", below: openedFolder) != "")
        #expect(try Self.shell("stat -c %a '\(openedFolder)'") == "700\n")
        #expect(try paths(containing: "AGE-SECRET", below: memoryFolder.path) == "")
        let acts = try await archive.history(of: 1).map(\.entry)
        #expect(acts.last?.act == .opened && acts.last?.digest == acts.first { $0.act == .sealed }?.digest)
        #expect(try await archive.historyFindings().isEmpty)
        #expect(await opening.lock())
        #expect(try filesInMemory() == [] && opening.state == nil)
        #expect(try await opening.search("zanzibar", limit: 9).isEmpty)
        #expect(try await opening.archive(of: 1) == nil)
        #expect(await !opening.lock())
        #expect(try await Verification(storage: storage.folder.path, archive: archive).run([]).problems == [])
    }

    @Test("recordings are locked when their time is up")
    func expires() async throws {
        let archive = try storage.archive()
        try await seal(["zanzibar"], in: archive)
        let opening = makeOpening(archive, lasting: .milliseconds(700))
        let messages = try await opening.open(text(), named: "key.txt")
        #expect(messages.count == 1 && messages.first?.hasPrefix("recording 1 is open") == true, "\(messages)")
        // On a busy machine they may already be locked.
        #expect((0...0.7).contains(opening.state?.secondsLeft ?? 0))
        try await eventually("the recordings are locked") { try filesInMemory().isEmpty }
        #expect(try filesInMemory() == [] && opening.state == nil)
        #expect(try await opening.search("zanzibar", limit: 9).isEmpty)
    }

    @Test("an invalid or wrong key gives a one-line error, and open recordings stay open")
    func unusableKey() async throws {
        let archive = try storage.archive()
        try await seal(["zanzibar"], in: archive)
        let opening = makeOpening(archive)
        _ = try await opening.open(text(), named: "key.txt")
        let otherRecipient = try Self.makeKey(keys.file("other.txt"))
        let lockedKey = keys.file("locked")
        try Self.shell("ssh-keygen -q -t ed25519 -N words -f '\(lockedKey)'")
        let cases: [(text: String, reason: String)] = [
            (try text("other.txt"), "does not open the sealed recording: sealed for another key"),
            (otherRecipient, "contains a public key, which cannot decrypt"),
            ("", "contains no private key"), ("hello\n", "contains no private key"),
            ("age-encryption.org/v1\n-> scrypt x 18\n", "is protected by a passphrase"),
            (try text("locked"), "is protected by a passphrase"),
            ("AGE-PLUGIN-YUBIKEY-1QQQ\n", "refers to an age plugin"),
            (String(repeating: "AGE-SECRET-KEY-1QQQ\n", count: 2_000), "is too large for a private key"),
            ("AGE-SECRET-KEY-1" + String(repeating: "Q", count: 58) + "\n", "does not open the sealed recording"),
        ]
        for (text, reason) in cases {
            let error = await thrown { _ = try await opening.open(text, named: "Fieldscribe/key.txt") }
            #expect(
                error?.message.contains(reason) == true, "\(error?.message ?? "nothing was thrown"), not: \(reason)")
            #expect(error?.message.contains("AGE-SECRET") == false && error?.message.contains("\n") == false)
            #expect(error?.message.hasPrefix("Fieldscribe/key.txt: ") == true)
        }
        #expect(try await opening.search("zanzibar", limit: 9).count == 1)
        #expect(try filesInMemory().count == 1)
    }

    @Test(
        "a key file saved by Windows is read: with CRLF, a byte order mark or UTF-16",
        arguments: 0..<5)
    func fromWindows(encoding: Int) async throws {
        let archive = try storage.archive()
        try await seal(["zanzibar"], in: archive)
        let lines = try text().split(separator: "\n", omittingEmptySubsequences: false).joined(separator: "\r\n")
        let units = Array(lines.utf16)
        let content: [UInt8] =
            switch encoding {
            case 0: Array(lines.utf8)
            case 1: [0xEF, 0xBB, 0xBF] + Array(lines.utf8)
            case 2: [0xFF, 0xFE] + units.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8($0 >> 8)] }
            case 3: [0xFE, 0xFF] + units.flatMap { [UInt8($0 >> 8), UInt8(truncatingIfNeeded: $0)] }
            // The last character is truncated.
            default: [0xFF, 0xFE] + units.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8($0 >> 8)] } + [0x0D]
            }
        try Data(content).write(to: URL(filePath: keys.file("windows.txt")))
        let text = try keyText("windows.txt")
        #expect(PrivateKey.isIn(text))
        let opening = makeOpening(archive)
        #expect(try await opening.open(text, named: "key.txt").count == 1)
        #expect(try await opening.search("zanzibar", limit: 9).count == 1)
        _ = try DecryptionKey(in: Folder(opening: keys.path), "windows.txt")
    }

    // A separate function: Swift 6.0 rejects noncopyable values in async functions.
    private func keyText(_ name: String) throws -> String {
        try DecryptionKey.text(of: Folder(opening: keys.path).openFile(name, O_RDONLY))
    }

    @Test("if the machine has too little free memory, nothing is opened, even if the tmpfs has space")
    func littleMemory() async throws {
        let archive = try storage.archive()
        try await seal(["zanzibar"], in: archive)
        let key = try DecryptionKey(text(), named: "key.txt")
        let row = try #require(try await archive.recordings().first)
        let manifest = try #require(row.seal.flatMap { SealedManifest($0) })
        let (source, target) = (try Folder(opening: folder()), try Folder(opening: memoryFolder.path))
        let lowMemoryDecryptor = try RecordingDecryptor(source, manifest, key: key, memory: { 5_000_000 }) { true }
        let journalError = thrown { try lowMemoryDecryptor.writeJournal(into: target) }
        let audioError = thrown { try lowMemoryDecryptor.writeAudio(SamplePosition(40_000_000), .ended, into: target) }
        for error in [journalError, audioError] {
            let message = error?.message ?? "nothing was thrown"
            #expect(error?.code == .full, "\(message)")
            #expect(
                message.contains("MB of memory, but only 5 MB of this machine's memory are free; open it on a laptop"),
                "\(message)")
        }
        #expect(try paths(containing: "zanzibar", below: memoryFolder.path) == "")
        for free in [nil, 1 << 40] as [Int64?] {
            let name = "open-\(free ?? 0)"
            try target.makeFolder(name)
            let decryptor = try RecordingDecryptor(source, manifest, key: key, memory: { free }) { true }
            try decryptor.writeJournal(into: target.folder(name))
            #expect(try paths(containing: "zanzibar", below: "\(memoryFolder.path)/\(name)") == "./journal.jsonl\n")
        }
    }

    @Test("SSH keys and the second key of a file work, too")
    func otherKeys() async throws {
        let archive = try storage.archive()
        let sshKey = keys.file("ssh")
        try Self.shell("ssh-keygen -q -t ed25519 -N '' -C a@b -f '\(sshKey)'")
        try await seal(["zanzibar"], in: archive, for: try text("ssh.pub"))
        let opening = makeOpening(archive)
        _ = try await opening.open(text("ssh"), named: "ssh")
        #expect(try await opening.search("zanzibar", limit: 9).count == 1)
        try await seal(["mombasa"], in: archive)
        _ = try Self.makeKey(keys.file("other.txt"))
        let messages = try await opening.open(text("other.txt") + text(), named: "key.txt")
        #expect(messages.count == 2 && messages[0].contains("recording 2 is open"))
        #expect(messages[1].contains("recording 1 stays sealed: ") && messages[1].contains("is sealed for another key"))
        #expect(try await opening.search("kaduna", limit: 9).map(\.recording) == [2])
        #expect(try filesInMemory().count == 1)
    }

    @Test("a changed recording stays sealed and is reported; the others are opened", arguments: 0..<3)
    func changed(damage: Int) async throws {
        let archive = try storage.archive()
        try await seal(["zanzibar", "mombasa"], in: archive)
        switch damage {
        case 0: try change(sealedFile()) { $0[300] ^= 1 }
        case 1: try change(sealedFile()) { $0[5_000] ^= 1 }
        default: unlink(sealedFile())
        }
        let messages = try await makeOpening(archive).open(text(), named: "key.txt")
        #expect(messages.count == 2 && messages[0].contains("recording 2 is open"))
        #expect(messages[1].contains("recording 1 stays sealed") && messages[1].contains("changed"), "\(messages)")
    }

    @Test("if there is no tmpfs or no sealed recording, nothing is opened")
    func nowhere() async throws {
        let archive = try storage.archive()
        let nothingSealed = await thrown { _ = try await makeOpening(archive).open(text(), named: "key.txt") }
        #expect(nothingSealed?.message.contains("no recording on this recorder is sealed") == true)
        try await seal(["zanzibar"], in: archive)
        // /proc is not a tmpfs.
        let diskOpening = makeOpening(archive, in: ["/proc", keys.file("missing")])
        let error = await thrown { _ = try await diskOpening.open(text(), named: "key.txt") }
        #expect(error?.message.contains("is not in memory") == true)
        #expect(diskOpening.state == nil)
    }

    @Test(
        "with too little memory, only the latest recordings are opened, and open recordings stay open",
        .enabled(if: canMount))
    func fullMemory() async throws {
        let archive = try storage.archive()
        // Each transcript has 0.2 MB.
        for word in ["zanzibar", "mombasa", "pemba"] {
            let longWords = (1...4).map { "\(word)\($0)" + String(repeating: "x", count: 50_000) }
            try await storage.record([.samples(numbered(20_000))], words: [word] + longWords, in: archive)
        }
        // Skips the other formats, which take minutes on an emulated board.
        var configuration = configuration()
        configuration.export.formats = [.json]
        #expect(try await SealingJob(configuration, archive: archive).run().isEmpty)
        let mountPoint = TemporaryFolder()
        var outcomes: [[Int]] = []
        for kilobytes in [9_000, 11_500, 20_000] {
            #expect(mount("tmpfs", mountPoint.path, "tmpfs", 0, "size=\(kilobytes)k") == 0)
            defer { umount2(mountPoint.path, Int32(MNT_DETACH)) }
            let opening = makeOpening(archive, in: [mountPoint.path])
            do {
                let messages = try await opening.open(text(), named: "key.txt")
                let opened = try #require(opening.state?.recordings)
                outcomes.append(opened)
                // Only the latest recordings are open.
                #expect(opened == Array((4 - opened.count)...3))
                #expect(Set(try await opening.search("pemba", limit: 9).map(\.recording)) == [3])
                #expect(try await opening.search("zanzibar", limit: 9).isEmpty == (opened.count < 3))
                #expect(messages.count == (opened.count == 3 ? 1 : 2), "\(messages)")
                if opened.count < 3 {
                    let stillSealed = opened.count == 1 ? "recording 2, like the older one," : "recording 1"
                    #expect(
                        messages.last?.hasPrefix("\(stillSealed) stays sealed: \(mountPoint.path): ") == true,
                        "\(messages)")
                    #expect(messages.last?.contains("opening this recording needs") == true)
                    #expect(messages.last?.contains("; open it on a laptop") == true)
                }
                // The recordings stay open if there is too little space to open them again.
                let freeBytes = try Folder(opening: mountPoint.path).freeBytes()
                try Self.shell("head -c \(freeBytes - 65_536) /dev/zero > '\(mountPoint.path)/mine'")
                let error = await thrown { _ = try await opening.open(text(), named: "key.txt") }
                #expect(error?.code == .full && opening.state?.recordings == opened, "\(error?.message ?? "")")
                #expect(Set(try await opening.search("pemba", limit: 9).map(\.recording)) == [3])
                #expect(await opening.lock())
                #expect(try FileManager.default.contentsOfDirectory(atPath: mountPoint.path) == ["mine"])
            } catch let error as DeviceError {
                outcomes.append([])
                #expect(error.code == .full && error.message.hasPrefix("\(mountPoint.path): "), "\(error.message)")
                #expect(error.message.contains("MB are free; open it on a laptop"), "\(error.message)")
                #expect(opening.state == nil)
                #expect(try FileManager.default.contentsOfDirectory(atPath: mountPoint.path) == [])
            }
        }
        let counts = outcomes.map(\.count)
        #expect(counts.first == 0 && counts.contains { 1...2 ~= $0 } && counts.last == 3, "\(counts)")
        // With 64 kB, there is not even enough space for a database.
        #expect(mount("tmpfs", mountPoint.path, "tmpfs", 0, "size=64k") == 0)
        defer { umount2(mountPoint.path, Int32(MNT_DETACH)) }
        let error = await thrown {
            _ = try await makeOpening(archive, in: [mountPoint.path]).open(text(), named: "key.txt")
        }
        #expect(
            error?.message.hasPrefix("\(mountPoint.path): this file system in memory is full; ") == true,
            "\(error?.message ?? "")")
        #expect(try FileManager.default.contentsOfDirectory(atPath: mountPoint.path) == [])
    }

    @Test("two dozen recordings are opened one after the other, so few descriptors are open at a time")
    func twoDozen() async throws {
        let archive = try storage.archive()
        try await seal((1...24).map { "word\($0)" }, in: archive)
        let opening = makeOpening(archive)
        let paths = [storage.folder.path, memoryFolder.path]
        let maximum = Mutex(0)
        let sampling = Task.detached {
            while !Task.isCancelled {
                let count = Self.descriptorCount(below: paths)
                maximum.withLock { $0 = max($0, count) }
                usleep(500)  // wait: the interval between two samples; a slow machine only samples less often
            }
        }
        let before = Self.descriptorCount(below: paths)
        let messages = try await opening.open(text(), named: "key.txt")
        sampling.cancel()
        await sampling.value
        #expect(messages == ["24 recordings are open for an hour, or until fieldscribe lock"])
        #expect(try await opening.search("word17", limit: 9).map(\.recording) == [17])
        #expect(try await opening.search("kaduna", limit: 200).count == 24)
        #expect(maximum.withLock { $0 } - before < 20, "\(maximum.withLock { $0 }) descriptors, \(before) before")
        #expect(await opening.lock())
        #expect(Self.descriptorCount(below: paths) == before)
        #expect(try filesInMemory() == [])
        #expect(try await archive.historyFindings().isEmpty)
    }

    /// Returns the number of this process's descriptors for files below the paths.
    private static func descriptorCount(below paths: [String]) -> Int {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
        return names.count { name in
            let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(name)")
            return paths.contains { target?.hasPrefix($0) == true }
        }
    }

    @Test("the next start removes recordings that a killed process had opened")
    func leftovers() async throws {
        let exitedProcess = try Self.shell("sh -c 'echo $$'").filter(\.isNumber)
        let leftover = "\(memoryFolder.path)/fieldscribe-opened-\(exitedProcess)-abcdef"
        mkdir(leftover, 0o700)
        try Data("zanzibar".utf8).write(to: URL(filePath: "\(leftover)/text"))
        _ = makeOpening(try storage.archive())
        #expect(try filesInMemory() == [])
    }

    @Test("an opened recording that is erased can no longer be read, and its copy in memory is removed")
    func erased() async throws {
        let archive = try storage.archive()
        try await seal(["zanzibar", "mombasa"], in: archive)
        let opening = makeOpening(archive)
        _ = try await opening.open(text(), named: "key.txt")
        try await Erasure(storage: storage.folder.path, archive: archive).erase([1])
        #expect(try await opening.search("kaduna", limit: 9).map(\.recording) == [2])
        #expect(try await opening.archive(of: 1) == nil)
        try await opening.forget([1])
        #expect(try paths(containing: "zanzibar", below: memoryFolder.path) == "")
        #expect(opening.state?.recordings == [2])
    }

    // MARK: Resealing

    /// Opens recording 1, and adds a second pass and the decrypted audio to the opened copy.
    private func openAndAddPass(
        _ opening: OpenedRecordings, frames: Int64 = 20_000
    ) async throws -> OpenedRecordings.Open {
        _ = try await opening.open(text(), named: "key.txt")
        let open = try #require(await opening.current())
        let pass = try await open.archive.beginPass(recording: 1, engine: engine, profile: "final")
        try await open.archive.commit(segment(1, "pemba"), pass: pass, recording: 1)
        try await open.archive.endPass(pass, recording: 1)
        let manifest = try #require(open.manifests[1])
        let target = try Folder(opening: "\(open.storage)/recordings/000001")
        try RecordingDecryptor(Folder(opening: folder()), manifest, key: open.key) { true }.writeAudio(
            SamplePosition(frames), .command, into: target)
        return open
    }

    /// Decrypts recording 1 with age and returns its transcript.
    private func decryptedTranscript() throws -> String {
        let target = keys.file("opened")
        return try Self.shell(
            "rm -rf '\(target)'; mkdir '\(target)'; cd '\(target)' && age -d -i '\(keys.file("key.txt"))' "
                + "'\(sealedFile())' | tar x --strip-components=1 && sha256sum --quiet -c SHA256SUMS "
                + "&& cat transcript.txt"
        )
    }

    @Test(
        "resealing stores the new transcript and the same audio, and adds a history entry", arguments: [1, 2])
    func resealed(channels: Int) async throws {
        let archive = try storage.archive()
        try await storage.record(
            [.samples(numbered(20_000))], channels: channels, words: ["zanzibar"], in: archive)
        let samplesBefore = try samples(of: storage.audio(1))
        #expect(try await SealingJob(configuration(), archive: archive).run().isEmpty)
        let before = try #require(try await archive.recordings().first?.seal)
        let opening = makeOpening(archive)
        let open = try await openAndAddPass(opening, frames: Int64(20_000 / channels))
        #expect(try samples(of: RecordingFolder(storage: open.storage, recording: 1).audio) == samplesBefore)
        let manifestAfter = try #require(
            try await SealingJob(configuration(), archive: archive).reseal(1, from: open))
        await opening.updateManifest(of: 1, to: manifestAfter)
        #expect(try await archive.recordings().first?.seal == manifestAfter.text && manifestAfter.text != before)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: folder()).sorted() == ["journal.jsonl", "sealed.age"])
        #expect(try decryptedTranscript().contains("pemba"))
        try Self.shell("cd '\(keys.file("opened"))' && sox audio.flac -t raw -e signed -b 16 out.raw")
        let raw = try bytes("\(keys.file("opened"))/out.raw")
        // All samples are unchanged, also with two channels.
        let isUnchanged =
            raw == numbered(20_000).flatMap { [UInt8(truncatingIfNeeded: $0), UInt8(truncatingIfNeeded: $0 >> 8)] }
        #expect(isUnchanged, "\(raw.count) bytes")
        #expect(try Self.shell("grep -c zanzibar '\(keys.file("opened"))/journal.jsonl'") == "1\n")
        #expect(try await archive.history(of: 1).map(\.entry.act).suffix(3) == [.sealed, .opened, .sealed])
        #expect(try await Verification(storage: storage.folder.path, archive: archive).run([]).problems == [])
        // The resealed recording can be opened, too.
        _ = try await opening.open(text(), named: "key.txt")
        #expect(try await opening.search("pemba", limit: 9).count == 1)
    }

    /// The last completed step. `AndLost` means that the database was lost, too.
    enum Interruption: CaseIterable, Sendable { case written, journaled, journaledAndLost, renamed, renamedAndLost }

    @Test(
        "after a power cut during resealing, the recording is sealed with the old or the new transcript",
        arguments: Interruption.allCases)
    func cutOff(interruption: Interruption) async throws {
        func begin() async throws {
            let archive = try storage.archive()
            try await storage.record([.samples(numbered(20_000))], words: ["zanzibar"], in: archive)
            #expect(try await SealingJob(configuration(), archive: archive).run().isEmpty)
            let opening = makeOpening(archive)
            let open = try await openAndAddPass(opening)
            let manifest = try #require(open.manifests[1])
            let (summary, timeline) = try #require(try await open.archive.transcript(of: 1))
            let journal = try await open.archive.journalContent(of: 1)
            let manifestAfter = try RecordingSealer(
                summary, timeline, journal: journal.text, history: [], in: storage.folder.path, soundIn: open.storage,
                settings: CopySettings(formats: [.text, .html], audio: .flac, device: .host, volume: "", now: 1),
                for: [try #require(Recipient(recipient))], shouldContinue: { true }
            ).seal(as: RecordingFolder.resealedName)
            await opening.lock()
            if interruption == .written { return }
            #expect(try await archive.beginResealing(1, manifestAfter, before: manifest))
            if interruption == .journaled || interruption == .journaledAndLost { return }
            let recordingFolder = try Folder(opening: folder())
            try recordingFolder.rename(RecordingFolder.resealedName, replacing: RecordingFolder.sealedName)
            try recordingFolder.sync()
        }
        try await begin()
        if interruption == .journaledAndLost || interruption == .renamedAndLost {
            for suffix in ["", "-wal"] { unlink(storage.configuration.archivePath + suffix) }
        }
        let findings = try await storage.recover(.start)
        #expect(findings.allSatisfy { $0.outcome != .damaged }, "\(findings)")
        func check() async throws {
            let archive = try storage.archive()
            #expect(try await archive.recordings().map(\.isSealed) == [true])
            #expect(try await Verification(storage: storage.folder.path, archive: archive).run([]).problems == [])
            #expect(
                try FileManager.default.contentsOfDirectory(atPath: folder()).sorted() == [
                    "journal.jsonl", "sealed.age",
                ]
            )
            #expect(try decryptedTranscript().contains(interruption == .written ? "zanzibar" : "pemba"))
            for word in ["zanzibar", "pemba"] { #expect(try paths(containing: word, below: storage.folder.path) == "") }
        }
        try await check()
        #expect(try await storage.recover(.start).isEmpty)
    }
}

/// Whether this process may mount file systems.
private let canMount: Bool = {
    let folder = TemporaryFolder()
    guard mount("tmpfs", folder.path, "tmpfs", 0, "size=64k") == 0 else { return false }
    return umount(folder.path) == 0
}()
