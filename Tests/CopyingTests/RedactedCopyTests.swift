import Glibc
import Synchronization
import Testing
import TestKit

@testable import Audio
@testable import Copying
@testable import Core
@testable import System

@Suite("Copies made before a redaction") struct RedactedCopyTests {
    /// The redacted range: 0.1 to 0.3 s.
    private static let range = SampleRange(SamplePosition(1_600), SamplePosition(4_800))

    /// Redacts the range as the recorder does: silences the sound, removes the words, and adds a gap.
    private func redact(_ setup: Setup) async throws {
        let edited = shell(
            "cd '\(setup.folder.path)' && sox 1.wav b.wav trim 0 1600s pad 0 3200s && sox 1.wav c.wav trim 4800s "
                + "&& sox b.wav c.wav 2.wav && mv 2.wav 1.wav")
        #expect(edited.status == 0, "\(edited.output)")
        guard case (let summary, var timeline)? = await setup.archive.transcript(of: 1) else { return }
        timeline.segments = timeline.segments.map { $0.redacted([Self.range]) }
        timeline.gaps = [Gap(Self.range, cause: .redacted)]
        await setup.archive.put(summary, timeline)
        await enter(.redacted, in: setup)
    }

    private func enter(_ act: HistoryEntry.Act, _ copy: ExportEntry? = nil, in setup: Setup) async {
        let number = await setup.archive.history(of: nil).count + 1
        var entry = HistoryEntry(
            number: number, recording: 1, act: act, time: "2026-11-25T15:00:00Z", clock: .unverified, boot: "b",
            sinceBoot: 9, before: HistoryEntry.initialDigest, own: nil)
        (entry.folder, entry.digest) = (copy?.folder, copy?.digest)
        await setup.archive.addToHistory(HistoryLine(text: #"{"number":\#(number)}"#, entry: entry))
    }

    /// Copies the recordings, and adds each copy to the history.
    @discardableResult private func copy(_ setup: Setup, _ export: FolderExport? = nil) async throws -> CopyReport {
        let previousCount = await setup.ledger.entries.count
        let report = try await (export ?? setup.export()).copy(to: setup.stick)
        for entry in await setup.ledger.entries.dropFirst(previousCount) { await enter(.copied, entry, in: setup) }
        return report
    }

    /// Returns the files on the stick that still have redacted words, and the readable audio files; empty if there are
    /// none.
    private func readableFiles(_ setup: Setup) -> String {
        shell("grep -rl 'one two' '\(setup.stick)/Fieldscribe'; cd '\(setup.stick)' && find . -name audio.flac").output
    }

    private func isSilenced(_ audio: String) -> Bool {
        shell("sox '\(audio)' -t raw - trim 1600s 3200s | tr -d '\\0' | wc -c").output.contains("0\n")
            && shell("sox '\(audio)' -t raw - trim 1600s 3200s | wc -c").output == "6400\n"
    }

    @Test(
        "the next copy replaces an outdated one, even if copies have no text", arguments: [true, false])
    func replacesOutdatedCopy(hasTexts: Bool) async throws {
        var setup = try await Setup()
        if !hasTexts { setup.formats = [] }
        try await setup.copy()
        try await redact(setup)
        let report = try await setup.copy()
        #expect(report.copied.count == 1 && report.failures.isEmpty)
        #expect(setup.copies.count == 1, "\(setup.copies)")
        #expect(setup.hasIntactCopies())
        #expect(isSilenced("\(setup.exportFolder)/\(setup.copies.first ?? "")/audio.flac"))
        #expect(try await setup.copy().copied.isEmpty, "the new copy is recognized")
        #expect(setup.copies.count == 1)
    }

    @Test("added and edited files of an outdated copy stay, and the sound is removed")
    func keepsChangedFiles() async throws {
        let setup = try await Setup()
        try await setup.copy()
        let old = "\(setup.exportFolder)/\(Setup.name(1))"
        shell("echo mine > '\(old)/corrections.json'; echo changed >> '\(old)/transcript.txt'")
        try await redact(setup)
        let report = try await setup.copy()
        #expect(names(old) == ["corrections.json", "transcript.txt"])
        #expect(setup.copies.count == 2)
        #expect(report.keptAfterRedaction == [1])
        #expect(setup.result().contains("REDACTED SINCE: recording 1."))
    }

    @Test(
        "a copy that the ledger does not list as it is now stays, and is reported until it is removed",
        arguments: [true, false])
    func unlistedCopy(isSealed: Bool) async throws {
        var setup = try await Setup()
        if isSealed { setup.recipients = .success([try KeyPair().recipient]) }
        try await copy(setup)
        let old = isSealed ? "\(setup.sealedFolder)/\(Setup.sealedName(1))" : "\(setup.exportFolder)/\(Setup.name(1))"
        // As if power had failed after the manifest was replaced, but before the ledger listed it.
        shell("echo >> '\(old)\(isSealed ? "" : "/SHA256SUMS")'")
        try await redact(setup)
        for _ in 1...2 {
            #expect(try await copy(setup).keptAfterRedaction == [1])
            #expect(setup.result().contains("REDACTED SINCE: recording 1."))
            #expect(isSealed || names(old).contains("transcript.txt"))
        }
        shell("rm -r '\(old)'")
        #expect(try await copy(setup).keptAfterRedaction == [])
        #expect(!setup.result().contains("REDACTED SINCE"))
    }

    @Test("an outdated copy whose texts were replaced is removed and not reported")
    func replacedTexts() async throws {
        let setup = try await Setup()
        try await copy(setup)
        await setup.put(1, text: "one two three")
        try await copy(setup)
        try await redact(setup)
        #expect(try await copy(setup).keptAfterRedaction == [])
        #expect(setup.copies.count == 1 && setup.hasIntactCopies())
    }

    @Test("a copy made after the redaction stays if a person changed its sound, and a new one is made beside it")
    func changedSound() async throws {
        let setup = try await Setup()
        try await redact(setup)
        try await copy(setup)
        let old = "\(setup.exportFolder)/\(Setup.name(1))"
        shell("cp '\(old)/transcript.txt' '\(setup.stick)/' && echo mine > '\(old)/audio.flac'")
        try await copy(setup)
        #expect(setup.copies.count == 2)
        #expect(shell("cmp '\(setup.stick)/transcript.txt' '\(old)/transcript.txt'").status == 0)
    }

    @Test("the next run completes a copy that was interrupted before the ledger listed it")
    func interruptedCopy() async throws {
        let setup = try await Setup()
        try await setup.copy()
        try await redact(setup)
        let export = setup.export { operation, path throws(DeviceError) in
            if operation == "unlink", path.hasSuffix("SHA256SUMS") {
                throw DeviceError(.failed, "unlink", status: EIO, "\(path): gone")
            }
        }
        #expect(try await export.copy(to: setup.stick).failures.map(\.recording) == [1])
        #expect(setup.copies.count == 2)
        #expect(try await setup.copy().failures.isEmpty)
        #expect(setup.copies.count == 1 && setup.hasIntactCopies())
    }

    @Test("if a copy fails, the previous one stays unchanged")
    func fullStick() async throws {
        let setup = try await Setup()
        try await setup.copy()
        let before = names("\(setup.exportFolder)/\(Setup.name(1))")
        try await redact(setup)
        let export = setup.export { operation, _ throws(DeviceError) in
            if operation == "write" { throw DeviceError(.full, "write", status: ENOSPC, "the stick is full") }
        }
        let report = try await export.copy(to: setup.stick)
        #expect(report.failures.map(\.recording) == [1])
        #expect(names("\(setup.exportFolder)/\(Setup.name(1))") == before)
    }

    @Test("an encrypted copy is replaced", arguments: [true, false])
    func encryptedCopy(hasTexts: Bool) async throws {
        var setup = try await Setup()
        if !hasTexts { setup.formats = [] }
        let keys = try KeyPair()
        setup.recipients = .success([keys.recipient])
        try await setup.copy()
        try await redact(setup)
        #expect(try await setup.copy().copied.count == 1)
        #expect(names(setup.sealedFolder).filter { $0.hasSuffix(".age") }.count == 1)
        let opened = setup.folder.file("opened")
        #expect(keys.open("\(setup.sealedFolder)/\(Setup.sealedName(1))", into: opened) == "")
        #expect(isSilenced("\(opened)/\(Setup.name(1))/audio.flac"))
    }

    enum Form: CaseIterable, Sendable { case readable, sealed, onRecorder, onRecorderAmongSealed }

    private func setForm(_ form: Form, of setup: inout Setup, _ keys: KeyPair) async throws {
        let seals = form == .sealed || form == .onRecorderAmongSealed
        setup.recipients = seals ? .success([keys.recipient]) : nil
        if form == .onRecorder || form == .onRecorderAmongSealed {
            _ = try await setup.sealOnRecorder(for: keys.recipient)
        }
    }

    @Test(
        "a copy in another form replaces one made before the redaction",
        arguments: [Form.readable, .sealed], Form.allCases)
    func otherForm(before: Form, after: Form) async throws {
        if before == after { return }
        var setup = try await Setup()
        let keys = try KeyPair()
        try await setForm(before, of: &setup, keys)
        try await copy(setup)
        try await redact(setup)
        try await setForm(after, of: &setup, keys)
        let report = try await copy(setup)
        #expect(report.error == nil && report.copied.map(\.recording) == [1], "\(report)")
        var audio = "\(setup.exportFolder)/\(setup.copies.first ?? "")/audio.flac"
        if after == .readable {
            #expect(setup.copies.count == 1 && names(setup.sealedFolder) == [])
            #expect(shell("grep -rl 'one two' '\(setup.stick)'").output == "")
        } else {
            #expect(readableFiles(setup) == "" && names(setup.exportFolder).allSatisfy { $0 == "RECORDER.txt" })
            #expect(setup.sealedFiles == [Setup.sealedName(1)])
            #expect(shell("cd '\(setup.sealedFolder)' && sha256sum --quiet --strict -c SHA256SUMS").status == 0)
            let opened = setup.folder.file("opened")
            #expect(keys.open("\(setup.sealedFolder)/\(Setup.sealedName(1))", into: opened) == "")
            audio = "\(opened)/\(Setup.name(1))/audio.flac"
        }
        #expect(isSilenced(audio))
        let again = try await copy(setup)
        #expect(again.error == nil && again.copied.isEmpty && again.keptCopies.count == 1, "\(again)")
    }

    @Test("if copies become encrypted, other recorders' copies and added files stay, and added files are reported")
    func keepsChangedFilesInOtherForm() async throws {
        var setup = try await Setup()
        try await copy(setup)
        let (old, otherRecorder) = ("\(setup.exportFolder)/\(Setup.name(1))", "\(setup.stick)/Fieldscribe/other")
        shell("mkdir '\(otherRecorder)' && cp -r '\(old)' '\(otherRecorder)' && echo mine > '\(old)/corrections.json'")
        shell("mv '\(old)' '\(setup.exportFolder)/Anna'")
        try await redact(setup)
        setup.recipients = .success([try KeyPair().recipient])
        #expect(try await copy(setup).keptAfterRedaction == [1])
        #expect(setup.result().contains("REDACTED SINCE: recording 1."))
        #expect(names("\(setup.exportFolder)/Anna") == ["corrections.json"])
        #expect(shell("cd '\(otherRecorder)/\(Setup.name(1))' && sha256sum --quiet -c SHA256SUMS").status == 0)
        setup.recipients = nil
        try await copy(setup)
        #expect(setup.sealedFiles == [Setup.sealedName(1)] && setup.copies.count == 2)
    }

    @Test(
        "the next copy completes an interrupted removal",
        arguments: ["audio.flac", "index.html", "SHA256SUMS"])
    func interruptedRemoval(name: String) async throws {
        var setup = try await Setup()
        try await copy(setup)
        try await redact(setup)
        setup.recipients = .success([try KeyPair().recipient])
        let export = setup.export { operation, path throws(DeviceError) in
            if operation == "unlink", path.hasSuffix("/\(name)") {
                throw DeviceError(.failed, "unlink", status: EIO, "\(path): gone")
            }
        }
        #expect(try await copy(setup, export).failures.map(\.recording) == [1])
        #expect(try await copy(setup).error == nil)
        #expect(readableFiles(setup) == "" && setup.copies == [])
    }

    @Test(
        "a recording that is redacted during a copy is copied again, and only the new copy counts",
        arguments: [true, false])
    func redactionDuringCopy(isSealed: Bool) async throws {
        var setup = try await Setup()
        let keys = try KeyPair()
        if isSealed { setup.recipients = .success([keys.recipient]) }
        var export = setup.export()
        let redaction = Mutex<Task<Void, any Error>?>(nil)
        let (redacted, setupCopy) = (Wakeup(), setup)
        export.progress = { _ in
            let isFirst = redaction.withLock { task in
                guard task == nil else { return false }
                // The copy has already read the transcript and opened the sound.
                task = Task {
                    defer { redacted.signal() }
                    try await redact(setupCopy)
                }
                return true
            }
            if isFirst { redacted.wait() }
        }
        let report = try await copy(setup, export)
        try await redaction.withLock { $0 }?.value
        #expect(report.error == nil && report.copied.count == 1, "\(report)")
        #expect(await setup.ledger.entries.map(\.pass) == [nil, 3])
        var audio = "\(setup.exportFolder)/\(setup.copies.first ?? "")/audio.flac"
        if isSealed {
            #expect(setup.sealedFiles == [Setup.sealedName(1)])
            let opened = setup.folder.file("opened")
            #expect(keys.open("\(setup.sealedFolder)/\(Setup.sealedName(1))", into: opened) == "")
            audio = "\(opened)/\(Setup.name(1))/audio.flac"
        } else {
            #expect(setup.copies.count == 1 && shell("grep -rl 'one two' '\(setup.stick)'").output == "")
        }
        #expect(isSilenced(audio))
    }

    @Test("a copy waits until a redaction has finished")
    func waitsForRedaction() async throws {
        let setup = try await Setup()
        let marker = setup.folder.file(RecordingFolder.redactionName)
        shell("touch '\(marker)'")
        let copying = Task { try await copy(setup) }
        try await redact(setup)
        #expect(await setup.ledger.entries.isEmpty)
        unlink(marker)
        #expect(try await copying.value.error == nil)
        #expect(setup.copies.count == 1 && shell("grep -rl 'one two' '\(setup.stick)'").output == "")
    }
}
