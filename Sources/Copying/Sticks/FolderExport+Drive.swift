import Core
import System

extension FolderExport {
    /// Copies recordings to the drive and removes all others from it.
    ///
    /// - Parameters:
    ///   - recordings: the numbers, in the order of copying.
    ///   - path: where the drive is mounted.
    /// - Returns: as `copy(_:to:)`; a recording that failed is not on the drive.
    /// - Throws: as `copy(_:to:)`.
    package func fillDrive(_ recordings: [Int], at path: String) async throws -> CopyReport {
        let wanted = Set(recordings)
        _ = try await onThread(named: "copy") { try prune(path) { wanted.contains($0.recording) } }
        var report = try await copy(recordings, to: path)
        // Copies that the ledger lacks after a power cut: the list must not lead to them.
        let places = Set((report.copied + report.kept).map(\.folder))
        let rest = report
        if try await onThread(named: "copy", { try prune(path) { places.contains($0.place) } }), recipients == nil {
            report = try await copy(recordings, to: path)
            report.copied = rest.copied
            report.kept = rest.kept
        }
        return report
    }

    /// Removes copies of this recorder from its drive.
    ///
    /// - Returns: whether any were removed.
    private func prune(
        _ path: String, unless stays: ((recording: Int, place: String)) -> Bool
    ) throws(DeviceError) -> Bool {
        let (device, identity, isEncrypted) = (settings.device, settings.identity, recipients != nil)
        let copies = try CopyFolder(
            in: Folder(opening: path, gate: gate), device: device, identity: identity, isEncrypted: isEncrypted)
        var hasPruned = false
        for name in try copies.folder.names() {
            let recording = isEncrypted ? SealedName(name)?.recording : CopyName(name)?.recording
            guard let recording, !stays((recording, "\(copies.device.text)/\(name)")) else { continue }
            try copies.folder.removeAll(name)
            hasPruned = true
        }
        if hasPruned { try copies.folder.sync() }
        return hasPruned
    }
}
