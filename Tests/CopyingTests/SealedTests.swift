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

    private func desk(
        _ recordings: Int = 1, seconds: Double = 0.5, for recipients: [Recipient]? = nil, stick: String? = nil
    ) async throws -> Desk {
        var desk = try await Desk(recordings: recordings, seconds: seconds, stick: stick)
        desk.recipients = .success(recipients ?? [keys.recipient])
        return desk
    }

    @Test("a copy opened with age and tar equals the readable copy byte for byte", arguments: AudioFormat.allCases)
    func roundTrip(form: AudioFormat) async throws {
        var sealed = try await desk(2, seconds: 30)
        sealed.audio = form
        let report = try await sealed.copy()
        #expect(report.error == nil && report.copied.map(\.folder) == [1, 2].map { "sealed/\(Desk.sealedName($0))" })
        var plain = sealed
        plain.recipients = nil
        let other = sealed.folder.file("plain")
        try makeFolder(other)
        #expect(try await plain.export().copy(to: other).error == nil)
        let opened = sealed.folder.file("opened")
        for id in 1...2 {
            #expect(keys.open("\(sealed.sealedFolder)/\(Desk.sealedName(id))", into: opened) == "")
        }
        #expect(names(opened) == [1, 2].map(Desk.name))
        let difference = shell("diff -r '\(opened)' '\(other)/Fieldscribe/recorder'")
        #expect(difference.status == 0, "\(difference.output)")
        #expect(shell("cd '\(opened)/\(Desk.name(1))' && sha256sum --quiet --strict -c SHA256SUMS").status == 0)
        #expect(shell("cd '\(sealed.sealedFolder)' && sha256sum --quiet --strict -c SHA256SUMS").status == 0)
    }

    @Test("the ledger lists exactly the passes whose complete transcript was copied")
    func listedPasses() async throws {
        try await desk().expectCompletePasses()
    }

    @Test("the stick reveals no words, names or times from a recording")
    func nothingElse() async throws {
        let desk = try await desk(2)
        try await desk.copy()
        #expect(names(desk.stick) == ["Fieldscribe"])
        #expect(names("\(desk.stick)/Fieldscribe") == ["README.txt", "RESULT.txt", "sealed"])
        #expect(names(desk.sealedFolder) == [Desk.sealedName(1), Desk.sealedName(2), "SHA256SUMS"])
        // The words, the recorder's name, and the year.
        let matches = shell("cd '\(desk.stick)' && grep -rail -e 'one two' -e 'recorder/' -e 2026 -e '0:00' .")
        #expect(matches.output == "", "\(matches.output)")
        #expect(desk.result().contains("and verified: 2 recordings, 1 and 2."))
    }

    @Test("nothing readable ever reaches the stick", .enabled(if: canMountImages))
    func marker() async throws {
        let mark = "ZebraFishMark"
        let folder = TemporaryFolder()
        let (image, point) = (folder.file("image"), folder.file("point"))
        try makeFolder(point)
        #expect(
            shell(
                "truncate -s 24M '\(image)' && mkfs.ext4 -q '\(image)' >/dev/null && mount -o loop '\(image)' '\(point)'"
            ).status == 0)
        defer { shell("umount '\(point)'") }
        var desk = try await desk(0, stick: point)
        desk.audio = .wav
        // The audio's samples repeat the mark.
        #expect(
            shell(
                "yes \(mark) | tr -d '\\n' | head -c 960000 | sox -t raw -r 16000 -b 16 -e signed -c 1 - '\(desk.audioPath(1))'"
            ).status == 0)
        await desk.put(1, seconds: 30, text: "\(mark) two")
        #expect(shell("grep -qa \(mark) '\(desk.audioPath(1))'").status == 0)
        let checks = Mutex(0)
        let check: Folder.Gate = { _, _ throws(DeviceError) in
            checks.withLock { $0 += 1 }
            #expect(
                shell("sync -f '\(point)'; grep -qai \(mark) '\(image)' || grep -rqai \(mark) '\(point)'").status == 1)
        }
        // One complete copy, then one that is interrupted.
        #expect(try await desk.export(gate: check).copy(to: point).error == nil)
        await desk.put(1, seconds: 30, text: "\(mark) three")
        let calls = Mutex(0)
        let pulled = await thrown {
            let report = try await desk.export { operation, path throws(DeviceError) in
                try check(operation, path)
                let count = calls.withLock { count in
                    count += 1
                    return count
                }
                if count > 6 { throw .system(operation, status: EIO, on: path) }
            }.copy(to: point)
            if let error = report.error { throw error }
        }
        #expect(pulled?.status == EIO)
        #expect(shell("sync -f '\(point)'; grep -qai \(mark) '\(image)'").status == 1 && checks.withLock { $0 } > 20)
    }

    // Some of these formats identify their sound; others do not.
    @Test(
        "unchanged copies are recognized without opening them, and nothing is written",
        arguments: [Desk.formats, [.json], [.vtt], [.html]])
    func unchanged(formats: [TranscriptFormat]) async throws {
        var desk = try await desk(2)
        desk.formats = formats
        try await desk.copy()
        _ = try await desk.copy()
        let writes = Mutex<[String]>([])
        let report = try await desk.export { operation, _ in writes.withLock { $0.append(operation) } }.copy(
            to: desk.stick)
        #expect(report.copied.isEmpty && report.kept.map(\.recording) == [1, 2] && report.error == nil)
        #expect(writes.withLock { $0 } == [])
        #expect(desk.result().contains("Already here: 2 recordings, 1 and 2."))
    }

    @Test("only a copy with a changed text is replaced")
    func changed() async throws {
        let desk = try await desk(2)
        try await desk.copy()
        let other = shell("sha256sum < '\(desk.sealedFolder)/\(Desk.sealedName(2))'").output
        await desk.put(1, text: "one two three")
        let report = try await desk.copy()
        #expect(report.copied.map(\.recording) == [1] && report.kept.map(\.recording) == [2])
        #expect(desk.sealedFiles == [1, 2].map(Desk.sealedName))
        #expect(shell("sha256sum < '\(desk.sealedFolder)/\(Desk.sealedName(2))'").output == other)
        let opened = desk.folder.file("opened")
        #expect(keys.open("\(desk.sealedFolder)/\(Desk.sealedName(1))", into: opened) == "")
        #expect(shell("cat '\(opened)/\(Desk.name(1))/transcript.txt'").output == "one two three\n")
        #expect(shell("cd '\(desk.sealedFolder)' && sha256sum --quiet --strict -c SHA256SUMS").status == 0)
        #expect(try await desk.copy().copied.isEmpty)
    }

    @Test("corrections are encrypted, too")
    func annotated() async throws {
        let desk = try await desk(2)
        try await desk.copy()
        var annotations = Annotations()
        annotations.title = "At the ford"
        await desk.annotate(1, annotations, pass: 2)
        #expect(try await desk.copy().copied.map(\.recording) == [1])
        let opened = desk.folder.file("opened")
        #expect(keys.open("\(desk.sealedFolder)/\(Desk.sealedName(1))", into: opened) == "")
        let page = "\(opened)/\(Desk.name(1))/index.html"
        #expect(shell("grep -c '<h1 dir=\"auto\">At the ford</h1>' '\(page)'").output == "1\n")
        #expect(try await desk.copy().copied.isEmpty)
    }

    @Test("other keys cause new copies; their order does not")
    func otherKeys() async throws {
        let other = try KeyPair()
        var desk = try await desk(1)
        try await desk.copy()
        let path = "\(desk.sealedFolder)/\(Desk.sealedName(1))"
        #expect(keys.opens(path) && !other.opens(path))
        desk.recipients = .success([other.recipient, keys.recipient])
        #expect(try await desk.copy().copied.count == 1)
        #expect(keys.opens(path) && other.opens(path))
        desk.recipients = .success([keys.recipient, other.recipient])
        #expect(try await desk.copy().kept.count == 1)
        desk.recipients = .success([other.recipient])
        #expect(try await desk.copy().copied.count == 1)
        #expect(!keys.opens(path) && other.opens(path) && desk.sealedFiles == [Desk.sealedName(1)])
    }

    @Test("SSH keys also open a copy")
    func ssh() async throws {
        let folder = TemporaryFolder()
        let path = folder.file("id")
        try #require(shell("ssh-keygen -q -t ed25519 -N '' -C 'awa, at home' -f '\(path)'").status == 0)
        let recipient = try #require(Recipient(shell("cat '\(path).pub'").output))
        #expect(!recipient.text.contains("awa"))
        let desk = try await desk(1, for: [recipient])
        #expect(try await desk.copy().error == nil)
        #expect(shell("age -d -i '\(path)' '\(desk.sealedFolder)/\(Desk.sealedName(1))' | tar t").status == 0)
    }

    @Test("a changed or truncated file stays, and a new copy is written beside it")
    func foreign() async throws {
        for command in [
            "printf x >> FILE", "truncate -s 100 FILE", "printf '\\0\\0' | dd of=FILE bs=1 seek=40 conv=notrunc",
        ] {
            let desk = try await desk(1)
            try await desk.copy()
            let path = "\(desk.sealedFolder)/\(Desk.sealedName(1))"
            shell(command.replacing("FILE", with: "'\(path)'"))
            let before = shell("sha256sum < '\(path)'").output
            let report = try await desk.copy()
            #expect(report.copied.map(\.folder) == ["sealed/000001_2.fieldscribe.age"], "\(command)")
            #expect(shell("sha256sum < '\(path)'").output == before)
            #expect(keys.opens("\(desk.sealedFolder)/000001_2.fieldscribe.age"))
            #expect(try await desk.copy().kept.count == 1)
        }
    }

    @Test("earlier readable copies are reported and stay")
    func unencryptedRecordings() async throws {
        var desk = try await Desk(recordings: 2)
        try await desk.copy([1])
        let before = shell("cd '\(desk.stick)' && find . -type f ! -name RESULT.txt | sort | xargs sha256sum").output
        desk.recipients = .success([keys.recipient])
        let report = try await desk.copy()
        #expect(report.unencryptedRecordings == [1] && report.copied.map(\.recording) == [1, 2])
        #expect(desk.result().contains("NOT SEALED: recording 1, copied to this stick before"))
        let after = shell(
            "cd '\(desk.stick)' && find . -type f ! -name RESULT.txt ! -path '*/sealed/*' ! -name README.txt | sort | xargs sha256sum"
        ).output
        #expect(after == before)
    }

    @Test("if a recipient is invalid, nothing is copied, and RESULT.txt says why")
    func invalidRecipients() async throws {
        var desk = try await desk(1)
        desk.recipients = .failure(DeviceError(.missing, "age", "no key"))
        let error = await thrown { try await desk.copy() }
        #expect(error?.message == "no key" && desk.result().contains("NOTHING WAS COPIED: no key"))
        #expect(names(desk.sealedFolder).isEmpty && names("\(desk.stick)/Fieldscribe").contains("RESULT.txt"))
        desk.recipients = .success([keys.recipient, try #require(Recipient("age1qqqqqqqqqqqqqqqqqqqqqqqq"))])
        let refused = await thrown { try await desk.copy() }
        #expect(refused?.message.contains("recipient 2 of 2") == true && names(desk.sealedFolder).isEmpty)
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
