import Archive
import Audio
import Core
import Glibc
import Recognition
import System

/// Erases recordings: audio, text, index entries, journal and ledger entries. If the process is killed, the next start
/// or the idle appliance completes the erasure.
///
/// A flash card may keep old blocks that only the card itself can access.
package struct Erasure: Sendable {
    /// The result of an erasure.
    package struct Outcome: Sendable {
        var erased: [Int] = []
        /// The errors by recording ID. If only files could not be removed, the text is erased, and removing the files
        /// is tried again later. If the folder could not be renamed, nothing was erased.
        package var failures: [Int: DeviceError] = [:]
    }

    private static let prefix = ".erasing-"

    private let storage: String
    private let archive: SQLiteArchive

    /// - Parameter storage: the storage directory, which contains the folder `recordings`.
    package init(storage: String, archive: SQLiteArchive) {
        self.storage = storage
        self.archive = archive
    }

    /// Erases recordings, and folders of recordings that are not in the archive. If one fails, the others are still
    /// erased. Also removes words that were learned only from corrections in these recordings.
    ///
    /// - Parameter recording: the IDs of recordings that have not ended.
    /// - Returns: messages for the user: removed words, and files that may still contain the text.
    /// - Throws: `DeviceError` with `busy` if a recording has not ended; nothing is erased then. Otherwise the first
    ///   failure.
    @discardableResult
    package func erase(_ ids: [Int], recording: Set<Int> = []) async throws -> [String] {
        if let busy = ids.first(where: recording.contains) {
            throw DeviceError(.busy, "delete", "recording \(busy): is being recorded; stop it first, then delete it")
        }
        // Removes words first, because later it is unknown where they were learned.
        let notes = ids.flatMap { LearnedVocabulary(storage: storage).forget($0, keeping: []) }
        let failures = try await eraseFiles(ids).failures
        if let error = ids.compactMap({ failures[$0] }).first { throw error }
        return notes
            + (try Self.damagedDatabases(in: storage)).map {
                "\($0): a damaged database that was set aside may still contain the text; remove it once you no longer "
                    + "need it"
            }
    }

    /// Erases recordings without removing their learned words.
    func eraseFiles(_ ids: [Int]) async throws -> Outcome {
        let folder = try recordingsFolder()
        var failures: [Int: DeviceError] = [:]
        // The folders are renamed first, so that no later start treats them as recordings.
        for id in ids {
            do throws(DeviceError) {
                try rename(id, in: folder)
            } catch { failures[id] = error }
        }
        let renamed = ids.filter { failures[$0] == nil }
        try await archive.delete(recordings: renamed)
        // Voices may have been learned from the recordings.
        for id in renamed {
            do throws(DeviceError) { try VoiceprintStore.drop(id, in: storage) } catch { failures[id] = error }
        }
        failures.merge(try removeFolders(renamed, from: folder).failures) { first, _ in first }
        return Outcome(erased: ids.filter { failures[$0] == nil }, failures: failures)
    }

    /// Returns whether a recording was erased or is being erased, so that failing to read or write it is not a fault.
    package static func hasErased(_ id: Int, storage: String, archive: any ArchiveReading) async -> Bool {
        // An erasure renames the folder before it deletes the row, and removes the folder after that.
        if access("\(storage)/recordings/\(prefix)\(id)", F_OK) == 0 { return true }
        guard let recordings = try? await archive.recordings() else { return false }
        return !recordings.contains { $0.id == id }
    }

    /// Returns the paths of damaged databases that were set aside. They may still contain erased text, so a person must
    /// remove them.
    package static func damagedDatabases(in storage: String) throws(DeviceError) -> [String] {
        try names(inFolder: storage).filter { $0.hasPrefix("archive.sqlite.damaged-") }.map { "\(storage)/\($0)" }
    }

    /// Returns a finding for each damaged database that was set aside, if any recording is sealed: the database may
    /// still contain the recording's readable text.
    package func findingsBesideSealed() async throws -> [StorageFinding] {
        guard try await archive.recordings().contains(where: \.isSealed) else { return [] }
        return try Self.damagedDatabases(in: storage).map {
            StorageFinding(
                .damaged, file: $0,
                "a damaged database that was set aside may still contain readable text of sealed recordings; remove it "
                    + "once you no longer need it")
        }
    }

    /// Completes erasures that were interrupted or failed. One that fails again does not affect the others.
    package func finishInterrupted() async throws -> Outcome {
        guard let folder = try recordingsFolder() else { return Outcome() }
        let interrupted = try folder.names().compactMap(Self.recording).sorted()
        guard !interrupted.isEmpty else { return Outcome() }
        // If there is a folder with the original name, that is another recording, and only the renamed folder is
        // removed.
        let erased = try interrupted.filter { try !folder.exists(RecordingFolder.name(of: $0)) }
        if !erased.isEmpty { try await archive.delete(recordings: erased) }
        for id in erased { try VoiceprintStore.drop(id, in: storage) }
        return try removeFolders(interrupted, from: folder)
    }

    private func recordingsFolder() throws(DeviceError) -> Folder? {
        try unlessMissing(nil) { () throws(DeviceError) in
            try Folder(opening: storage, crossesMounts: true).folder("recordings")
        }
    }

    private func rename(_ id: Int, in folder: Folder?) throws(DeviceError) {
        let name = RecordingFolder.name(of: id)
        guard let folder, try folder.exists(name) else { return }
        // The interrupted erasure of an earlier recording with the same ID may have left a renamed folder.
        var ordinal = 1
        while try folder.exists(Self.name(of: id, ordinal)) { ordinal += 1 }
        try folder.rename(name, toUnused: Self.name(of: id, ordinal))
        try folder.sync()
    }

    /// Removes renamed folders with their contents, and anything else with such a name.
    private func removeFolders(_ ids: [Int], from folder: Folder?) throws(DeviceError) -> Outcome {
        var outcome = Outcome()
        guard let folder else { return outcome }
        for name in try folder.names().sorted() {
            guard let id = Self.recording(name), ids.contains(id) else { continue }
            do throws(DeviceError) { try folder.removeAll(name) } catch {
                // Another process may have removed the folder in the meantime.
                if error.code != .missing { outcome.failures[id] = outcome.failures[id] ?? error }
            }
            if !outcome.erased.contains(id) { outcome.erased.append(id) }
        }
        outcome.erased.removeAll { outcome.failures[$0] != nil }
        if !outcome.erased.isEmpty { try folder.sync() }
        return outcome
    }

    private static func name(of id: Int, _ ordinal: Int) -> String {
        "\(prefix)\(id)\(ordinal > 1 ? "-\(ordinal)" : "")"
    }

    /// Returns the ID of the recording that a renamed folder belonged to.
    private static func recording(_ name: String) -> Int? {
        guard name.hasPrefix(prefix), let digits = name.dropFirst(prefix.count).split(separator: "-").first else {
            return nil
        }
        return Int(digits).flatMap { $0 > 0 ? $0 : nil }
    }
}
