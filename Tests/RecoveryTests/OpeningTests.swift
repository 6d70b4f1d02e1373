import FoundationEssentials
import Glibc
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
    let storage = Storage()
    let keys = TemporaryFolder()
    let recipient: String
    /// A private folder on a tmpfs.
    let memoryFolder: ScratchFolder

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

    func configuration(for recipient: String? = nil) -> Configuration {
        var configuration = storage.configuration
        configuration.storage.seal = [recipient ?? self.recipient]
        configuration.recognizer.secondPass = .no
        return configuration
    }

    func text(_ name: String = "key.txt") throws -> String {
        String(decoding: try bytes(keys.file(name)), as: UTF8.self)
    }

    func makeOpening(
        _ archive: SQLiteArchive, lasting duration: Duration = .seconds(3_600), in folders: [String]? = nil
    ) -> OpenedRecordings {
        OpenedRecordings(
            storage: storage.folder.path, archive: archive, in: folders ?? [memoryFolder.path], for: duration,
            onChange: { _ in })
    }

    func folder(_ id: Int = 1) -> String { storage.folder.file("recordings/\(RecordingFolder.name(of: id))") }

    func sealedFile(_ id: Int = 1) -> String { "\(folder(id))/sealed.age" }

    /// Makes one recording for each word, and seals them.
    func seal(_ words: [String], in archive: SQLiteArchive, for recipient: String? = nil) async throws {
        for word in words {
            try await storage.record([.samples(numbered(20_000))], words: [word, "kaduna"], in: archive)
        }
        let failures = try await SealingJob(configuration(for: recipient), archive: archive).run()
        #expect(failures.isEmpty)
        #expect(try await archive.recordings().allSatisfy(\.isSealed))
    }

    /// Returns the paths of the files below a folder that contain a word, one per line.
    func paths(containing word: String, below path: String) throws -> String {
        try shell("cd '\(path)' && grep -rail '\(word)' . | sort")
    }

    func filesInMemory() throws -> [String] {
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
        #expect(try shell("stat -c %a '\(openedFolder)'") == "700\n")
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
        try shell("ssh-keygen -q -t ed25519 -N words -f '\(lockedKey)'")
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

    @Test("SSH keys and the second key of a file work, too")
    func otherKeys() async throws {
        let archive = try storage.archive()
        let sshKey = keys.file("ssh")
        try shell("ssh-keygen -q -t ed25519 -N '' -C a@b -f '\(sshKey)'")
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

    @Test("the next start removes recordings that a killed process had opened")
    func leftovers() async throws {
        let exitedProcess = try shell("sh -c 'echo $$'").filter(\.isNumber)
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
}
