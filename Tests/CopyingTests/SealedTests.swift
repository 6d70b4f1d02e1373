import FoundationEssentials
import Glibc
import Synchronization
import Testing
import TestKit

@testable import Audio
@testable import Copying
@testable import Core
@testable import System
@testable import Transcripts

/// Copies that only a private key opens, checked with age and tar.
@Suite("Encrypted copies", .serialized) struct SealedTests {
    private let keys: KeyPair

    init() throws {
        signal(SIGPIPE, SIG_IGN)
        keys = try KeyPair()
    }

    private func setup(
        _ recordings: Int = 1, seconds: Double = 0.5, for recipients: [Recipient]? = nil, stick: String? = nil
    ) async throws -> Setup {
        var setup = try await Setup(recordings: recordings, seconds: seconds, stick: stick)
        setup.recipients = .success(recipients ?? [keys.recipient])
        return setup
    }

    @Test("a copy opened with age and tar equals the readable copy byte for byte", arguments: AudioFormat.allCases)
    func roundTrip(format: AudioFormat) async throws {
        var sealed = try await setup(2, seconds: 30)
        sealed.audio = format
        let report = try await sealed.copy()
        #expect(report.error == nil && report.copied.map(\.folder) == [1, 2].map { "sealed/\(Setup.sealedName($0))" })
        var plain = sealed
        plain.recipients = nil
        let plainStick = sealed.folder.file("plain")
        try makeFolder(plainStick)
        #expect(try await plain.export().copy(to: plainStick).error == nil)
        let opened = sealed.folder.file("opened")
        for id in 1...2 {
            #expect(keys.open("\(sealed.sealedFolder)/\(Setup.sealedName(id))", into: opened) == "")
        }
        #expect(names(opened) == [1, 2].map(Setup.name))
        let difference = shell("diff -r '\(opened)' '\(plainStick)/Fieldscribe/recorder'")
        #expect(difference.status == 0, "\(difference.output)")
        #expect(shell("cd '\(opened)/\(Setup.name(1))' && sha256sum --quiet --strict -c SHA256SUMS").status == 0)
        #expect(shell("cd '\(sealed.sealedFolder)' && sha256sum --quiet --strict -c SHA256SUMS").status == 0)
    }

    @Test("the ledger lists exactly the passes whose complete transcript was copied")
    func listedPasses() async throws {
        try await setup().expectCompletePasses()
    }

    @Test("the stick reveals no words, names or times from a recording")
    func revealsNothing() async throws {
        let setup = try await setup(2)
        try await setup.copy()
        #expect(names(setup.stick) == ["Fieldscribe"])
        #expect(names("\(setup.stick)/Fieldscribe") == ["README.txt", "RESULT.txt", "sealed"])
        #expect(names(setup.sealedFolder) == [Setup.sealedName(1), Setup.sealedName(2), "SHA256SUMS"])
        // The words, the recorder's name, the year, and a time.
        let matches = shell("cd '\(setup.stick)' && grep -rail -e 'one two' -e 'recorder/' -e 2026 -e '0:00' .")
        #expect(matches.output == "", "\(matches.output)")
        #expect(setup.result().contains("and verified: 2 recordings, 1 and 2."))
    }

