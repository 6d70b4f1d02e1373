import Glibc
import Testing
import TestKit

@testable import Copying
@testable import Core
@testable import System

@Suite("The contents of the drive for laptops") struct DriveContentsTests {
    private static let gigabyte: Int64 = 1_000_000_000
    private static let hour: Int64 = 3_600 * 32_000
    private static let ampleSpace = DriveSpace(free: 10 * gigabyte, imageSize: 0, reserve: 256_000_000)

    private func contents(_ marks: [Int: String], sealed: Bool = false, settings: String = "a") -> DriveContents {
        DriveContents(isSealed: sealed, settings: settings, marks: marks)
    }

    private func storedContents(_ marks: [Int: String], finished: Bool = true, sealed: Bool = false) -> DriveContents {
        DriveContents(isSealed: sealed, settings: "a", isFinished: finished, marks: marks)
    }

    private func step(
        _ target: DriveContents, _ current: DriveContents?, existing: Set<Int>? = nil, space: DriveSpace = ampleSpace
    ) -> DriveStep {
        target.step(from: current, existing: existing ?? Set(target.marks.keys), space: space)
    }

    @Test("stored content is read back; anything else is refused")
    func storedContent() {
        for contents in [
            contents([:]), contents([7: "1-2-open", 12: "5-0-complete"], sealed: true),
            storedContents([1: "a"], finished: false),
        ] {
            #expect(DriveContents(contents.text) == contents)
            // Content is refused if it is truncated within a line; after a line, it has fewer marks.
            for count in 0..<contents.text.count {
                #expect(DriveContents(String(contents.text.prefix(count))).map { $0.marks.count < 2 } ?? true)
                #expect(DriveContents(String(contents.text.dropLast())) == nil)
            }
        }
        for text in [
            "", "\n", "fieldscribe-drive-2 clear a finished\n", "fieldscribe-drive-1 open a finished\n",
            "fieldscribe-drive-1 clear a finished\n0 x\n", "fieldscribe-drive-1 clear a finished\n1\n",
            "fieldscribe-drive-1 clear a b finished\n",
        ] { #expect(DriveContents(text) == nil, "\(text)") }
    }

    @Test("new copies wait, but erasures do not; readable and encrypted copies never mix")
    func steps() {
        let both = contents([1: "x", 2: "y"])
        #expect(step(both, nil) == .remake)
        #expect(step(both, storedContents([1: "x", 2: "y"])) == .current)
        #expect(step(both, storedContents([1: "x"])) == .update)
        #expect(step(both, storedContents([1: "x", 2: "older"])) == .update)
        #expect(step(both, storedContents([1: "x", 2: "y", 3: "z"])) == .erase)
        #expect(step(both, storedContents([1: "x", 2: "y"], finished: false)) == .update)
        #expect(step(contents([1: "x"], settings: "b"), storedContents([1: "x"])) == .update)
        #expect(step(contents([1: "x"], sealed: true), storedContents([1: "x"])) == .remake)
        #expect(step(contents([1: "x"]), storedContents([1: "x"], sealed: true)) == .remake)
        // Changing between readable and encrypted takes precedence, even if the drive is unfinished.
        #expect(step(contents([1: "x"], sealed: true), storedContents([1: "x"], finished: false)) == .remake)
        // An empty recorder has an empty drive.
        #expect(step(contents([:]), nil) == .remake && step(contents([:]), storedContents([:])) == .current)
        // Recordings that no longer fit stay until the next update.
        #expect(step(contents([2: "y"]), storedContents([1: "x", 2: "y"]), existing: [1, 2]) == .current)
    }

    @Test("recordings take precedence over the drive")
    func shortage() {
        let reserve: Int64 = 256_000_000
        let (short, enough) = (reserve + Self.hour - 1, reserve + Self.hour)
        let target = contents([1: "x"])
        let current = storedContents([1: "x"])
        #expect(step(target, current, space: DriveSpace(free: short, imageSize: 5, reserve: reserve)) == .yield)
        #expect(step(target, current, space: DriveSpace(free: enough, imageSize: 5, reserve: reserve)) == .current)
        // There is no image that could be removed.
        let noBudget = DriveSpace(free: reserve + 4 * Self.hour, imageSize: 0, reserve: reserve)
        #expect(step(target, nil, space: noBudget) == .full && noBudget.budget == 0)
        let oneByte = DriveSpace(free: noBudget.free + 1, imageSize: 0, reserve: reserve)
        #expect(step(target, nil, space: oneByte) == .remake && oneByte.budget == 1)
        // The drive may keep the space that it already uses.
        let filled = DriveSpace(free: noBudget.free, imageSize: Self.hour, reserve: reserve)
        #expect(filled.budget == Self.hour && !filled.isShort)
    }

    @Test("if not all recordings fit, the newest are copied")
    func newestRecordingsFit() {
        let recordings = (1...5).map {
            RecordingSummary(
                id: $0, startedAt: 0, clock: .unverified, microphone: "tone:440", length: SamplePosition(Int64($0)))
        }
        let chosen = { (budget: Int64) in
            DriveContents.fitting(recordings, in: budget) { $0.length.samples }.map(\.id)
        }
        #expect(chosen(0) == [] && chosen(4) == [] && chosen(5) == [5] && chosen(11) == [5, 4])
        // An older recording does not replace a newer one that is too long.
        #expect(chosen(8) == [5] && chosen(100) == [5, 4, 3, 2, 1])
    }
}

@Suite("The drive for laptops") struct DriveTests {
    private func copyNames(_ setup: Setup, _ folder: String = "recorder") throws -> [String] {
        try names(inFolder: "\(setup.stick)/Fieldscribe/\(folder)").filter { $0 != "RECORDER.txt" }
    }

