import Core
import Glibc
import Platform
import SQLiteArchive

/// Erases recordings: audio, text, index entries, journal and ledger. Safe against a kill: what was begun is completed on
/// the next start.
///
/// No promise about the flash underneath: a card may keep old blocks for itself.
package struct Erasure: Sendable {
    private static let prefix = ".erasing-"

    private let recordings: String
    private let storage: String
    private let archive: any ArchiveUpkeep

    package init(storage: String, archive: any ArchiveUpkeep) {
        self.storage = storage
        self.archive = archive
        recordings = "\(storage)/recordings"
    }

    /// Erases; a number that is not in the archive erases a folder of that number, if there is one.
    ///
    /// - Parameter recording: the one that is being recorded now, where one is.
    /// - Throws: `DeviceError` with `busy` where that is among them; then nothing is erased.
    package func erase(_ ids: [Int], recording: Int? = nil) async throws {
        if let recording, ids.contains(recording) {
            throw DeviceError(
                .busy, "delete", "recording \(recording): is being recorded; stop it first, then delete it")
        }
        // The name first: once it is gone no start takes the folder for a recording again.
        for id in ids {
            let path = RecordingFolder(storage: storage, recording: id).path
            if access(path, F_OK) == 0 { try durableRename(path, to: "\(recordings)/\(Self.prefix)\(id)") }
        }
        try await finish(ids)
    }

    /// Whether a recording was erased, or its erasure is under way: what then fails to read or to write it is no fault.
    static func hasTaken(_ id: Int, storage: String, archive: any ArchiveReading) async -> Bool {
        // The folder goes first and comes back under another name; the row goes last.
        if access("\(storage)/recordings/\(prefix)\(id)", F_OK) == 0 { return true }
        guard let recordings = try? await archive.recordings() else { return false }
        return !recordings.contains { $0.id == id }
    }

    /// Damaged databases that were set aside: they may still hold erased text, and are for a person to remove.
    package func keptAside() throws -> [String] {
        try names(inFolder: storage).filter { $0.hasPrefix("archive.sqlite.damaged-") }.map { "\(storage)/\($0)" }
    }

    /// Completes what a kill interrupted; returns the recordings.
    package func finishInterrupted() async throws -> [Int] {
        let ids = try names(inFolder: recordings).filter { $0.hasPrefix(Self.prefix) }.compactMap {
            Int($0.dropFirst(Self.prefix.count))
        }
        if !ids.isEmpty { try await finish(ids) }
        return ids
    }

    private func finish(_ ids: [Int]) async throws {
        try await archive.delete(recordings: ids)
        for id in ids where access("\(recordings)/\(Self.prefix)\(id)", F_OK) == 0 {
            try removeFolder("\(recordings)/\(Self.prefix)\(id)")
        }
    }
}