    @Test("nothing readable ever reaches the stick", .enabled(if: canMountImages))
    func nothingReadable() async throws {
        let mark = "ZebraFishMark"
        let folder = TemporaryFolder()
        let (image, mountPoint) = (folder.file("image"), folder.file("point"))
        try makeFolder(mountPoint)
        #expect(
            shell(
                "truncate -s 24M '\(image)' && mkfs.ext4 -q '\(image)' >/dev/null && mount -o loop '\(image)' '\(mountPoint)'"
            ).status == 0)
        defer { shell("umount '\(mountPoint)'") }
        var setup = try await setup(0, stick: mountPoint)
        setup.audio = .wav
        // The samples repeat the mark.
        #expect(
            shell(
                "yes \(mark) | tr -d '\\n' | head -c 960000 | sox -t raw -r 16000 -b 16 -e signed -c 1 - '\(setup.audioPath(1))'"
            ).status == 0)
        await setup.put(1, seconds: 30, text: "\(mark) two")
        #expect(shell("grep -qa \(mark) '\(setup.audioPath(1))'").status == 0)
        let checks = Mutex(0)
        let check: Folder.Gate = { _, _ throws(DeviceError) in
            checks.withLock { $0 += 1 }
            #expect(
                shell(
                    "sync -f '\(mountPoint)'; grep -qai \(mark) '\(image)' || grep -rqai \(mark) '\(mountPoint)'"
                ).status == 1)
        }
        // One complete copy, then one that is interrupted.
        #expect(try await setup.export(gate: check).copy(to: mountPoint).error == nil)
        await setup.put(1, seconds: 30, text: "\(mark) three")
        let calls = Mutex(0)
        let pulled = await thrown {
            let report = try await setup.export { operation, path throws(DeviceError) in
                try check(operation, path)
                let count = calls.withLock { count in
                    count += 1
                    return count
                }
                if count > 6 { throw .system(operation, status: EIO, on: path) }
            }.copy(to: mountPoint)
            if let error = report.error { throw error }
        }
        #expect(pulled?.status == EIO)
        #expect(shell("sync -f '\(mountPoint)'; grep -qai \(mark) '\(image)'").status == 1)
        #expect(checks.withLock { $0 } > 20)
    }

    // Some of these formats contain the sound's digest; others do not.
    @Test(
        "unchanged copies are recognized without opening them, and nothing is written",
        arguments: [Setup.formats, [.json], [.vtt], [.html]])
    func unchangedCopies(formats: [TranscriptFormat]) async throws {
        var setup = try await setup(2)
        setup.formats = formats
        try await setup.copy()
        _ = try await setup.copy()
        let writes = Mutex<[String]>([])
        let report = try await setup.export { operation, _ in writes.withLock { $0.append(operation) } }.copy(
            to: setup.stick)
        #expect(report.copied.isEmpty && report.keptCopies.map(\.recording) == [1, 2] && report.error == nil)
        #expect(writes.withLock { $0 } == [])
        #expect(setup.result().contains("Already here: 2 recordings, 1 and 2."))
    }

    @Test(
        "only a copy with a changed text is replaced, even if the page is the only format",
        arguments: [[TranscriptFormat.text, .html], [.html]])
    func changedText(formats: [TranscriptFormat]) async throws {
        var setup = try await setup(2)
        setup.formats = formats
        try await setup.copy()
        let unchanged = shell("sha256sum < '\(setup.sealedFolder)/\(Setup.sealedName(2))'").output
        await setup.put(1, text: "one two three")
        let report = try await setup.copy()
        #expect(report.copied.map(\.recording) == [1] && report.keptCopies.map(\.recording) == [2])
        #expect(setup.sealedFiles == [1, 2].map(Setup.sealedName))
        #expect(shell("sha256sum < '\(setup.sealedFolder)/\(Setup.sealedName(2))'").output == unchanged)
        let opened = setup.folder.file("opened")
        #expect(keys.open("\(setup.sealedFolder)/\(Setup.sealedName(1))", into: opened) == "")
        #expect(shell("grep -q three '\(opened)/\(Setup.name(1))/\(formats[0].fileName)'").status == 0)
        #expect(shell("cd '\(setup.sealedFolder)' && sha256sum --quiet --strict -c SHA256SUMS").status == 0)
        #expect(try await setup.copy().copied.isEmpty)
    }

    @Test("corrections are encrypted, too")
    func corrections() async throws {
        let setup = try await setup(2)
        try await setup.copy()
        var annotations = Annotations()
        annotations.title = "At the ford"
        await setup.annotate(1, annotations, pass: 2)
        #expect(try await setup.copy().copied.map(\.recording) == [1])
        let opened = setup.folder.file("opened")
        #expect(keys.open("\(setup.sealedFolder)/\(Setup.sealedName(1))", into: opened) == "")
        let page = "\(opened)/\(Setup.name(1))/index.html"
        #expect(shell("grep -c '<h1 dir=\"auto\">At the ford</h1>' '\(page)'").output == "1\n")
        #expect(try await setup.copy().copied.isEmpty)
    }

    @Test("changed keys cause new copies; a changed order of keys does not")
    func otherKeys() async throws {
        let otherKeys = try KeyPair()
        var setup = try await setup(1)
        try await setup.copy()
        let path = "\(setup.sealedFolder)/\(Setup.sealedName(1))"
        #expect(keys.opens(path) && !otherKeys.opens(path))
        setup.recipients = .success([otherKeys.recipient, keys.recipient])
        #expect(try await setup.copy().copied.count == 1)
        #expect(keys.opens(path) && otherKeys.opens(path))
        setup.recipients = .success([keys.recipient, otherKeys.recipient])
        #expect(try await setup.copy().keptCopies.count == 1)
        setup.recipients = .success([otherKeys.recipient])
        #expect(try await setup.copy().copied.count == 1)
        #expect(!keys.opens(path) && otherKeys.opens(path) && setup.sealedFiles == [Setup.sealedName(1)])
    }

    @Test("SSH keys also open a copy")
    func sshKey() async throws {
        let folder = TemporaryFolder()
        let path = folder.file("id")
        try #require(shell("ssh-keygen -q -t ed25519 -N '' -C 'awa, at home' -f '\(path)'").status == 0)
        let recipient = try #require(Recipient(shell("cat '\(path).pub'").output))
        #expect(!recipient.text.contains("awa"))
        let setup = try await setup(1, for: [recipient])
        #expect(try await setup.copy().error == nil)
        #expect(shell("age -d -i '\(path)' '\(setup.sealedFolder)/\(Setup.sealedName(1))' | tar t").status == 0)
    }

    @Test("a changed or truncated file stays, and a new copy is written beside it")
    func changedFiles() async throws {
        for command in [
            "printf x >> FILE", "truncate -s 100 FILE", "printf '\\0\\0' | dd of=FILE bs=1 seek=40 conv=notrunc",
        ] {
            let setup = try await setup(1)
            try await setup.copy()
            let path = "\(setup.sealedFolder)/\(Setup.sealedName(1))"
            shell(command.replacing("FILE", with: "'\(path)'"))
            let before = shell("sha256sum < '\(path)'").output
            let report = try await setup.copy()
            #expect(report.copied.map(\.folder) == ["sealed/000001_2.fieldscribe.age"], "\(command)")
            #expect(shell("sha256sum < '\(path)'").output == before)
            #expect(keys.opens("\(setup.sealedFolder)/000001_2.fieldscribe.age"))
            #expect(try await setup.copy().keptCopies.count == 1)
        }
    }

    @Test("earlier readable copies are reported and stay")
    func unencryptedRecordings() async throws {
        var setup = try await Setup(recordings: 2)
        try await setup.copy([1])
        let before = shell("cd '\(setup.stick)' && find . -type f ! -name RESULT.txt | sort | xargs sha256sum").output
        setup.recipients = .success([keys.recipient])
        let report = try await setup.copy()
        #expect(report.unencryptedRecordings == [1] && report.copied.map(\.recording) == [1, 2])
        #expect(setup.result().contains("NOT SEALED: recording 1, copied to this stick before"))
        let after = shell(
            "cd '\(setup.stick)' && find . -type f ! -name RESULT.txt ! -path '*/sealed/*' ! -name README.txt | sort | xargs sha256sum"
        ).output
        #expect(after == before)
    }

    @Test("if a recipient is invalid, nothing is copied, and RESULT.txt says why")
    func invalidRecipients() async throws {
        var setup = try await setup(1)
        setup.recipients = .failure(DeviceError(.missing, "age", "no key"))
        let error = await thrown { try await setup.copy() }
        #expect(error?.message == "no key" && setup.result().contains("NOTHING WAS COPIED: no key"))
        #expect(names(setup.sealedFolder).isEmpty && names("\(setup.stick)/Fieldscribe").contains("RESULT.txt"))
        setup.recipients = .success([keys.recipient, try #require(Recipient("age1qqqqqqqqqqqqqqqqqqqqqqqq"))])
        let refused = await thrown { try await setup.copy() }
        #expect(refused?.message.contains("recipient 2 of 2") == true && names(setup.sealedFolder).isEmpty)
    }
}

/// Whether this process may mount the image of a stick.
private let canMountImages: Bool = {
    let folder = TemporaryFolder()
    let image = folder.file("image")
    guard
        shell("truncate -s 2M '\(image)' && mkfs.ext4 -q '\(image)' && mount -o loop '\(image)' '\(folder.path)'")
            .status
            == 0
    else { return false }
    return shell("umount '\(folder.path)'").status == 0
}()
