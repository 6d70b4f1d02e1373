import Archive
import Audio
import Core
import Glibc
import Recognition
import System

/// Erases recordings: audio, text, index entries, journal and ledger. A kill is safe: the next start, or the idle
/// appliance, completes it.
///
/// A flash card may keep old blocks that only the card can reach.
package struct Erasure: Sendable {
    /// The result of erasing.
    package struct Outcome: Sendable {
        var erased: [Int] = []
        /// Recordings with files that cannot be removed, and why: their text is gone, and removing the files is tried
        /// again.
        package var refused: [Int: DeviceError] = [:]
    }

    private static let prefix = ".erasing-"

    private let storage: String
    private let archive: SQLiteArchive

    /// - Parameter storage: the storage directory, with the folder `recordings` in it.
    package init(storage: String, archive: SQLiteArchive) {
        self.storage = storage
        self.archive = archive
    }

    /// Erases recordings for a person; a number that is not in the archive erases a folder of that number. Tries all
    /// numbers. Words that were corrected only in these recordings are no longer preferred.
    ///
    /// - Parameter recording: those that have not ended.
    /// - Returns: what to tell the user: removed words, and files that may still have the text.
    /// - Throws: `DeviceError` with `busy` if one of `recording` is among them; nothing is then erased. Otherwise the
    ///   first reason why something could not be removed.
    @discardableResult
    package func erase(_ ids: [Int], recording: Set<Int> = []) async throws -> [String] {
        if let busy = ids.first(where: recording.contains) {
            throw DeviceError(.busy, "delete", "recording \(busy): is being recorded; stop it first, then delete it")
        }
        // Done first: afterwards, the words to remove are unknown.
        let notes = ids.flatMap { LearnedVocabulary(storage: storage).forget($0, keeping: []) }
        let refused = try await eraseFiles(ids).refused
        if let error = ids.compactMap({ refused[$0] }).first { throw error }
        return notes
            + (try Self.damagedDatabases(in: storage)).map {
                "\($0): a damaged database that was set aside may still contain the text; remove it once you do not need it"
            }
    }

    /// Erases recordings without removing their words; returns what failed.
    func eraseFiles(_ ids: [Int]) async throws -> Outcome {
        let folder = try top()
        var refused: [Int: DeviceError] = [:]
        // Rename first: then no start treats the folder as a recording.
        for id in ids {
            do throws(DeviceError) {
                try rename(id, in: folder)
            } catch { refused[id] = error }
        }
        let gone = ids.filter { refused[$0] == nil }
        try await archive.delete(recordings: gone)
        // A voice may have been learned from it.
        for id in gone {
            do throws(DeviceError) { try VoiceprintStore.drop(id, in: storage) } catch { refused[id] = error }
        }
        refused.merge(try removed(gone, from: folder).refused) { first, _ in first }
        return Outcome(erased: ids.filter { refused[$0] == nil }, refused: refused)
    }

    /// Whether a recording is erased or being erased, so that failing to read or write it is not a fault.
    package static func hasTaken(_ id: Int, storage: String, archive: any ArchiveReading) async -> Bool {
        // The folder is renamed first, and the row is deleted last.
        if access("\(storage)/recordings/\(prefix)\(id)", F_OK) == 0 { return true }
        guard let recordings = try? await archive.recordings() else { return false }
        return !recordings.contains { $0.id == id }
    }

    /// Damaged databases that were set aside: they may still have erased text, and a person must remove them.
    package static func damagedDatabases(in storage: String) throws(DeviceError) -> [String] {
        try names(inFolder: storage).filter { $0.hasPrefix("archive.sqlite.damaged-") }.map { "\(storage)/\($0)" }
    }

    /// The same files if anything is sealed: they may still have its text unencrypted.
    package func keptBesideSealed() async throws -> [StorageFinding] {
        guard try await archive.recordings().contains(where: \.isSealed) else { return [] }
        return try Self.damagedDatabases(in: storage).map {
            StorageFinding(
                .damaged, file: $0,
                "a damaged database that was set aside may still contain readable text of sealed recordings; remove it "
                    + "once you do not need it")
        }
    }

    /// Completes erasures that were interrupted or failed. One that fails again does not affect the others.
    package func finishInterrupted() async throws -> Outcome {
        guard let folder = try top() else { return Outcome() }
        let begun = try folder.names().compactMap(Self.number).sorted()
        guard !begun.isEmpty else { return Outcome() }
        // If the number has a folder again, that is another recording: only the renamed one is removed.
        let gone = try begun.filter { try !folder.exists(RecordingFolder.name(of: $0)) }
        if !gone.isEmpty { try await archive.delete(recordings: gone) }
        for id in gone { try VoiceprintStore.drop(id, in: storage) }
        return try removed(begun, from: folder)
    }

    /// The folder of the recordings' folders; nil if it is missing.
    private func top() throws(DeviceError) -> Folder? {
        try unlessMissing(nil) { () throws(DeviceError) in
            try Folder(opening: storage, crosses: true).folder("recordings")
        }
    }

    private func rename(_ id: Int, in folder: Folder?) throws(DeviceError) {
        let name = RecordingFolder.name(of: id)
        guard let folder, try folder.exists(name) else { return }
        // Also removes an earlier recording's remains under that number.
        var turn = 1
        while try folder.exists(Self.name(of: id, turn)) { turn += 1 }
        try folder.rename(name, toFree: Self.name(of: id, turn))
        try folder.sync()
    }

    /// Removes renamed folders with their contents, and anything else with such a name.
    private func removed(_ ids: [Int], from folder: Folder?) throws(DeviceError) -> Outcome {
        var outcome = Outcome()
        guard let folder else { return outcome }
        for name in try folder.names().sorted() {
            guard let id = Self.number(name), ids.contains(id) else { continue }
            do throws(DeviceError) { try folder.removeAll(name) } catch {
                // Another process may have removed it as well.
                if error.code != .missing { outcome.refused[id] = outcome.refused[id] ?? error }
            }
            if !outcome.erased.contains(id) { outcome.erased.append(id) }
        }
        outcome.erased.removeAll { outcome.refused[$0] != nil }
        if !outcome.erased.isEmpty { try folder.sync() }
        return outcome
    }

    private static func name(of id: Int, _ turn: Int) -> String { "\(prefix)\(id)\(turn > 1 ? "-\(turn)" : "")" }

    /// The recording that a renamed folder belonged to.
    private static func number(_ name: String) -> Int? {
        guard name.hasPrefix(prefix), let digits = name.dropFirst(prefix.count).split(separator: "-").first else {
            return nil
        }
        return Int(digits).flatMap { $0 > 0 ? $0 : nil }
    }
}
