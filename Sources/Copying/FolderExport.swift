import Audio
import Core
import Glibc
import System
import Transcripts

/// Copies recordings to a folder, usually on a stick. A copy gets its final name only when it is complete.
package struct FolderExport: Sendable {
    let archive: any ArchiveReading
    let ledger: (any ExportLedger)?
    private(set) var settings: CopySettings
    let audioPath: @Sendable (Int) -> String

    /// Lines for RESULT.txt about settings on the stick.
    package var settingsLines: [String] = []

    /// Lines for RESULT.txt about `key.txt` on the stick.
    package var keyLines: [String] = []

    /// Lines for RESULT.txt about corrections on the stick.
    package var correctionLines: [String] = []

    /// Returns the accuracies of a corrected recording's passes, which the list of recordings plots under this title.
    package var accuracies: @Sendable (_ recording: Int, _ title: String) async throws -> [PlottedPass] = { _, _ in
        []
    }

    /// Adds punctuation to the transcripts; nil to leave them as they are.
    package var punctuator: Punctuator?

    /// The number of older recordings that do not fit on the drive, for RESULT.txt.
    package var omittedCount = 0

    /// The keys that copies are encrypted for; nil for readable copies. If this is a failure, nothing may be copied.
    package var recipients: Result<[Recipient], DeviceError>?

    /// Signs the copies; nil for unsigned copies.
    package var signer: RecorderKey?

    /// Called after each block of a recording is read.
    package var progress: @Sendable (CopyProgress) -> Void = { _ in }

    /// Polled; if true, copying fails with `ECANCELED`.
    package var shouldStop: @Sendable () -> Bool = { false }

    /// Called before each change to the target, so that tests can make it fail.
    var gate: Folder.Gate = { _, _ in }

    /// - Parameters:
    ///   - ledger: lists earlier copies; nil to compare every copy with its recording.
    ///   - audioPath: returns the path of a recording's WAV file.
    package init(
        archive: any ArchiveReading, ledger: (any ExportLedger)?, settings: CopySettings,
        audioPath: @escaping @Sendable (Int) -> String
    ) {
        self.archive = archive
        self.ledger = ledger
        self.settings = settings
        self.audioPath = audioPath
    }

    /// Copies the recordings that the target lacks. If one fails, its error is in the report. The others are still
    /// copied, unless the volume is no longer writable.
    ///
    /// - Parameters:
    ///   - recordings: the IDs; nil for all.
    ///   - path: the folder that contains the folder `Fieldscribe`.
    /// - Throws: `DeviceError` if nothing can be copied; with `ECANCELED` if copying was stopped.
    package func copy(_ recordings: [Int]? = nil, to path: String) async throws -> CopyReport {
        let all = try await archive.recordings()
        let chosen = try choose(recordings, of: all)
        if let recipients { return try await encrypt(chosen, to: path, for: recipients) }
        // The encrypted files of recordings that are sealed on the recorder are copied unchanged.
        let sealed = chosen.filter(\.isSealed)
        let sealedReport = try await sealed.isEmpty ? CopyReport() : copySealed(sealed, to: path)
        let folder = try await openFolder(in: path, isEncrypted: false)
        var export = self
        export.settings.device = folder.device
        return try await export.copy(
            chosen.filter { !$0.isSealed }, of: all, isAll: recordings == nil, to: folder, sealedReport)
    }

    /// Opens this recorder's folder on a volume and removes the files that interrupted copies left there.
    func openFolder(in path: String, isEncrypted: Bool) async throws -> CopyFolder {
        try await onThread(named: "copy") {
            let folder = try CopyFolder(
                in: Folder(opening: path, gate: gate), device: settings.device, identity: settings.identity,
                isEncrypted: isEncrypted)
            try folder.clearTemporaries()
            return folder
        }
    }

    private func copy(
        _ chosen: [RecordingSummary], of all: [RecordingSummary], isAll: Bool, to folder: CopyFolder,
        _ sealedReport: CopyReport
    ) async throws -> CopyReport {
        var session = try await CopySession<CopyName>(folder, ledger?.exports(to: settings.volume) ?? [])
        session.report = sealedReport
        var texts = IndexTexts()
        let renamed = try await session.thread.run { try folder.folder.renamedCopies() }
        let failures = try await forEach(of: chosen) { job, pass in
            texts.add(job.summary, job.timeline)
            return try await place(job, pass, in: &session) { try PlainWriter(job, in: folder, renamed: renamed) }
        }
        var report = session.report
        report.failures += failures
        // The list also has the recordings that were copied earlier.
        if !isAll { texts = try await self.texts(of: all, session.known) }
        var plottedPasses: [PlottedPass] = []
        do {
            for summary in texts.corrected.values.sorted(by: { $0.id < $1.id }) {
                let title = texts.entries[summary.id]?.title ?? ""
                plottedPasses += try await accuracies(summary.id, title.isEmpty ? CopyName(summary).title : title)
            }
        } catch let error as DeviceError {
            // The list is still written, without the plot.
            report.listsError = error
        }
        let index = CopyIndex(exportFolder: folder, known: session.known, texts: texts)
        return try await addLists(to: report, index, plottedPasses, all: all)
    }

    private func choose(_ ids: [Int]?, of all: [RecordingSummary]) throws -> [RecordingSummary] {
        guard let ids else { return all.filter { $0.length > .zero } }
        var seen: Set<Int> = []
        let summaries = Dictionary(all.map { ($0.id, $0) }) { first, _ in first }
        return try ids.filter { seen.insert($0).inserted }.map { id in
            guard let summary = summaries[id] else {
                throw DeviceError.noRecording(id, "export")
            }
            return summary
        }
    }

    /// Calls `body` with each recording and the ID of its complete pass, if there is one.
    ///
    /// - Parameters:
    ///   - stopsAll: returns whether all remaining recordings would fail with the same error.
    ///   - body: returns whether the recording was redacted in the meantime and has to be copied again.
    /// - Returns: the recordings that failed.
    /// - Throws: `DeviceError` with `ECANCELED` if copying was stopped.
    func forEach(
        of chosen: [RecordingSummary], stopsAll: (DeviceError) -> Bool = { _ in false },
        _ body: (RecordingCopy, Int?) async throws -> Bool
    ) async throws -> [(recording: Int, error: DeviceError)] {
        var failures: [(recording: Int, error: DeviceError)] = []
        for (index, summary) in chosen.enumerated() {
            do {
                var attempts = 1
                while try await attempt(summary, ordinal: index + 1, of: chosen.count, body) {
                    attempts += 1
                    guard attempts <= Self.maximumAttempts else {
                        throw DeviceError(
                            .busy, "export", on: "recording \(summary.id)",
                            "was redacted during each attempt to copy it", remedy: "copy it again")
                    }
                }
            } catch let error as DeviceError {
                if error.status == ECANCELED { throw error }
                Log.debug(
                    .appliance, "copy",
                    ["recording": "\(summary.id)", "operation": error.operation, "status": "\(error.status)"])
                failures.append((summary.id, error))
                if error.stopsCopying || stopsAll(error) { break }
            }
        }
        return failures
    }

    private func attempt(
        _ summary: RecordingSummary, ordinal: Int, of count: Int,
        _ body: (RecordingCopy, Int?) async throws -> Bool
    ) async throws -> Bool {
        // Read before the text, so that the copied text is never older than the pass in the ledger. A text that still
        // grows counts as incomplete.
        let shownPass = settings.formats.isEmpty ? nil : try await archive.shownPass(of: summary.id)
        let pass = shownPass.flatMap { $0.isComplete ? $0.id : nil }
        return try await body(job(summary, ordinal: ordinal, of: count), pass)
    }

    private func job(_ summary: RecordingSummary, ordinal: Int, of count: Int) async throws -> RecordingCopy {
        // Read before the text, so that the text reflects every redaction in the history. `entry(of:pass:in:_:)`
        // detects later ones.
        let history = try await archive.history(of: summary.id)
        try await waitForRedaction(summary.id)
        guard let (summary, timeline) = try await transcript(of: summary.id) else {
            throw DeviceError(
                .missing, "export", "recording \(summary.id): was deleted in the meantime; there is nothing to do")
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
            shouldStop: shouldStop,
            progress: { [progress] reached in
                progress(
                    CopyProgress(
                        recording: summary.id, ordinal: ordinal, count: count, reached: reached, length: length))
            }, history: history, signer: signer, original: try source.original())
    }

    /// Returns the texts of all readable copies that the ledger lists on the target.
    private func texts(of all: [RecordingSummary], _ known: KnownCopies<CopyName>) async throws -> IndexTexts {
        var texts = IndexTexts()
        for summary in all where known.copies[summary.id] != nil && !summary.isSealed {
            guard let (summary, timeline) = try await transcript(of: summary.id) else { continue }
            texts.add(summary, timeline)
        }
        return texts
    }

    private func transcript(of recording: Int) async throws -> (RecordingSummary, Timeline)? {
        try await archive.transcript(of: recording).map { ($0, try punctuator?.punctuated($1) ?? $1) }
    }

    private func addLists(
        to report: CopyReport, _ index: CopyIndex, _ plottedPasses: [PlottedPass], all: [RecordingSummary]
    ) async throws -> CopyReport {
        var report = report
        do {
            let result = resultText(report, of: all)
            try await onThread(named: "copy") {
                let page = try indexPage(index.entries(), passes: plottedPasses)
                let top = index.exportFolder.top
                try top.replaceText(Self.listName, with: page)
                try top.replaceText("RESULT.txt", with: result)
                try top.syncFileSystem()
            }
        } catch let error as DeviceError {
            report.listsError = error
        }
        return report
    }
}
