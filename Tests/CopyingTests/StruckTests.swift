import Core
import Glibc
import TestKit
import Testing

@testable import Copying

@Suite("Copies of what was struck since") struct StruckTests {
    /// Where the test strikes: 0.1 to 0.3 s.
    private static let range = SampleRange(SamplePosition(1_600), SamplePosition(4_800))

    /// As the recorder does: silence in the sound, no word of that time, and a gap.
    private func strike(_ desk: Desk) async throws {
        let made = shell(
            "cd '\(desk.folder.path)' && sox 1.wav b.wav trim 0 1600s pad 0 3200s && sox 1.wav c.wav trim 4800s "
                + "&& sox b.wav c.wav 2.wav && mv 2.wav 1.wav")
        #expect(made.status == 0, "\(made.output)")
        guard case (let summary, var timeline)? = await desk.archive.transcript(of: 1) else { return }
        timeline.segments = timeline.segments.map { $0.struck([Self.range]) }
        timeline.gaps = [Gap(Self.range, cause: .struck)]
        await desk.archive.put(summary, timeline)
    }

    private func silence(in audio: String) -> Bool {
        shell("sox '\(audio)' -t raw - trim 1600s 3200s | tr -d '\\0' | wc -c").output.contains("0\n")
            && shell("sox '\(audio)' -t raw - trim 1600s 3200s | wc -c").output == "6400\n"
    }

    @Test(
        "the next copy takes the place of one that still has it, even where no text differs", arguments: [true, false])
    func replaces(hasTexts: Bool) async throws {
        var desk = try await Desk()
        if !hasTexts { desk.formats = [] }
        try await desk.copy()
        try await strike(desk)
        let report = try await desk.copy()
        #expect(report.copied.count == 1 && report.failures.isEmpty)
        #expect(desk.copies.count == 1, "\(desk.copies)")
        #expect(desk.areWhole())
        #expect(silence(in: "\(desk.exportFolder)/\(desk.copies.first ?? "")/audio.flac"))
        #expect(try await desk.copy().copied.isEmpty, "it is known now")
        #expect(desk.copies.count == 1)
    }

    @Test("what a person has put or changed there stays, and the sound goes")
    func keepsOthers() async throws {
        let desk = try await Desk()
        try await desk.copy()
        let old = "\(desk.exportFolder)/\(Desk.name(1))"
        shell("echo mine > '\(old)/corrections.json'; echo changed >> '\(old)/transcript.txt'")
        try await strike(desk)
        try await desk.copy()
        #expect(names(old) == ["corrections.json", "transcript.txt"])
        #expect(desk.copies.count == 2)
    }

    @Test("what was interrupted before the ledger knew is done by the next copy")
    func interrupted() async throws {
        let desk = try await Desk()
        try await desk.copy()
        try await strike(desk)
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

    @Test("a copy that cannot be made leaves the one before as it is")
    func fullStick() async throws {
        let desk = try await Desk()
        try await desk.copy()
        let before = names("\(desk.exportFolder)/\(Desk.name(1))")
        try await strike(desk)
        let export = desk.export { operation, _ throws(DeviceError) in
            if operation == "write" { throw DeviceError(.full, "write", status: ENOSPC, "the stick is full") }
        }
        let report = try await export.copy(to: desk.stick)
        #expect(report.failures.map(\.recording) == [1])
        #expect(names("\(desk.exportFolder)/\(Desk.name(1))") == before)
    }

    @Test("a sealed copy is sealed again in its place", arguments: [true, false])
    func sealed(hasTexts: Bool) async throws {
        var desk = try await Desk()
        if !hasTexts { desk.formats = [] }
        let keys = try KeyPair()
        desk.recipients = .success([keys.recipient])
        try await desk.copy()
        try await strike(desk)
        #expect(try await desk.copy().copied.count == 1)
        #expect(names(desk.sealedFolder).filter { $0.hasSuffix(".age") }.count == 1)
        let opened = desk.folder.file("opened")
        #expect(keys.open("\(desk.sealedFolder)/\(Desk.sealedName(1))", into: opened) == "")
        #expect(silence(in: "\(opened)/\(Desk.name(1))/audio.flac"))
    }
}
