import Core
import System
import Transcripts

/// One run of copies to a folder.
struct CopySession<Name: CopyNaming> {
    let folder: CopyFolder
    let thread = WorkThread(named: "copy", niceness: 5)
    /// What the ledger lists for the volume.
    var entries: [ExportEntry]
    var known: KnownCopies<Name>
    var report = CopyReport()

    init(_ folder: CopyFolder, _ entries: [ExportEntry]) {
        (self.folder, self.entries) = (folder, entries)
        known = KnownCopies(entries, device: folder.device)
    }
}

extension FolderExport {
    /// Copies a recording unless a current copy is there.
    ///
    /// - Parameters:
    ///   - pass: the pass whose whole text is copied.
    ///   - writer: called on the session's thread.
    /// - Returns: whether the recording was redacted meanwhile, so that it has to be copied again.
    func place<Writer: CopyWriter>(
        _ job: RecordingCopy, _ pass: Int?, in session: inout CopySession<Writer.Name>,
        writer: @escaping @Sendable () throws -> Writer
    ) async throws -> Bool {
        let placed = try await place(
            job.summary.id, job.history.map(\.entry), in: &session,
            written: settings.formats.isEmpty ? nil : unwrittenText(job.timeline), writer: writer)
        guard let manifest = placed.manifest ?? placed.entry?.manifest(unlessOf: pass) else { return false }
        let (entry, isRedacted) = try await entry(
            of: job, pass: pass, in: "\(session.folder.device.text)/\(placed.name.text)", manifest)
        try await add(entry, of: placed, to: &session)
        return isRedacted
    }

    /// Copies a recording and removes its copies from before a redaction; the ledger does not list the copy yet.
    ///
    /// - Parameter written: the extent of the text; nil if it is complete.
    func place<Writer: CopyWriter>(
        _ recording: Int, _ history: [HistoryEntry], in session: inout CopySession<Writer.Name>, written: String?,
        writer: @escaping @Sendable () throws -> Writer
    ) async throws -> PlacedCopy<Writer.Name> {
        let (folder, known) = (session.folder, session.known)
        let placed = try await session.thread.run {
            var placement = Placement(try writer(), in: folder, known: known)
            return try placement.run()
        }
        session.report.readPastCache = session.report.readPastCache && placed.isDirect
        let name = folder.device.text
        let manifest = placed.manifest ?? placed.entry?.manifest ?? ""
        // Before the ledger lists the new copy: after an interruption, the next run comes here again.
        try await removeRedacted(
            of: recording, but: ("\(name)/\(placed.name.text)", manifest), session.entries, history, below: folder.top,
            &session.report)
        session.report.add(
            CopyReport.Copy(
                recording: recording, folder: "\(name)/\(placed.place)", bytes: placed.bytes, written: written),
            isNew: placed.isNew)
        return placed
    }

    func add<Name>(
        _ entry: ExportEntry, of placed: PlacedCopy<Name>, to session: inout CopySession<Name>
    ) async throws {
        do { try await ledger?.add(entry) } catch {
            // Without an entry, nothing identifies an encrypted file later, and each copy would add another.
            if placed.isNew, session.folder.isEncrypted {
                session.report.copied.removeAll { $0.recording == entry.recording }
                if !placed.hasReplaced { try? session.folder.folder.remove(placed.name.text) }
            }
            throw error
        }
        session.known.add(entry)
        session.entries.append(entry)
    }
}