    private func fill(_ setup: Setup, _ ids: [Int]) async throws -> CopyReport {
        try await setup.export().fillDrive(ids, at: setup.stick)
    }

    @Test("the drive and its list have exactly the requested recordings")
    func requestedRecordings() async throws {
        let setup = try await Setup(recordings: 3)
        let first = try await fill(setup, [3, 2, 1])
        #expect(first.copied.map(\.recording) == [3, 2, 1])
        #expect(try copyNames(setup) == [Setup.name(1), Setup.name(2), Setup.name(3)])
        let second = try await fill(setup, [3, 1])
        #expect(second.copied.isEmpty && second.keptCopies.map(\.recording) == [3, 1] && second.error == nil)
        #expect(try copyNames(setup) == [Setup.name(1), Setup.name(3)])
        let index = try content(ofFile: "\(setup.stick)/Fieldscribe/index.html")
        #expect(!String(decoding: index, as: UTF8.self).contains(Setup.name(2)))
        #expect(String(decoding: index, as: UTF8.self).contains(Setup.name(3)))
    }

    @Test(
        "an unlisted copy that a power cut damaged is replaced, and the list links only to the new copy"
    )
    func damagedCopy() async throws {
        var setup = try await Setup(recordings: 2)
        _ = try await fill(setup, [2, 1])
        let path = "\(setup.stick)/Fieldscribe/recorder/\(Setup.name(1))"
        try durableReplace(path: "\(path)/audio.flac", with: [0, 1, 2])
        setup.ledger = MemoryLedger()
        let report = try await fill(setup, [2, 1])
        #expect(report.error == nil)
        #expect(report.copied.map(\.recording) == [1] && report.keptCopies.map(\.recording) == [2])
        #expect(try copyNames(setup) == [Setup.name(1) + "_2", Setup.name(2)])
        let index = String(decoding: try content(ofFile: "\(setup.stick)/Fieldscribe/index.html"), as: UTF8.self)
        #expect(!index.contains("\(Setup.name(1))/") && index.contains("\(Setup.name(1))_2/"))
    }

    @Test("the ledger returns the latest entry for each folder and skips malformed lines")
    func ledger() async throws {
        let folder = TemporaryFolder()
        let path = folder.file("ledger")
        let entries = (1...3).map {
            ExportEntry(
                recording: $0, pass: $0 == 2 ? nil : 7, volume: "drive", folder: "recorder/00000\($0)",
                manifest: "sealed 1 \($0)", exportedAt: 1_795_163_500.5)
        }
        let ledger = try DriveLedger(path: path)
        for entry in entries { try await ledger.add(entry) }
        var newer = entries[2]
        newer.manifest = "newer"
        try await ledger.add(newer)
        let again = try DriveLedger(path: path)
        #expect(await again.exports(to: "drive") == [entries[0], entries[1], newer])
        #expect(await again.exports(of: 2) == [entries[1]])
        #expect(await again.exports(to: "ABCD-1234") == [])
        let text = String(decoding: try content(ofFile: path), as: UTF8.self)
        try durableReplace(path: path, with: text.dropLast(9) + "\nnone\n\t\t\t\t\t\n-1\t-\t0\ta\tb\tc\n")
        #expect(await (try DriveLedger(path: path)).exports(to: "drive").count == 2)
    }

    @Test("a link in place of the ledger is not followed")
    func linkInPlaceOfLedger() async throws {
        let folder = TemporaryFolder()
        try durableReplace(path: folder.file("victim"), with: "mine\n")
        #expect(symlink(folder.file("victim"), folder.file("ledger")) == 0)
        let ledger = try DriveLedger(path: folder.file("ledger"))
        try await ledger.add(
            ExportEntry(recording: 1, pass: nil, volume: "drive", folder: "a", manifest: "b", exportedAt: 0))
        #expect(try content(ofFile: folder.file("victim")) == Array("mine\n".utf8))
    }

    @Test("RESULT.txt reports recordings that do not fit")
    func omittedRecordings() async throws {
        let setup = try await Setup(recordings: 2)
        var export = setup.export()
        export.omittedCount = 1
        _ = try await export.fillDrive([2], at: setup.stick)
        let result = String(decoding: try content(ofFile: "\(setup.stick)/Fieldscribe/RESULT.txt"), as: UTF8.self)
        #expect(result.contains("1 older recording is NOT HERE"))
        #expect(try copyNames(setup) == [Setup.name(2)])
    }
}
