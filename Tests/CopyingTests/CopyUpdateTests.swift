import FoundationEssentials
import Glibc
import Synchronization
import Testing
import TestKit

@testable import Audio
@testable import Copying
@testable import Core
@testable import Transcripts

@Suite("Updating copies in a folder") struct CopyUpdateTests {
    @Test(
        "a copy and its page have the history; later entries do not cause a new copy, but are added with the next transcript"
    )
    func history() async throws {
        func line(_ number: Int, _ act: HistoryEntry.Act) -> HistoryLine {
            var entry = HistoryEntry(
                number: number, recording: 1, act: act, time: "2026-11-25T15:00:0\(number)Z", clock: .unverified,
                boot: "b",
                sinceBoot: 9, before: HistoryEntry.initialDigest, own: nil)
            entry.volume = "1A2B"
            return HistoryLine(text: #"{"number":\#(number)}"#, entry: entry)
        }
        var setup = try await Setup()
        await setup.archive.addToHistory(line(1, .recorded))
        try await setup.copy()
        let copy = "\(setup.exportFolder)/\(Setup.name(1))"
        #expect(try text("\(copy)/history.json") == "[\n{\"number\":1}\n]\n")
        #expect(try text("\(copy)/index.html").contains("<time>2026-11-25T15:00:01Z</time>"))
        await setup.archive.addToHistory(line(2, .copied))
        #expect(try await setup.copy().copied.isEmpty)
        #expect(try text("\(copy)/history.json") == "[\n{\"number\":1}\n]\n" && setup.hasIntactCopies())
        // Copies from earlier versions have no history. A newer transcript adds it, unless a person's file has the
        // same name.
        for (personFile, words) in [("", "other words"), ("mine", "still others")] {
            shell("cd '\(copy)' && rm history.json && sed -i /history/d SHA256SUMS")
            if !personFile.isEmpty { shell("printf mine > '\(copy)/history.json'") }
            var entry = try #require(await setup.ledger.entries.last)
            entry.manifest = String(shell("sha256sum < '\(copy)/SHA256SUMS'").output.prefix(64))
            setup.ledger = MemoryLedger([entry])
            #expect(try await setup.copy().copied.isEmpty)
            await setup.put(1, text: words)
            #expect(try await setup.copy().copied.count == 1)
            let expected = personFile.isEmpty ? "[\n{\"number\":1},\n{\"number\":2}\n]\n" : personFile
            #expect(try text("\(copy)/history.json") == expected)
            #expect(try text("\(copy)/transcript.txt").contains(words.prefix(5)))
            #expect(setup.copies.count == 1 && setup.hasIntactCopies())
        }
    }

    @Test("a second copy writes only what is new")
    func incrementalCopy() async throws {
        let setup = try await Setup(recordings: 2)
        try await setup.copy()
        let before = shell("cd '\(setup.exportFolder)' && find . -type f -printf '%p %i %T@ %s\\n' | sort").output
        try await setup.record(3)
        let report = try await setup.copy()
        #expect(report.copied.map(\.recording) == [3] && report.keptCopies.map(\.recording) == [1, 2])
        let after = shell("cd '\(setup.exportFolder)' && find . -type f -printf '%p %i %T@ %s\\n' | sort").output
        let oldFiles = after.split(separator: "\n").filter { !$0.contains(Setup.name(3)) }
        #expect(oldFiles.joined(separator: "\n") + "\n" == before)
        #expect(setup.hasIntactCopies())
        #expect(try text("\(setup.stick)/Fieldscribe/index.html").contains(Setup.name(1)))
        let result = try text("\(setup.stick)/Fieldscribe/RESULT.txt")
        #expect(
            result.contains("1 recording was copied") && result.contains("2 recordings were already here"), "\(result)")
    }

    @Test("if nothing has changed, each recording's transcript is read once")
    func readsTranscriptsOnce() async throws {
        let setup = try await Setup(recordings: 3)
        try await setup.copy()
        let archive = CountingArchive(archive: setup.archive)
        let export = FolderExport(
            archive: archive, ledger: setup.ledger, settings: setup.export().settings,
            audioPath: { setup.audioPath($0) })
        #expect(try await export.copy(to: setup.stick).keptCopies.count == 3)
        #expect(archive.requests.withLock { $0 } == [1, 2, 3])
        #expect(try text("\(setup.stick)/Fieldscribe/index.html").contains("one two"))
    }

