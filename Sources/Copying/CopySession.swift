import Core
import System
import Transcripts

/// The state of one copy run.
struct CopySession<Name: CopyNaming> {
    let folder: CopyFolder
    let thread = WorkThread(named: "copy", niceness: 5)
    /// The ledger's entries for the volume.
    var entries: [ExportEntry]
    var known: KnownCopies<Name>
    var report = CopyReport()

    init(_ folder: CopyFolder, _ entries: [ExportEntry]) {
        (self.folder, self.entries) = (folder, entries)
        known = KnownCopies(entries, device: folder.device)
    }
}

extension FolderExport {
    /// Copies a recording unless the target already has a current copy.
    ///
    /// - Parameters:
    ///   - pass: the ID of the pass that is copied; nil if its transcript is incomplete or not copied.
    ///   - writer: creates the writer; called on the session's thread.
    /// - Returns: whether the recording was redacted in the meantime and has to be copied again.
    func place<Writer: CopyWriter>(
        _ job: RecordingCopy, _ pass: Int?, in session: inout CopySession<Writer.Name>,
        writer: @escaping @Sendable () throws -> Writer
    ) async throws -> Bool {
        let placed = try await place(
            job.summary.id, job.history.map(\.entry), in: &session,
            transcribedPart: settings.formats.isEmpty ? nil : transcriptionProgress(job.timeline), writer: writer)
        guard let manifest = placed.manifest ?? placed.entry?.manifest(unlessOf: pass) else { return false }
        let (entry, isRedacted) = try await entry(
            of: job, pass: pass, in: "\(session.folder.device.text)/\(placed.name.text)", manifest)
        try await add(entry, of: placed, to: &session)
        return isRedacted
    }

    /// Copies a recording and removes copies made before its last redaction. Does not add the copy to the ledger.
    ///
    /// - Parameter transcribedPart: see `CopyReport.Copy`.
    func place<Writer: CopyWriter>(
        _ recording: Int, _ history: [HistoryEntry], in session: inout CopySession<Writer.Name>,
        transcribedPart: String?, writer: @escaping @Sendable () throws -> Writer
    ) async throws -> PlacedCopy<Writer.Name> {
        let (folder, known) = (session.folder, session.known)
        let placed = try await session.thread.run {
            var placement = Placement(try writer(), in: folder, known: known)
            return try placement.run()
        }
        session.report.bypassedCache = session.report.bypassedCache && placed.isDirect
        let name = folder.device.text
        let manifest = placed.manifest ?? placed.entry?.manifest ?? ""
        // Removes old copies before the ledger lists the new one, so that the next run can complete an interrupted
        // removal.
        try await removeRedacted(
            of: recording, except: ("\(name)/\(placed.name.text)", manifest), session.entries, history,
            below: folder.top, &session.report)
        session.report.add(
            CopyReport.Copy(
                recording: recording, folder: "\(name)/\(placed.nameOnVolume)", bytes: placed.bytes,
                transcribedPart: transcribedPart),
            isNew: placed.isNew)
        return placed
    }

    func add<Name>(
        _ entry: ExportEntry, of placed: PlacedCopy<Name>, to session: inout CopySession<Name>
    ) async throws {
        do { try await ledger?.add(entry) } catch {
            // Later runs recognize an encrypted file only by its entry. Without one, each run would add another copy.
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
