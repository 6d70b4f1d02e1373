import Core
import System

extension FolderExport {
    /// Copies recordings to the drive and removes all others from it.
    ///
    /// - Parameters:
    ///   - recordings: the IDs, in the order in which to copy them.
    ///   - path: where the drive is mounted.
    /// - Returns: the same as `copy(_:to:)`; a recording that failed is not on the drive.
    /// - Throws: the same as `copy(_:to:)`.
    package func fillDrive(_ recordings: [Int], at path: String) async throws -> CopyReport {
        let chosen = Set(recordings)
        _ = try await onThread(named: "copy") { try prune(path) { chosen.contains($0.recording) } }
        var report = try await copy(recordings, to: path)
        // After a power cut, there may be copies that are not in the ledger. The list must not link to them.
        let folders = Set((report.copied + report.keptCopies).map(\.folder))
        let firstReport = report
        if try await onThread(named: "copy", { try prune(path) { folders.contains($0.folder) } }), recipients == nil {
            report = try await copy(recordings, to: path)
            report.copied = firstReport.copied
            report.keptCopies = firstReport.keptCopies
        }
        return report
    }

    /// Removes this recorder's copies from its drive.
    ///
    /// - Parameter shouldKeep: returns whether a copy stays.
    /// - Returns: whether any were removed.
    private func prune(
        _ path: String, unless shouldKeep: ((recording: Int, folder: String)) -> Bool
    ) throws(DeviceError) -> Bool {
        let (device, identity, isEncrypted) = (settings.device, settings.identity, recipients != nil)
        let copies = try CopyFolder(
            in: Folder(opening: path, gate: gate), device: device, identity: identity, isEncrypted: isEncrypted)
        var hasRemovedCopies = false
        for name in try copies.folder.names() {
            let recording = isEncrypted ? SealedName(name)?.recording : CopyName(name)?.recording
            guard let recording, !shouldKeep((recording, "\(copies.device.text)/\(name)")) else { continue }
            try copies.folder.removeAll(name)
            hasRemovedCopies = true
        }
        if hasRemovedCopies { try copies.folder.sync() }
        return hasRemovedCopies
    }
}
