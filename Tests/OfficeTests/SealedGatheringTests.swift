import Glibc
import Testing
import TestKit

@testable import Copying
@testable import Core
@testable import Office
@testable import System

@Suite("Gathering signed and sealed copies") struct SealedGatheringTests {
    init() { signal(SIGPIPE, SIG_IGN) }

    private func makeKey(_ desk: OfficeDesk, _ name: String) throws -> (file: String, recipient: Recipient) {
        let file = desk.stick(name)
        shell("age-keygen -o '\(file)'")
        let line = shell("age-keygen -y '\(file)'").output.split(separator: "\n").last.map(String.init) ?? ""
        return (file, try #require(Recipient(line)))
    }

    @Test("sealed copies are added once with their key, and skipped without it", arguments: ArchiveKind.all)
    func sealed(kind: ArchiveKind) async throws {
        let desk = try OfficeDesk(kind)
        let (key, recipient) = try makeKey(desk, "key.txt")
        var recorder = FieldRecorder("pi", identity: FieldRecorder.identity("a"))
        recorder.recipients = [recipient]
        await recorder.record(1, "we planted fonio")
        await recorder.record(2, "and waited")
        try await recorder.copy(to: desk.stick("one"))
        #expect(try desk.gather(desk.stick("one")).sealed == 2)
        #expect(try desk.run("gather '\(desk.stick("one"))'").status == 3)
        let report = try desk.gather(desk.stick("one"), key: key)
        #expect(report.taken == 2 && report.sealed == 0 && report.problems == [])
        #expect(try desk.found("fonio").count == 1 && desk.copies().count == 2)
        // The folder of sealed copies does not contain the recorder's name, so it comes from the audio file's tags.
        #expect(desk.archiveNames == ["pi-aaaaaaaa"])
        #expect(try desk.run("list --recorder pi").output.split(separator: "\n").count == 2)
        let again = try desk.gather(desk.stick("one"), key: key)
        #expect(again.taken == 0 && again.known == 2)
        // Unencrypted copies belong to the same recorder.
        recorder.recipients = nil
        await recorder.record(3, "not encrypted")
        try await recorder.copy(to: desk.stick("two"))
        try desk.gather(desk.stick("two"))
        #expect(Set(try desk.archive().recordings(OfficeFilter()).map(\.recorder.id)).count == 1)
        #expect(try desk.archive().recordings(OfficeFilter()).count == 3)
    }

    @Test(
        "gathering a sealed copy that the archive already has unencrypted changes nothing, and keeps its corrections",
        arguments: ArchiveKind.all)
    func alreadyUnsealed(kind: ArchiveKind) async throws {
        let desk = try OfficeDesk(kind)
        let (key, recipient) = try makeKey(desk, "key.txt")
        var recorder = FieldRecorder("pi", identity: FieldRecorder.identity("a"))
        recorder.recipients = [recipient]
        for id in 1...2 { await recorder.record(id, "we planted fonio") }
        try await recorder.copy(to: desk.stick("one"))
        let first = try OfficeDesk()
        try first.gather(desk.stick("one"), key: key)
        // The copies in the first archive are not encrypted.
        #expect(try desk.gather(first.archivePath).taken == 2)
        let copies = desk.copies()
        for copy in copies { shell("echo mine > '\(desk.archivePath)/\(copy)/corrections-test.json'") }
        for _ in 1...2 {
            let report = try desk.gather(desk.stick("one"), key: key)
            #expect(report.taken == 0 && report.known == 2 && report.problems == [], "\(report)")
            #expect(desk.copies() == copies)
            for copy in copies {
                #expect(shell("cat '\(desk.archivePath)/\(copy)/corrections-test.json'").output == "mine\n")
            }
        }
        // The archive remembers the sealed file, so gathering does not decrypt it again.
        let digest = shell("sha256sum '\(desk.stick("one"))'/Fieldscribe/sealed-*/000001.fieldscribe.age").output
        #expect(try desk.archive().copyDigest(ofSealed: String(digest.prefix(64))) != nil)
        #expect(try desk.archive().recordings(OfficeFilter()).count == 2 && desk.archiveNames == ["pi-aaaaaaaa"])
    }

    @Test(
        "a wrong key and damaged or truncated files are reported in one line each; everything else is added",
        arguments: ArchiveKind.all)
    func damagedSealedCopies(kind: ArchiveKind) async throws {
        let desk = try OfficeDesk(kind)
        let (key, recipient) = try makeKey(desk, "key.txt")
        let (otherKey, _) = try makeKey(desk, "other.txt")
        var recorder = FieldRecorder("pi", identity: FieldRecorder.identity("a"))
        recorder.recipients = [recipient]
        for id in 1...3 { await recorder.record(id, "one") }
        try await recorder.copy(to: desk.stick("one"))
        let rejected = try desk.gather(desk.stick("one"), key: otherKey)
        #expect(rejected.taken == 0 && rejected.problems.count == 3)
        #expect(rejected.problems.allSatisfy { !$0.contains("\n") })
        let sealed = "\(desk.stick("one"))/Fieldscribe/sealed-aaaaaaaaaaaa"
        shell("truncate -s -100 '\(sealed)/000001.fieldscribe.age'")
        shell("printf xxxxxxxxxxxxxxxx | dd of='\(sealed)/000002.fieldscribe.age' bs=1 seek=3000 conv=notrunc")
        let report = try desk.gather(desk.stick("one"), key: key)
        #expect(report.taken == 1 && report.problems.count == 2, "\(report)")
        #expect(report.problems.allSatisfy { $0.hasPrefix("\(sealed)/00000") })
        #expect(desk.copies().count == 1 && desk.archiveNames.count == 1)
        #expect(thrown { _ = try desk.gather(desk.stick("one"), key: desk.stick("none")) } == nil)
    }

    @Test(
        "an invalid signature is refused; keys distinguish recorders with the same machine ID",
        arguments: ArchiveKind.all)
    func signed(kind: ArchiveKind) async throws {
        let desk = try OfficeDesk(kind)
        guard shell("command -v minisign").status == 0 else { return print("skipped: minisign is not installed") }
        // Two clones of a card have the same machine ID.
        for name in ["one", "two"] {
            var recorder = FieldRecorder("pi", identity: FieldRecorder.identity("a"))
            try makeFolder(desk.stick("\(name)-storage"))
            recorder.signer = try RecorderKey(in: desk.stick("\(name)-storage"))
            await recorder.record(1, "this is \(name)")
            await recorder.record(2, "forged")
            try await recorder.copy(to: desk.stick(name))
            let forged = recorder.copies(on: desk.stick(name))[1]
            shell(
                "cd '\(forged)' && sed -i s/forged/changed/ transcript.txt && sha256sum $(cut -c67- SHA256SUMS) > x && mv x SHA256SUMS"
            )
        }
        let report = try desk.gather(desk.stick("one"), desk.stick("two"))
        #expect(report.taken == 2 && report.problems.count == 2)
        #expect(report.problems.allSatisfy { $0.contains("SHA256SUMS.minisig: is not a valid signature") })
        let recorders = try desk.archive().recordings(OfficeFilter()).map(\.recorder)
        #expect(Set(recorders.map(\.id)).count == 2 && recorders.allSatisfy { $0.key != nil })
        // A signed copy without the key.
        let keyless = desk.stick("keyless")
        shell(
            "cp -r '\(desk.stick("one"))' '\(keyless)' && cd '\(keyless)/Fieldscribe/pi/'000001* && rm recorder.pub && sed -i /recorder.pub/d SHA256SUMS"
        )
        let notes = try desk.gather(keyless).notes
        #expect(notes.count == 1 && notes[0].contains("000001") && notes[0].contains("has no recorder.pub"), "\(notes)")
        #expect(notes.allSatisfy { $0.contains("verify --copy FOLDER --key KEY") }, "\(notes)")
    }
}
