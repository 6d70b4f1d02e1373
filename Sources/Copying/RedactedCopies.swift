import Audio
import Core
import System

/// Removes copies made before a redaction once a current copy is on the volume. Files that a person has changed or
/// added stay, and so does everything that the ledger does not list. Blocks.
struct RedactedCopies: Sendable {
    /// The folder `Fieldscribe` on the volume, locked.
    let top: Folder
    let shouldStop: @Sendable () -> Bool

    /// Removes outdated copies.
    ///
    /// - Parameters:
    ///   - outdated: the copies' entries in the ledger, oldest first.
    ///   - newer: the paths of the recording's copies made since the redaction, as in the ledger.
    /// - Returns: whether files that somebody has changed or added remain in a copy, or a whole copy that the ledger
    ///   does not list as it is now.
    func remove(_ outdated: [ExportEntry], newer: Set<String>) throws(DeviceError) -> Bool {
        var hasRemainingFiles = false
        // If the texts of a copy were replaced, only its last entry has its manifest.
        for entry in outdated.reversed() {
            let components = entry.folder.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
            guard components.count == 2 else { continue }
            do throws(DeviceError) {
                guard try top.exists(components[0]) else { continue }
                let folder = try top.folder(components[0])
                if SealedManifest(entry.manifest) != nil {
                    if let name = SealedName(components[1]),
                        try folder.manifest(of: KnownCopies.Copy(name: name, entry: entry)) != nil
                    {
                        try folder.removeSealed(name)
                    }
                } else if CopyName(components[1]) != nil, try !remove(entry, components[1], from: folder) {
                    hasRemainingFiles = true
                }
                // Somebody has changed the copy, or power failed before the ledger listed its new texts.
                if !newer.contains(entry.folder), try folder.exists(components[1]) { hasRemainingFiles = true }
            } catch {
                guard error.isForeignEntry else { throw error }
            }
        }
        return hasRemainingFiles
    }

    /// Removes a readable copy if its manifest is the one in the ledger. Returns false if some of its files remain.
    private func remove(_ entry: ExportEntry, _ name: String, from folder: Folder) throws(DeviceError) -> Bool {
        let newName = try folder.renamedCopies()[entry.manifest]
        for name in [name, newName].compactMap({ $0 }) where try folder.exists(name) {
            let copy = try folder.folder(name)
            guard let manifest = try Manifest(in: copy), manifest.digest == entry.manifest else { continue }
            guard try RecordingCopy.remove(manifest, from: copy, shouldStop: shouldStop) else { return false }
            try folder.removeFolder(name)
            try folder.sync()
        }
        return true
    }
}

extension FolderExport {
    /// Removes a recording's copies that were made before a redaction, except the current copy.
    ///
    /// - Parameters:
    ///   - current: the current copy.
    ///   - entries: the ledger's entries for the volume.
    func removeRedacted(
        of id: Int, except current: (folder: String, manifest: String), _ entries: [ExportEntry],
        _ history: [HistoryEntry], below top: Folder, _ report: inout CopyReport
    ) async throws {
        let outdated = entries.filter {
            $0.recording == id && ($0.folder, $0.manifest) != (current.folder, current.manifest)
        }.beforeRedaction(in: history)
        if outdated.isEmpty { return }
        let newer = Set(
            entries.filter { $0.recording == id && !outdated.contains($0) }.map(\.folder) + [current.folder])
        // Encrypted copies have no list, but the list of earlier readable copies contains the redacted text.
        let (copies, isReadable) = (RedactedCopies(top: top, shouldStop: shouldStop), recipients == nil)
        let hasRemainingFiles = try await onThread(named: "copy", niceness: 5) { () throws(DeviceError) -> Bool in
            if !isReadable, outdated.contains(where: { SealedManifest($0.manifest) == nil }) {
                try top.remove(Self.listName)
                try top.sync()
            }
            return try copies.remove(outdated, newer: newer)
        }
        if hasRemainingFiles { report.keptAfterRedaction.insert(id) }
    }

    static let listName = "index.html"

    static let maximumAttempts = 3

    /// Waits until no redaction of the recording is in progress, so that sound and text match.
    ///
    /// - Throws: `DeviceError` with `busy` after 10 s; with `ECANCELED` if copying was stopped.
    func waitForRedaction(_ id: Int) async throws {
        let audio = audioPath(id)
        let folder = System.folder(of: audio)
        var poll = 0
        while pathExists("\(folder)/\(RecordingFolder.redactionName)") {
            poll += 1
            if shouldStop() { throw Copying.interrupted }
            guard poll < 100 else {
                throw DeviceError(
                    .busy, "export", on: "recording \(id)", "is being redacted",
                    remedy: "copy again in a minute; if the appliance is not running, first run fieldscribe recover"
                )
            }
            try await Task.sleep(for: .milliseconds(100))
        }
    }

    /// Returns the ledger entry for a copy, and whether the recording was redacted since its text was read. If so, the
    /// copy is outdated, and its entry has no pass.
    func entry(
        of job: RecordingCopy, pass: Int?, in folder: String, _ manifest: String
    ) async throws -> (entry: ExportEntry, isRedacted: Bool) {
        let history = try await archive.history(of: job.summary.id)
        let isRedacted = history.map(\.entry).redactions != job.history.map(\.entry).redactions
        var entry = ExportEntry(
            recording: job.summary.id, pass: isRedacted ? nil : pass, volume: settings.volume, folder: folder,
            manifest: manifest, exportedAt: settings.now)
        entry.redactionCount = job.timeline.gaps.redacted.count
        return (entry, isRedacted)
    }
}

extension Array where Element == HistoryEntry {
    fileprivate var redactions: Int { count { $0.act == .redacted } }
}
