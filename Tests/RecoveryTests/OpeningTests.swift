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
    private let memory: ScratchFolder

    init() throws {
        signal(SIGPIPE, SIG_IGN)
        memory = try ScratchFolder(for: "opening-test", in: "/dev/shm")
        recipient = try Self.makeKey(keys.file("key.txt"))
    }

    /// Creates a key pair and returns the public key.
    private static func makeKey(_ path: String) throws -> String {
        let reported = try shell("age-keygen -o '\(path)' 2>&1 >/dev/null; age-keygen -y '\(path)'")
        let recipient = reported.split(separator: "\n").last.map(String.init) ?? ""
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

    private func opening(
        _ archive: SQLiteArchive, lasting duration: Duration = .seconds(3_600), in places: [String]? = nil,
        changed: @escaping @Sendable (OpenedRecordings.State?) -> Void = { _ in }
    ) -> OpenedRecordings {
        OpenedRecordings(
            storage: storage.folder.path, archive: archive, in: places ?? [memory.path], for: duration,
            onChange: changed)
    }

    private func folder(_ id: Int = 1) -> String { storage.folder.file("recordings/\(RecordingFolder.name(of: id))") }

    private func file(_ id: Int = 1) -> String { "\(folder(id))/sealed.age" }

    /// Makes one recording for each word, and seals them.
    private func seal(_ words: [String], in archive: SQLiteArchive, for recipient: String? = nil) async throws {
        for word in words {
            try await storage.record([.samples(numbered(20_000))], words: [word, "kaduna"], in: archive)
        }
        let failures = try await SealingJob(configuration(for: recipient), archive: archive).run()
        #expect(failures.isEmpty)
        #expect(try await archive.recordings().allSatisfy(\.isSealed))
    }

    /// Returns the files below a folder that contain a word.
    private func found(_ word: String, below path: String) throws -> String {
        try Self.shell("cd '\(path)' && grep -rail '\(word)' . | sort")
    }

    private func filesInMemory() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: memory.path) }

    @Test("an opened transcript can be read and searched, is only in memory, and is gone after a lock")
    func opens() async throws {
        let archive = try storage.archive()
        try await seal(["zanzibar", "mombasa"], in: archive)
        let before = try bytes(file())
        let opening = opening(archive)
        #expect(opening.state == nil)
        #expect(try await opening.search("zanzibar", limit: 9).isEmpty)
        let reported = try await opening.open(text(), named: "key.txt")
        #expect(reported == ["recordings 1 and 2 are open for an hour, or until fieldscribe lock"])
        #expect(opening.state?.recordings == [1, 2])
        #expect((1...3_600).contains(opening.state?.secondsLeft ?? 0))
        #expect(try await opening.search("zanzibar", limit: 9).map(\.recording) == [1])
        #expect(try await opening.search("kaduna", limit: 9).count == 2)
        let (summary, timeline) = try #require(try await opening.archive(of: 2)?.transcript(of: 2))
        #expect(timeline.segments.map(\.text) == ["mombasa", "kaduna"] && summary.length.samples == 20_000)
        // On the disk, only the history has changed.
        #expect(try await archive.search("zanzibar", limit: 9).isEmpty)
        #expect(try found("zanzibar", below: storage.folder.path) == "")
        #expect(try bytes(file()) == before)
        let names = try filesInMemory()
        #expect(names.count == 1)
        let openedFolder = "\(memory.path)/\(names.first ?? "")"
        #expect(try found("zanzibar", below: openedFolder) != "")
        #expect(try Self.shell("stat -c %a '\(openedFolder)'") == "700\n")
        #expect(try found("AGE-SECRET", below: memory.path) == "")
        let acts = try await archive.history(of: 1).map(\.entry)
        #expect(acts.last?.act == .opened && acts.last?.digest == acts.first { $0.act == .sealed }?.digest)
        #expect(try await archive.historyFindings().isEmpty)
        #expect(await opening.lock())
        #expect(try filesInMemory() == [] && opening.state == nil)
        #expect(try await opening.search("zanzibar", limit: 9).isEmpty)
        #expect(try await opening.archive(of: 1) == nil)
        #expect(await !opening.lock())
        #expect(try await Verification(storage: storage.folder.path, archive: archive).run([]).wrong == [])
    }

    @Test("recordings are locked when their time is up, whatever the wall clock says")
    func expires() async throws {
        let archive = try storage.archive()
        try await seal(["zanzibar"], in: archive)
        let opening = opening(archive, lasting: .milliseconds(700))
        let reported = try await opening.open(text(), named: "key.txt")
        #expect(reported.count == 1 && reported.first?.hasPrefix("recording 1 is open") == true, "\(reported)")
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
        let opening = opening(archive)
        _ = try await opening.open(text(), named: "key.txt")
        let other = try Self.makeKey(keys.file("other.txt"))
        let ssh = keys.file("locked")
        try Self.shell("ssh-keygen -q -t ed25519 -N words -f '\(ssh)'")
        let cases: [(text: String, reason: String)] = [
            (try text("other.txt"), "does not open the sealed recording: sealed for another key"),
            (other, "contains a public key, which cannot decrypt"),
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
        let opening = opening(archive)
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
        let (source, target) = (try Folder(opening: folder()), try Folder(opening: memory.path))
        let small = try RecordingDecryptor(source, manifest, key: key, memory: { 5_000_000 }) { true }
        let journal = thrown { try small.writeJournal(into: target) }
        let sound = thrown { try small.writeAudio(SamplePosition(40_000_000), .ended, into: target) }
        for error in [journal, sound] {
            let reported = error?.message ?? "nothing was thrown"
            #expect(error?.code == .full, "\(reported)")
            #expect(
                reported.contains("MB of memory, but only 5 MB of this machine's memory are free; open it on a laptop"),
                "\(reported)")
        }
        #expect(try found("zanzibar", below: memory.path) == "")
        for free in [nil, 1 << 40] as [Int64?] {
            let name = "open-\(free ?? 0)"
            try target.makeFolder(name)
            let large = try RecordingDecryptor(source, manifest, key: key, memory: { free }) { true }
            try large.writeJournal(into: target.folder(name))
            #expect(try found("zanzibar", below: "\(memory.path)/\(name)") == "./journal.jsonl\n")
        }
    }

    @Test("SSH keys and the second key of a file work, too")
    func otherKeys() async throws {
        let archive = try storage.archive()
        let ssh = keys.file("ssh")
        try Self.shell("ssh-keygen -q -t ed25519 -N '' -C a@b -f '\(ssh)'")
        try await seal(["zanzibar"], in: archive, for: try text("ssh.pub"))
        let opening = opening(archive)
        _ = try await opening.open(text("ssh"), named: "ssh")
        #expect(try await opening.search("zanzibar", limit: 9).count == 1)
        try await seal(["mombasa"], in: archive)
        _ = try Self.makeKey(keys.file("other.txt"))
        let reported = try await opening.open(text("other.txt") + text(), named: "key.txt")
        #expect(reported.count == 2 && reported[0].contains("recording 2 is open"))
        #expect(reported[1].contains("recording 1 stays sealed: ") && reported[1].contains("is sealed for another key"))
        #expect(try await opening.search("kaduna", limit: 9).map(\.recording) == [2])
        #expect(try filesInMemory().count == 1)
    }

    @Test("a changed recording stays sealed and is reported; the others are opened", arguments: 0..<3)
    func changed(damage: Int) async throws {
        let archive = try storage.archive()
        try await seal(["zanzibar", "mombasa"], in: archive)
        switch damage {
        case 0: try change(file()) { $0[300] ^= 1 }
        case 1: try change(file()) { $0[5_000] ^= 1 }
        default: unlink(file())
        }
        let reported = try await opening(archive).open(text(), named: "key.txt")
        #expect(reported.count == 2 && reported[0].contains("recording 2 is open"))
        #expect(reported[1].contains("recording 1 stays sealed") && reported[1].contains("changed"), "\(reported)")
    }

    @Test("if there is no tmpfs or no sealed recording, nothing is opened")
    func nowhere() async throws {
        let archive = try storage.archive()
        let nothing = await thrown { _ = try await opening(archive).open(text(), named: "key.txt") }
        #expect(nothing?.message.contains("no recording on this recorder is sealed") == true)
        try await seal(["zanzibar"], in: archive)
        // /proc is not a tmpfs.
        let disk = opening(archive, in: ["/proc", keys.file("missing")])
        let error = await thrown { _ = try await disk.open(text(), named: "key.txt") }
        #expect(error?.message.contains("is not in memory") == true)
        #expect(disk.state == nil)
    }

    @Test(
        "with too little memory, only the latest recordings are opened, and open recordings stay open",
        .enabled(if: canMount))
    func fullMemory() async throws {
        let archive = try storage.archive()
        // Transcripts of 0.2 MB.
        for word in ["zanzibar", "mombasa", "pemba"] {
            let long = (1...4).map { "\(word)\($0)" + String(repeating: "x", count: 50_000) }
            try await storage.record([.samples(numbered(20_000))], words: [word] + long, in: archive)
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
            let opening = opening(archive, in: [mountPoint.path])
            do {
                let reported = try await opening.open(text(), named: "key.txt")
                let opened = try #require(opening.state?.recordings)
                outcomes.append(opened)
                // Only the latest recordings are open.
                #expect(opened == Array((4 - opened.count)...3))
                #expect(Set(try await opening.search("pemba", limit: 9).map(\.recording)) == [3])
                #expect(try await opening.search("zanzibar", limit: 9).isEmpty == (opened.count < 3))
                #expect(reported.count == (opened.count == 3 ? 1 : 2), "\(reported)")
                if opened.count < 3 {
                    let stillSealed = opened.count == 1 ? "recording 2, like the older one," : "recording 1"
                    #expect(
                        reported.last?.hasPrefix("\(stillSealed) stays sealed: \(mountPoint.path): ") == true,
                        "\(reported)")
                    #expect(reported.last?.contains("opening this recording needs") == true)
                    #expect(reported.last?.contains("; open it on a laptop") == true)
                }
                // Opened again with less space, the recordings stay open.
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
        // There is not even enough space for a database.
        #expect(mount("tmpfs", mountPoint.path, "tmpfs", 0, "size=64k") == 0)
        defer { umount2(mountPoint.path, Int32(MNT_DETACH)) }
        let error = await thrown {
            _ = try await opening(archive, in: [mountPoint.path]).open(text(), named: "key.txt")
        }
        #expect(
            error?.message.hasPrefix("\(mountPoint.path): this file system in memory is full; ") == true,
            "\(error?.message ?? "")")
        #expect(try FileManager.default.contentsOfDirectory(atPath: mountPoint.path) == [])
    }

    @Test("two dozen recordings are opened one after the other, with few descriptors")
    func twoDozen() async throws {
        let archive = try storage.archive()
        try await seal((1...24).map { "word\($0)" }, in: archive)
        let opening = opening(archive)
        let paths = [storage.folder.path, memory.path]
        let maximum = Mutex(0)
        let sampling = Task.detached {
            while !Task.isCancelled {
                let count = Self.descriptors(below: paths)
                maximum.withLock { $0 = max($0, count) }
                usleep(500)  // wait: the interval between two samples; a slow machine only samples less often
            }
        }
        let before = Self.descriptors(below: paths)
        let reported = try await opening.open(text(), named: "key.txt")
        sampling.cancel()
        await sampling.value
        #expect(reported == ["24 recordings are open for an hour, or until fieldscribe lock"])
        #expect(try await opening.search("word17", limit: 9).map(\.recording) == [17])
        #expect(try await opening.search("kaduna", limit: 200).count == 24)
        #expect(maximum.withLock { $0 } - before < 20, "\(maximum.withLock { $0 }) descriptors, \(before) before")
        #expect(await opening.lock())
        #expect(Self.descriptors(below: paths) == before)
        #expect(try filesInMemory() == [])
        #expect(try await archive.historyFindings().isEmpty)
    }

    /// Returns the number of this process's descriptors for files below the paths.
    private static func descriptors(below paths: [String]) -> Int {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
        return names.count { name in
            let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(name)")
            return paths.contains { target?.hasPrefix($0) == true }
        }
    }

    @Test("the next start removes recordings that a killed process had opened")
    func leftovers() async throws {
        let child = try Self.shell("sh -c 'echo $$'").filter(\.isNumber)
        let leftover = "\(memory.path)/fieldscribe-opened-\(child)-abcdef"
        mkdir(leftover, 0o700)
        try Data("zanzibar".utf8).write(to: URL(filePath: "\(leftover)/text"))
        _ = opening(try storage.archive())
        #expect(try filesInMemory() == [])
    }

    @Test("opened recordings that are erased or unsealed can no longer be read")
    func erased() async throws {
        let archive = try storage.archive()
        try await seal(["zanzibar", "mombasa"], in: archive)
        let opening = opening(archive)
        _ = try await opening.open(text(), named: "key.txt")
        try await Erasure(storage: storage.folder.path, archive: archive).erase([1])
        #expect(try await opening.search("kaduna", limit: 9).map(\.recording) == [2])
        #expect(try await opening.archive(of: 1) == nil)
        try await opening.forget([1])
        #expect(try found("zanzibar", below: memory.path) == "")
        #expect(opening.state?.recordings == [2])
    }

    // MARK: Resealing

    /// Opens recording 1 and adds a second pass to its opened copy.
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
    private func unsealed() throws -> String {
        let target = keys.file("opened")
        return try Self.shell(
            "rm -rf '\(target)'; mkdir '\(target)'; cd '\(target)' && age -d -i '\(keys.file("key.txt"))' '\(file())' "
                + "| tar x --strip-components=1 && sha256sum --quiet -c SHA256SUMS && cat transcript.txt")
    }

    @Test(
        "resealing stores the better transcript and the same audio, and adds a history entry", arguments: [1, 2])
    func sealedAgain(channels: Int) async throws {
        let archive = try storage.archive()
        try await storage.record(
            [.samples(numbered(20_000))], channels: channels, words: ["zanzibar"], in: archive)
        let sound = try samples(of: storage.audio(1))
        #expect(try await SealingJob(configuration(), archive: archive).run().isEmpty)
        let before = try #require(try await archive.recordings().first?.seal)
        let opening = opening(archive)
        let open = try await openAndAddPass(opening, frames: Int64(20_000 / channels))
        #expect(try samples(of: RecordingFolder(storage: open.storage, recording: 1).audio) == sound)
        let manifestAfter = try #require(
            try await SealingJob(configuration(), archive: archive).reseal(1, from: open))
        await opening.updateManifest(of: 1, to: manifestAfter)
        #expect(try await archive.recordings().first?.seal == manifestAfter.text && manifestAfter.text != before)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: folder()).sorted() == ["journal.jsonl", "sealed.age"])
        #expect(try unsealed().contains("pemba"))
        try Self.shell("cd '\(keys.file("opened"))' && sox audio.flac -t raw -e signed -b 16 out.raw")
        let raw = try bytes("\(keys.file("opened"))/out.raw")
        // All samples are unchanged, with two channels also.
        let isWhole =
            raw == numbered(20_000).flatMap { [UInt8(truncatingIfNeeded: $0), UInt8(truncatingIfNeeded: $0 >> 8)] }
        #expect(isWhole, "\(raw.count) bytes")
        #expect(try Self.shell("grep -c zanzibar '\(keys.file("opened"))/journal.jsonl'") == "1\n")
        #expect(try await archive.history(of: 1).map(\.entry.act).suffix(3) == [.sealed, .opened, .sealed])
        #expect(try await Verification(storage: storage.folder.path, archive: archive).run([]).wrong == [])
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
            let opening = opening(archive)
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
            #expect(try await Verification(storage: storage.folder.path, archive: archive).run([]).wrong == [])
            #expect(
                try FileManager.default.contentsOfDirectory(atPath: folder()).sorted() == [
                    "journal.jsonl", "sealed.age",
                ]
            )
            #expect(try unsealed().contains(interruption == .written ? "zanzibar" : "pemba"))
            for word in ["zanzibar", "pemba"] { #expect(try found(word, below: storage.folder.path) == "") }
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