    @Test("if the ledger is empty or missing, complete copies are recognized", arguments: [true, false])
    func recognizesUnlistedCopies(hasLedger: Bool) async throws {
        let setup = try await Setup(recordings: 2)
        try await setup.copy()
        let emptyLedger = MemoryLedger()
        var export = FolderExport(
            archive: setup.archive, ledger: hasLedger ? emptyLedger : nil,
            settings: CopySettings(
                formats: Setup.formats, audio: .flac, device: Setup.device, volume: "ABCD-1234", now: 1_795_163_500),
            audioPath: { setup.audioPath($0) })
        export.gate = { operation, path throws(DeviceError) in
            if operation == "mkdir" { throw DeviceError(.failed, "mkdir", "\(path): nothing needs to be created") }
        }
        let report = try await export.copy(to: setup.stick)
        #expect(report.error == nil && report.copied.isEmpty && report.keptCopies.count == 2)
        #expect(setup.copies.count == 2)
        let entries = await emptyLedger.entries
        let originals = await setup.ledger.entries
        #expect(entries == (hasLedger ? originals : []))
    }

    @Test("a newer text replaces the older one without copying the sound again")
    func newerText() async throws {
        let setup = try await Setup(recordings: 2)
        try await setup.copy()
        let listAudio = "cd '\(setup.exportFolder)' && stat -c '%n %i %Y %Z' */audio.flac"
        let before = shell(listAudio).output
        await setup.put(1, text: "one two three")
        let report = try await setup.copy()
        #expect(report.error == nil && report.copied.map(\.folder) == ["recorder/\(Setup.name(1))"])
        #expect(report.keptCopies.map(\.recording) == [2] && setup.copies.count == 2 && setup.hasIntactCopies())
        #expect(shell(listAudio).output == before)
        #expect(try text("\(setup.exportFolder)/\(Setup.name(1))/transcript.txt") == "one two three\n")
        #expect(try text("\(setup.stick)/Fieldscribe/index.html").contains("one two three"))
        #expect(names("\(setup.exportFolder)/\(Setup.name(1))").allSatisfy { !$0.hasSuffix(".new") })
        #expect(try await setup.copy().copied.isEmpty)
        // After an interruption between two renames, the manifest no longer matches, and the next copy gets a new
        // folder.
        await setup.put(1, text: "one two three four")
        let broken = setup.export { operation, path throws(DeviceError) in
            if operation == "rename", path.hasSuffix("transcript.srt") {
                throw DeviceError(.failed, "rename", status: EIO, "\(path): gone")
            }
        }
        #expect(try await broken.copy(to: setup.stick).failures.map(\.recording) == [1])
        #expect(try await setup.copy().error == nil)
        #expect(try text("\(setup.exportFolder)/\(Setup.name(1))_2/transcript.txt") == "one two three four\n")
    }

    @Test("a newer text replaces the older one if the page is the only format")
    func newerPage() async throws {
        var setup = try await Setup(recordings: 2)
        setup.formats = [.html]
        try await setup.copy()
        #expect(try await setup.copy().copied.isEmpty)
        await setup.put(1, text: "one two three")
        #expect(try await setup.copy().copied.map(\.recording) == [1])
        #expect(setup.copies.count == 2 && setup.hasIntactCopies())
        #expect(try text("\(setup.exportFolder)/\(Setup.name(1))/index.html").contains("three"))
        #expect(try await setup.copy().copied.isEmpty)
    }

