import Audio
import Core
import System

/// Removes copies made before a redaction once a current copy is on the volume. Files that a person has changed or added stay, as
/// does everything that the ledger does not list. Blocks.
struct RedactedCopies: Sendable {
    /// `Fieldscribe` on the volume, locked.
    let top: Folder
    let shouldStop: @Sendable () -> Bool

    /// - Parameter outdated: the ledger's entries of such copies.
    /// - Returns: whether files were left.
    func remove(_ outdated: [ExportEntry]) throws(DeviceError) -> Bool {
        var isLeft = false
        for entry in outdated {
            let parts = entry.folder.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
            guard parts.count == 2 else { continue }
            do throws(DeviceError) {
                guard try top.exists(parts[0]) else { continue }
                let folder = try top.folder(parts[0])
                if SealedManifest(entry.manifest) != nil {
                    guard let name = SealedName(parts[1]),
                        try folder.manifest(of: KnownCopies.Copy(name: name, entry: entry)) != nil
                    else { continue }
                    try folder.removeSealed(name)
                } else if CopyName(parts[1]) != nil, try !remove(entry, parts[1], from: folder) {
                    isLeft = true
                }
            } catch {
                guard error.isOfForeignEntry else { throw error }
            }
        }
        return isLeft
    }

    /// Returns whether everything was removed.
    private func remove(_ entry: ExportEntry, _ name: String, from folder: Folder) throws(DeviceError) -> Bool {
        let other = try folder.renamedCopies()[entry.manifest]
        for place in [name, other].compactMap({ $0 }) where try folder.exists(place) {
            let copy = try folder.folder(place)
            guard let manifest = try Manifest(in: copy), manifest.digest == entry.manifest else { continue }
            guard try RecordingCopy.remove(manifest, from: copy, shouldStop: shouldStop) else { return false }
            try folder.removeFolder(place)
            try folder.sync()
        }
        return true
    }
}

extension FolderExport {
    /// Removes one recording's copies made before a redaction.
    ///
    /// - Parameters:
    ///   - kept: the current copy.
    ///   - known: the ledger's entries for the volume.
    func removeRedacted(
        of id: Int, but kept: (folder: String, manifest: String), _ known: [ExportEntry], _ history: [HistoryEntry],
        below top: Folder, _ report: inout CopyReport
    ) async throws {
        let outdated = known.filter {
            $0.recording == id && ($0.folder, $0.manifest) != (kept.folder, kept.manifest)
        }.beforeRedaction(in: history)
        if outdated.isEmpty { return }
        // Encrypted copies have no list; a list of earlier readable copies still has their text.
        let (copies, isClear) = (RedactedCopies(top: top, shouldStop: shouldStop), recipients == nil)
        let isLeft = try await onThread(named: "copy", niceness: 5) { () throws(DeviceError) -> Bool in
            if !isClear, outdated.contains(where: { SealedManifest($0.manifest) == nil }) {
                try top.remove(Self.listName)
                try top.sync()
            }
            return try copies.remove(outdated)
        }
        if isLeft { report.keptAfterRedaction.append(id) }
    }

    /// The list of all readable copies.
    static let listName = "index.html"

    /// How often a recording is copied if it is redacted in the meantime.
    static let maxAttempts = 3

    /// Waits until no redaction of the recording is in progress, so that sound and text match.
    func waitForRedaction(_ id: Int) async throws {
        let audio = audioPath(id)
        let folder = System.folder(of: audio)
        var poll = 0
        while isTaken("\(folder)/\(RecordingFolder.redactionName)") {
            poll += 1
            if shouldStop() { throw Copying.interrupted }
            guard poll < 100 else {
                throw DeviceError(
                    .busy, "export", on: "recording \(id)", "a part of it is being redacted",
                    remedy: "copy again in a minute; if the appliance is not running, first run fieldscribe recover"
                )
            }
            try await Task.sleep(for: .milliseconds(100))
        }
    }

    /// Returns the ledger entry of a copy, and whether the recording was redacted since the copy began, which makes its text outdated.
    func entry(
        of job: RecordingCopy, pass: Int?, in folder: String, _ manifest: String
    ) async throws -> (entry: ExportEntry, isRedacted: Bool) {
        let history = try await archive.history(of: job.summary.id)
        let isRedacted = history.map(\.entry).redactions != job.history.map(\.entry).redactions
        var entry = ExportEntry(
            recording: job.summary.id, pass: isRedacted ? nil : pass, volume: settings.volume, folder: folder,
            manifest: manifest, exportedAt: settings.now)
        entry.struck = job.timeline.gaps.redacted.count
        return (entry, isRedacted)
    }
}

extension Array where Element == HistoryEntry {
    fileprivate var redactions: Int { count { $0.act == .redacted } }
}
