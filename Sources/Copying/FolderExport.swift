import Audio
import Core
import Glibc
import System
import Transcripts

/// Copies recordings into a folder, usually a stick's, so that each is there complete or not at all.
package struct FolderExport: Sendable {
    let archive: any ArchiveReading
    let ledger: (any ExportLedger)?
    /// What a copy is made of, and by which name of this recorder.
    private(set) var settings: CopySettings
    let audioPath: @Sendable (Int) -> String

    /// What RESULT.txt is to say besides: lines about what the stick brought.
    package var answer: [String] = []

    /// What RESULT.txt is to say of `key.txt` on the stick, a line each.
    package var key: [String] = []

    /// What RESULT.txt is to say of corrections that the stick brought, a line each.
    package var corrections: [String] = []

    /// How well a recording was read that somebody has corrected, for the list over all; the second parameter is its title there.
    package var readings: @Sendable (_ recording: Int, _ title: String) async throws -> [PlottedReading] = { _, _ in []
    }
    /// How many recordings have no room on the drive, for RESULT.txt.
    package var leftOut = 0

    /// For whom copies are sealed, or why that is not certain, and nothing may be copied; nil for copies that are not sealed.
    package var recipients: Result<[Recipient], DeviceError>?

    /// What signs the copies; nil for copies that are not signed.
    package var signer: RecorderKey?

    /// Called for every block that is read of a recording.
    package var progress: @Sendable (CopyProgress) -> Void = { _ in }

    /// Asked again and again; where it is true the copy ends, and leaves nothing half under a final name.
    package var shouldStop: @Sendable () -> Bool = { false }

    /// Asked before every call that changes the target: for tests of its failures.
    var gate: Folder.Gate = { _, _ in }

    /// - Parameters:
    ///   - ledger: what was copied before; without one, what is there is compared with the recording each time.
    ///   - audioPath: where a recording's WAV is.
    package init(
        archive: any ArchiveReading, ledger: (any ExportLedger)?, settings: CopySettings,
        audioPath: @escaping @Sendable (Int) -> String
    ) {
        self.archive = archive
        self.ledger = ledger
        self.settings = settings
        self.audioPath = audioPath
    }

    /// Copies what the target lacks of these recordings, or of all that have ended.
    ///
    /// What fails for one recording is in the report, and the others are copied.
    /// - Parameters:
    ///   - recordings: their numbers; nil for all.
    ///   - path: the folder in which `Fieldscribe` stands.
    /// - Throws: `DeviceError` where nothing can be copied at all, or, with `ECANCELED`, when it was stopped.
    package func copy(_ recordings: [Int]? = nil, to path: String) async throws -> CopyReport {
        let all = try await archive.recordings()
        let chosen = try choose(recordings, of: all)
        if let recipients { return try await encrypt(chosen, to: path, for: recipients) }
        // A recording that is sealed on the recorder is copied as it is.
        let sealed = chosen.filter(\.isSealed)
        let carried = try await sealed.isEmpty ? CopyReport() : copySealed(sealed, to: path)
        let folder = try await openFolder(in: path, isEncrypted: false)
        var own = self
        own.settings.device = folder.device
        return try await own.copy(
            chosen.filter { !$0.isSealed }, of: all, isAll: recordings == nil, to: folder, carried)
    }

    /// Opens this recorder's folder on a volume and removes what interrupted copies left there.
    func openFolder(in path: String, isEncrypted: Bool) async throws -> CopyFolder {
        let (settings, gate) = (settings, gate)
        return try await onThread(named: "copy") {
            let folder = try CopyFolder(
                in: Folder(opening: path, gate: gate), device: settings.device, identity: settings.identity,
                isEncrypted: isEncrypted)
            try folder.clearTemporaries()
            return folder
        }
    }

    private func copy(
        _ chosen: [RecordingSummary], of all: [RecordingSummary], isAll: Bool, to folder: CopyFolder,
        _ carried: CopyReport
    ) async throws -> CopyReport {
        var session = try await CopySession<CopyName>(folder, ledger?.exports(to: settings.volume) ?? [])
        session.report = carried
        var texts = IndexTexts()
        let renamed = try await session.thread.run { try folder.folder.renamedCopies() }
        let failures = try await each(of: chosen) { job, pass in
            texts.add(job.summary, job.timeline)
            return try await place(job, pass, in: &session) { try PlainWriter(job, in: folder, renamed: renamed) }
        }
        var report = session.report
        report.failures += failures
        // Recordings that were not asked for are on the target, too.
        if !isAll { texts = try await self.texts(of: all, session.known) }
        var readings: [PlottedReading] = []
        do {
            for summary in texts.corrected.sorted(by: { $0.id < $1.id }) {
                let title = texts.entries[summary.id]?.title ?? ""
                readings += try await self.readings(summary.id, title.isEmpty ? CopyName(summary).title : title)
            }
        } catch let error as DeviceError {
            // The list is written without them.
            report.listsError = error
        }
        let index = CopyIndex(exportFolder: folder, known: session.known, texts: texts, readings: readings)
        return try await addLists(to: report, on: folder, index, all: all)
    }

    private func choose(_ numbers: [Int]?, of all: [RecordingSummary]) throws -> [RecordingSummary] {
        guard let numbers else { return all.filter { $0.length > .zero } }
        var seen: Set<Int> = []
        let summaries = Dictionary(all.map { ($0.id, $0) }) { first, _ in first }
        return try numbers.filter { seen.insert($0).inserted }.map { number in
            guard let summary = summaries[number] else {
                throw DeviceError.noRecording(number, "export")
            }
            return summary
        }
    }

    /// Does something with each recording, and with the number of the pass that its text is of; what fails for one is told, and the
    /// others are done, unless nothing would go better for them.
    ///
    /// - Parameters:
    ///   - endsAll: another failure after which nothing would, besides a volume that is gone.
    ///   - body: returns whether something was struck meanwhile, so that it is to be done once more.
    /// - Throws: `DeviceError` with `ECANCELED`, when it was stopped.
    func each(
        of chosen: [RecordingSummary], endsAll: (DeviceError) -> Bool = { _ in false },
        _ body: (RecordingCopy, Int?) async throws -> Bool
    ) async throws -> [(recording: Int, error: DeviceError)] {
        var failures: [(recording: Int, error: DeviceError)] = []
        var turn = 1
        var rest = chosen.enumerated().makeIterator()
        var next = rest.next()
        while let (index, summary) = next {
            do {
                let progress = progress
                // Asked first: text that comes meanwhile is newer than what the ledger says, and never older. Of a text that is
                // still growing, a copy has not all there will be.
                let shown = settings.formats.isEmpty ? nil : try await archive.shownPass(of: summary.id)
                let pass = shown.flatMap { $0.isComplete ? $0.id : nil }
                let job = try await job(summary) { position, length in
                    progress(
                        CopyProgress(
                            recording: summary.id, number: index + 1, count: chosen.count, reached: position,
                            length: length))
                }
                if try await body(job, pass) {
                    turn += 1
                    if turn <= Self.turns { continue }
                    throw DeviceError(
                        .busy, "export", on: "recording \(summary.id)",
                        "was struck again and again while it was copied",
                        remedy: "copy it again")
                }
            } catch let error as DeviceError {
                if error.status == ECANCELED { throw error }
                failures.append((summary.id, error))
                if error.endsCopies || endsAll(error) { break }
            }
            turn = 1
            next = rest.next()
        }
        return failures
    }

    private func job(
        _ summary: RecordingSummary, progress: @escaping @Sendable (SamplePosition, SamplePosition) -> Void
    ) async throws -> RecordingCopy {
        // In this order: what the history tells of was struck before the text is read, and what it does not is found out afterwards.
        let history = try await archive.history(of: summary.id)
        try await waitForStriking(summary.id)
        guard let (summary, timeline) = try await archive.transcript(of: summary.id) else {
            throw DeviceError(
                .missing, "export", "recording \(summary.id): was deleted in the meantime; nothing is left to do")
        }
        if summary.isSealed {
            throw DeviceError(
                .busy, "export", on: "recording \(summary.id)", "was sealed in the meantime", remedy: "copy it again")
        }
        let source = try RecordingReader(path: audioPath(summary.id))
        let length = try source.length
        guard length > .zero else {
            throw DeviceError(.missing, "export", "recording \(summary.id): has no audio; delete it")
        }
        return RecordingCopy(
            summary: summary, timeline: timeline, settings: settings, source: source, length: length,
            shouldStop: shouldStop, progress: { progress($0, length) }, history: history, signer: signer)
    }

    /// What the list shows of all that the ledger knows to be on the target.
    private func texts(of all: [RecordingSummary], _ known: KnownCopies<CopyName>) async throws -> IndexTexts {
        var texts = IndexTexts()
        for summary in all where known.copies[summary.id] != nil && !summary.isSealed {
            guard let (summary, timeline) = try await archive.transcript(of: summary.id) else { continue }
            texts.add(summary, timeline)
        }
        return texts
    }

    private func addLists(
        to report: CopyReport, on exportFolder: CopyFolder, _ index: CopyIndex, all: [RecordingSummary]
    ) async throws -> CopyReport {
        var report = report
        report.leftOut = leftOut
        do {
            let result = resultText(
                report, settings: settings, all: all, answer: answer, key: key, corrections: corrections)
            try await onThread(named: "copy") {
                let page = try indexPage(index.entries(), readings: index.readings)
                try exportFolder.top.replaceList(Self.listName, with: page)
                try exportFolder.top.replaceList("RESULT.txt", with: result)
                try exportFolder.top.syncFileSystem()
            }
        } catch let error as DeviceError {
            report.listsError = error
        }
        return report
    }
}