    @Test("a format added to export.formats is added to a copy, unless a person's file has its name")
    func addedFormat() async throws {
        var setup = try await Setup(recordings: 2)
        try await setup.copy()
        try "mine\n".write(
            toFile: "\(setup.exportFolder)/\(Setup.name(2))/transcript.docx", atomically: false, encoding: .utf8)
        let before = shell("cd '\(setup.exportFolder)' && stat -c '%n %i %Y' */audio.flac").output
        setup.formats.append(.docx)
        let report = try await setup.copy()
        #expect(
            report.error == nil
                && report.copied.map(\.folder) == ["recorder/\(Setup.name(1))", "recorder/\(Setup.name(2))_2"])
        #expect(setup.copies == [Setup.name(1), Setup.name(2), "\(Setup.name(2))_2"] && setup.hasIntactCopies())
        let after = shell("cd '\(setup.exportFolder)' && stat -c '%n %i %Y' */audio.flac").output
        #expect(after.hasPrefix(before) && after != before)
        for name in [Setup.name(1), "\(Setup.name(2))_2"] {
            #expect(try text("\(setup.exportFolder)/\(name)/SHA256SUMS").contains("  transcript.docx\n"))
        }
        #expect(try text("\(setup.exportFolder)/\(Setup.name(2))/transcript.docx") == "mine\n")
        #expect(try await setup.copy().copied.isEmpty)
    }

    @Test(
        "a correction that a copied format contains updates the copy, and the list has the corrected title",
        arguments: [Setup.formats, [.text, .json], [.text, .textgrid], [.text, .docx], [.html]])
    func corrections(formats: [TranscriptFormat]) async throws {
        var setup = try await Setup(recordings: 2)
        setup.formats = formats
        try await setup.copy()
        let listAudio = "cd '\(setup.exportFolder)' && stat -c '%n %i %Y' */audio.flac"
        let before = shell(listAudio).output
        var annotations = Annotations()
        annotations.title = "At the ford"
        annotations.marks = [Bookmark(SamplePosition(1_600))]
        for note in ["he laughs", "he cries"] {
            annotations.notes = [Bookmark(.zero, text: note)]
            await setup.annotate(1, annotations, pass: note == "he laughs" ? 2 : 3)
            let hasNotes = formats.contains(.html)
            let report = try await setup.copy()
            // Text and JSON omit notes, so the second correction does not change them.
            #expect(report.copied.map(\.recording) == (note == "he laughs" || formats != [.text, .json] ? [1] : []))
            #expect(setup.hasIntactCopies() && setup.copies.count == 2 && shell(listAudio).output == before)
            let page = "\(setup.exportFolder)/\(Setup.name(1))/index.html"
            #expect(try !hasNotes || text(page).contains(note))
            #expect(try await setup.copy().copied.isEmpty)
        }
        let list = try text("\(setup.stick)/Fieldscribe/index.html")
        #expect(!formats.contains(.html) || list.contains(">At the ford</a>"), "\(list)")
        // The copies are recognized even if there is no ledger.
        let copied = try await setup.export(ledger: false).copy(to: setup.stick)
        #expect(copied.copied.isEmpty && copied.keptCopies.count == 2)
    }

    @Test("if a person has edited a text, the newer one gets a new folder, which the list shows")
    func newerTextOfEditedCopy() async throws {
        let setup = try await Setup()
        try await setup.copy()
        try "corrected\n".write(
            toFile: "\(setup.exportFolder)/\(Setup.name(1))/transcript.txt", atomically: false, encoding: .utf8)
        let before = shell("cd '\(setup.exportFolder)' && sha256sum */*").output
        await setup.put(1, text: "one two three")
        #expect(try await setup.copy().copied.map(\.folder) == ["recorder/\(Setup.name(1))_2"])
        #expect(shell("cd '\(setup.exportFolder)' && sha256sum \(Setup.name(1))/*").output == before)
        #expect(try await setup.copy().copied.isEmpty)
        let index = try text("\(setup.stick)/Fieldscribe/index.html")
        #expect(index.contains("\(Setup.name(1))_2/index.html") && !index.contains("\(Setup.name(1))/index.html"))
    }

    @Test(
        "a damaged copy stays, and a new one is made",
        arguments: ["rm audio.flac", "echo x >> SHA256SUMS", "rm SHA256SUMS", "rm SHA256SUMS; mkdir SHA256SUMS"])
    func damagedCopy(command: String) async throws {
        let setup = try await Setup()
        try await setup.copy()
        #expect(shell("cd '\(setup.exportFolder)/\(Setup.name(1))' && \(command)").status == 0)
        let before = shell("cd '\(setup.exportFolder)/\(Setup.name(1))' && ls -lR --full-time").output
        #expect(try await setup.copy().copied.map(\.folder) == ["recorder/\(Setup.name(1))_2"])
        #expect(shell("cd '\(setup.exportFolder)/\(Setup.name(1))' && ls -lR --full-time").output == before)
    }
}

/// An archive that records which transcripts were requested.
private struct CountingArchive: ArchiveReading {
    let archive: any ArchiveReading
    let requests = Requests()

    /// A class, so that all copies of the struct share it.
    final class Requests: Sendable {
        private let recordings = Mutex<[Int]>([])

        func withLock<Value>(_ body: (inout [Int]) -> Value) -> Value { recordings.withLock { body(&$0) } }
    }

    func recordings() async throws -> [RecordingSummary] { try await archive.recordings() }

    func transcript(of recording: Int) async throws -> (RecordingSummary, Timeline)? {
        requests.withLock { $0.append(recording) }
        return try await archive.transcript(of: recording)
    }

    func shownPass(of recording: Int) async throws -> PassSummary? { try await archive.shownPass(of: recording) }

    func passes(of recording: Int) async throws -> [PassSummary] { try await archive.passes(of: recording) }

    func transcript(of recording: Int, pass: Int) async throws -> (RecordingSummary, Timeline)? {
        try await archive.transcript(of: recording, pass: pass)
    }

    func search(_ words: String, limit: Int) async throws -> [SearchHit] {
        try await archive.search(words, limit: limit)
    }

    func history(of recording: Int?) async throws -> [HistoryLine] { try await archive.history(of: recording) }
}
