import Core
import System

extension FolderExport {
    /// Makes the drive's file system hold these recordings and no others.
    ///
    /// - Parameters:
    ///   - recordings: their numbers, in the order in which they are copied.
    ///   - path: where the drive's file system is mounted.
    /// - Returns: as `copy(_:to:)`; of what failed, nothing is there.
    /// - Throws: as `copy(_:to:)`.
    package func fillDrive(_ recordings: [Int], at path: String) async throws -> CopyReport {
        let wanted = Set(recordings)
        _ = try await onThread(named: "copy") { try prune(path) { wanted.contains($0.recording) } }
        var report = try await copy(recordings, to: path)
        // Copies that nothing is known of, from a moment in which the power went: the list is not to lead to them.
        let places = Set((report.copied + report.kept).map(\.folder))
        let rest = report
        if try await onThread(named: "copy", { try prune(path) { places.contains($0.place) } }), recipients == nil {
            report = try await copy(recordings, to: path)
            report.copied = rest.copied
            report.kept = rest.kept
        }
        return report
    }

    /// Removes copies of this recorder from its drive; returns whether there were any to remove.
    private func prune(
        _ path: String, unless stays: ((recording: Int, place: String)) -> Bool
    ) throws(DeviceError) -> Bool {
        let root = try Folder(opening: path, gate: gate)
        if recipients != nil {
            let sealed = try SealedFolder(in: root, identity: settings.identity)
            return try Self.prune(sealed.folder, sealed.name, stays) { SealedName($0)?.recording }
        }
        let clear = try ExportFolder(in: root, device: settings.device, identity: settings.identity)
        return try Self.prune(clear.folder, clear.device.text, stays) { CopyName($0)?.recording }
    }

    private static func prune(
        _ folder: Folder, _ folderName: String, _ stays: ((recording: Int, place: String)) -> Bool,
        recording: (String) -> Int?
    ) throws(DeviceError) -> Bool {
        var hasPruned = false
        for name in try folder.names() {
            guard let recording = recording(name), !stays((recording, "\(folderName)/\(name)")) else { continue }
            try folder.removeAll(name)
            hasPruned = true
        }
        if hasPruned { try folder.sync() }
        return hasPruned
    }
}
