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
    private func redact(_ desk: Desk) async throws {
        let edited = shell(
            "cd '\(desk.folder.path)' && sox 1.wav b.wav trim 0 1600s pad 0 3200s && sox 1.wav c.wav trim 4800s "
                + "&& sox b.wav c.wav 2.wav && mv 2.wav 1.wav")
        #expect(edited.status == 0, "\(edited.output)")
        guard case (let summary, var timeline)? = await desk.archive.transcript(of: 1) else { return }
        timeline.segments = timeline.segments.map { $0.redacted([Self.range]) }
        timeline.gaps = [Gap(Self.range, cause: .redacted)]
        await desk.archive.put(summary, timeline)
        await enter(.redacted, in: desk)
    }

    private func enter(_ act: HistoryEntry.Act, _ copy: ExportEntry? = nil, in desk: Desk) async {
        let number = await desk.archive.history(of: nil).count + 1
        var entry = HistoryEntry(
            number: number, recording: 1, act: act, time: "2026-11-25T15:00:00Z", clock: .unverified, boot: "b",
            sinceBoot: 9, before: HistoryEntry.initialDigest, own: nil)
        (entry.folder, entry.digest) = (copy?.folder, copy?.digest)
        await desk.archive.enter(HistoryLine(text: #"{"number":\#(number)}"#, entry: entry))
    }

    /// Copies, and adds each copy to the history.
    @discardableResult private func copy(_ desk: Desk, _ export: FolderExport? = nil) async throws -> CopyReport {
        let previousCount = await desk.ledger.entries.count
        let report = try await (export ?? desk.export()).copy(to: desk.stick)
        for entry in await desk.ledger.entries.dropFirst(previousCount) { await enter(.copied, entry, in: desk) }
        return report
    }

    /// The files on the stick that still have redacted words or readable sound.
    private func readableFiles(_ desk: Desk) -> String {
        shell("grep -rl 'one two' '\(desk.stick)/Fieldscribe'; cd '\(desk.stick)' && find . -name audio.flac").output
    }

    private func isSilenced(_ audio: String) -> Bool {
        shell("sox '\(audio)' -t raw - trim 1600s 3200s | tr -d '\\0' | wc -c").output.contains("0\n")
            && shell("sox '\(audio)' -t raw - trim 1600s 3200s | wc -c").output == "6400\n"
    }

    @Test(
        "the next copy replaces an outdated one, even if no text differs", arguments: [true, false])
    func replaces(hasTexts: Bool) async throws {
        var desk = try await Desk()
        if !hasTexts { desk.formats = [] }
        try await desk.copy()
        try await redact(desk)
        let report = try await desk.copy()
        #expect(report.copied.count == 1 && report.failures.isEmpty)
        #expect(desk.copies.count == 1, "\(desk.copies)")
        #expect(desk.areWhole())
        #expect(isSilenced("\(desk.exportFolder)/\(desk.copies.first ?? "")/audio.flac"))
        #expect(try await desk.copy().copied.isEmpty, "the new copy is recognized")
        #expect(desk.copies.count == 1)
    }

    @Test("added and edited files stay, and the sound is removed")
    func keepsOthers() async throws {
        let desk = try await Desk()
        try await desk.copy()
        let old = "\(desk.exportFolder)/\(Desk.name(1))"
        shell("echo mine > '\(old)/corrections.json'; echo changed >> '\(old)/transcript.txt'")
        try await redact(desk)
        let report = try await desk.copy()
        #expect(names(old) == ["corrections.json", "transcript.txt"])
        #expect(desk.copies.count == 2)
        #expect(report.keptAfterRedaction == [1])
        #expect(desk.result().contains("REDACTED SINCE: recording 1."))
    }

    @Test("a copy made after the redaction, whose sound a person changed, stays, and a new one is made beside it")
    func changed() async throws {
        let desk = try await Desk()
        try await redact(desk)
        try await copy(desk)
        let old = "\(desk.exportFolder)/\(Desk.name(1))"
        shell("cp '\(old)/transcript.txt' '\(desk.stick)/' && echo mine > '\(old)/audio.flac'")
        try await copy(desk)
        #expect(desk.copies.count == 2)
        #expect(shell("cmp '\(desk.stick)/transcript.txt' '\(old)/transcript.txt'").status == 0)
    }

    @Test("the next run completes a copy that was interrupted before the ledger listed it")
    func interrupted() async throws {
        let desk = try await Desk()
        try await desk.copy()
        try await redact(desk)
        let export = desk.export { operation, path throws(DeviceError) in
            if operation == "unlink", path.hasSuffix("SHA256SUMS") {
                throw DeviceError(.failed, "unlink", status: EIO, "\(path): gone")
            }
        }
        #expect(try await export.copy(to: desk.stick).failures.map(\.recording) == [1])
        #expect(desk.copies.count == 2)
        #expect(try await desk.copy().failures.isEmpty)
        #expect(desk.copies.count == 1 && desk.areWhole())
    }

    @Test("if a copy fails, the previous one stays unchanged")
    func fullStick() async throws {
        let desk = try await Desk()
        try await desk.copy()
        let before = names("\(desk.exportFolder)/\(Desk.name(1))")
        try await redact(desk)
        let export = desk.export { operation, _ throws(DeviceError) in
            if operation == "write" { throw DeviceError(.full, "write", status: ENOSPC, "the stick is full") }
        }
        let report = try await export.copy(to: desk.stick)
        #expect(report.failures.map(\.recording) == [1])
        #expect(names("\(desk.exportFolder)/\(Desk.name(1))") == before)
    }

    @Test("an encrypted copy is replaced", arguments: [true, false])
    func sealed(hasTexts: Bool) async throws {
        var desk = try await Desk()
        if !hasTexts { desk.formats = [] }
        let keys = try KeyPair()
        desk.recipients = .success([keys.recipient])
        try await desk.copy()
        try await redact(desk)
        #expect(try await desk.copy().copied.count == 1)
        #expect(names(desk.sealedFolder).filter { $0.hasSuffix(".age") }.count == 1)
        let opened = desk.folder.file("opened")
        #expect(keys.open("\(desk.sealedFolder)/\(Desk.sealedName(1))", into: opened) == "")
        #expect(isSilenced("\(opened)/\(Desk.name(1))/audio.flac"))
    }

    enum Form: CaseIterable, Sendable { case clear, sealed, onRecorder, onRecorderAmongSealed }

    /// Sets the form in which a desk makes copies.
    private func set(_ form: Form, of desk: inout Desk, _ keys: KeyPair) async throws {
        let seals = form == .sealed || form == .onRecorderAmongSealed
        desk.recipients = seals ? .success([keys.recipient]) : nil
        if form == .onRecorder || form == .onRecorderAmongSealed {
            _ = try await desk.sealOnRecorder(for: keys.recipient)
        }
    }

    @Test(
        "a copy in another format replaces one made before the redaction",
        arguments: [Form.clear, .sealed], Form.allCases)
    func otherForm(before: Form, after: Form) async throws {
        if before == after { return }
        var desk = try await Desk()
        let keys = try KeyPair()
        try await set(before, of: &desk, keys)
        try await copy(desk)
        try await redact(desk)
        try await set(after, of: &desk, keys)
        let report = try await copy(desk)
        #expect(report.error == nil && report.copied.map(\.recording) == [1], "\(report)")
        var sound = "\(desk.exportFolder)/\(desk.copies.first ?? "")/audio.flac"
        if after == .clear {
            #expect(desk.copies.count == 1 && names(desk.sealedFolder) == [])
            #expect(shell("grep -rl 'one two' '\(desk.stick)'").output == "")
        } else {
            #expect(readableFiles(desk) == "" && names(desk.exportFolder).allSatisfy { $0 == "RECORDER.txt" })
            #expect(desk.sealedFiles == [Desk.sealedName(1)])
            #expect(shell("cd '\(desk.sealedFolder)' && sha256sum --quiet --strict -c SHA256SUMS").status == 0)
            let opened = desk.folder.file("opened")
            #expect(keys.open("\(desk.sealedFolder)/\(Desk.sealedName(1))", into: opened) == "")
            sound = "\(opened)/\(Desk.name(1))/audio.flac"
        }
        #expect(isSilenced(sound))
        let again = try await copy(desk)
        #expect(again.error == nil && again.copied.isEmpty && again.kept.count == 1, "\(again)")
    }

    @Test("added files and later copies stay, encrypted or not; added files are reported")
    func keepsOthersSealed() async throws {
        var desk = try await Desk()
        try await copy(desk)
        let (old, others) = ("\(desk.exportFolder)/\(Desk.name(1))", "\(desk.stick)/Fieldscribe/other")
        shell("mkdir '\(others)' && cp -r '\(old)' '\(others)' && echo mine > '\(old)/corrections.json'")
        shell("mv '\(old)' '\(desk.exportFolder)/Anna'")
        try await redact(desk)
        desk.recipients = .success([try KeyPair().recipient])
        #expect(try await copy(desk).keptAfterRedaction == [1])
        #expect(desk.result().contains("REDACTED SINCE: recording 1."))
        #expect(names("\(desk.exportFolder)/Anna") == ["corrections.json"])
        #expect(shell("cd '\(others)/\(Desk.name(1))' && sha256sum --quiet -c SHA256SUMS").status == 0)
        desk.recipients = nil
        try await copy(desk)
        #expect(desk.sealedFiles == [Desk.sealedName(1)] && desk.copies.count == 2)
    }

    @Test(
        "the next copy completes an interrupted removal",
        arguments: ["audio.flac", "index.html", "SHA256SUMS"])
    func interruptedRemoval(name: String) async throws {
        var desk = try await Desk()
        try await copy(desk)
        try await redact(desk)
        desk.recipients = .success([try KeyPair().recipient])
        let export = desk.export { operation, path throws(DeviceError) in
            if operation == "unlink", path.hasSuffix("/\(name)") {
                throw DeviceError(.failed, "unlink", status: EIO, "\(path): gone")
            }
        }
        #expect(try await copy(desk, export).failures.map(\.recording) == [1])
        #expect(try await copy(desk).error == nil)
        #expect(readableFiles(desk) == "" && desk.copies == [])
    }

    @Test(
        "a recording that is redacted during a copy is copied again, and only the new copy counts",
        arguments: [true, false])
    func meanwhile(isSealed: Bool) async throws {
        var desk = try await Desk()
        let keys = try KeyPair()
        if isSealed { desk.recipients = .success([keys.recipient]) }
        var export = desk.export()
        let redaction = Mutex<Task<Void, any Error>?>(nil)
        let (done, other) = (Wakeup(), desk)
        export.progress = { _ in
            let isFirst = redaction.withLock { task in
                guard task == nil else { return false }
                // The copy has already read the transcript and opened the sound.
                task = Task {
                    defer { done.signal() }
                    try await redact(other)
                }
                return true
            }
            if isFirst { done.wait() }
        }
        let report = try await copy(desk, export)
        try await redaction.withLock { $0 }?.value
        #expect(report.error == nil && report.copied.count == 1, "\(report)")
        #expect(await desk.ledger.entries.map(\.pass) == [nil, 3])
        var sound = "\(desk.exportFolder)/\(desk.copies.first ?? "")/audio.flac"
        if isSealed {
            #expect(desk.sealedFiles == [Desk.sealedName(1)])
            let opened = desk.folder.file("opened")
            #expect(keys.open("\(desk.sealedFolder)/\(Desk.sealedName(1))", into: opened) == "")
            sound = "\(opened)/\(Desk.name(1))/audio.flac"
        } else {
            #expect(desk.copies.count == 1 && shell("grep -rl 'one two' '\(desk.stick)'").output == "")
        }
        #expect(isSilenced(sound))
    }

    @Test("a copy waits until a redaction has finished")
    func waits() async throws {
        let desk = try await Desk()
        let note = desk.folder.file(RecordingFolder.redactionName)
        shell("touch '\(note)'")
        let copying = Task { try await copy(desk) }
        try await redact(desk)
        #expect(await desk.ledger.entries.isEmpty)
        unlink(note)
        #expect(try await copying.value.error == nil)
        #expect(desk.copies.count == 1 && shell("grep -rl 'one two' '\(desk.stick)'").output == "")
    }
}
