import Archive
import Audio
import Core
import Glibc
import Settings
import System

/// Erases recordings: audio, text, index entries, journal and ledger. Safe against a kill: what was begun is completed on
/// the next start, or when the appliance rests.
///
/// No promise about the flash underneath: a card may keep old blocks for itself.
package struct Erasure: Sendable {
    /// What came of erasing.
    package struct Outcome: Sendable {
        /// The recordings that are gone.
        var erased: [Int] = []

        /// Those of which something cannot be removed, and why: their text is gone, and the rest is tried again.
        package var refused: [Int: DeviceError] = [:]
    }

    private static let prefix = ".erasing-"

    private let recordings: String
    private let storage: String
    private let archive: any ArchiveMaintenance

    /// - Parameter storage: the storage directory, with the folder `recordings` in it.
    package init(storage: String, archive: any ArchiveMaintenance) {
        self.storage = storage
        self.archive = archive
        recordings = "\(storage)/recordings"
    }

    /// Erases what a person wants erased; a number that is not in the archive erases a folder of that number, if there is one.
    /// All are tried. Words that people have corrected in these recordings alone are no longer preferred.
    ///
    /// - Parameter recording: the one that is being recorded now, where one is.
    /// - Returns: what a person should know besides: learned words that went, and files that may still hold the text.
    /// - Throws: `DeviceError` with `busy` where that is among them; then nothing is erased. Else the first reason why
    ///   something could not be removed, naming it.
    @discardableResult
    package func erase(_ ids: [Int], recording: Int? = nil) async throws -> [String] {
        try refuse(ids, recording: recording)
        // First: once a recording is gone, nothing says that its words are to go.
        let notes = ids.flatMap { LearnedVocabulary(storage: storage).forget($0, keeping: []) }
        let refused = try await tryToErase(ids, recording: recording).refused
        if let error = ids.compactMap({ refused[$0] }).first { throw error }
        return notes
            + (try keptAside()).map {
                "\($0): a damaged database, kept aside, may still hold the text; remove it once you do not need it"
            }
    }

    private func refuse(_ ids: [Int], recording: Int?) throws(DeviceError) {
        guard let recording, ids.contains(recording) else { return }
        throw DeviceError(.busy, "delete", "recording \(recording): is being recorded; stop it first, then delete it")
    }

    /// As `erase`, for who goes on with what could not be removed; learned words stay.
    func tryToErase(_ ids: [Int], recording: Int? = nil) async throws -> Outcome {
        try refuse(ids, recording: recording)
        let folder = try top()
        var refused: [Int: DeviceError] = [:]
        // The name first: once it is gone no start takes the folder for a recording again.
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

    /// Whether a recording was erased, or its erasure is under way: what then fails to read or to write it is no fault.
    package static func hasTaken(_ id: Int, storage: String, archive: any ArchiveReading) async -> Bool {
        // The folder goes first and comes back under another name; the row goes last.
        if access("\(storage)/recordings/\(prefix)\(id)", F_OK) == 0 { return true }
        guard let recordings = try? await archive.recordings() else { return false }
        return !recordings.contains { $0.id == id }
    }

    /// Damaged databases that were set aside: they may still hold erased text, and are for a person to remove.
    func keptAside() throws -> [String] {
        try names(inFolder: storage).filter { $0.hasPrefix("archive.sqlite.damaged-") }.map { "\(storage)/\($0)" }
    }

    /// The same, where anything is sealed: they may still have its text, for whoever has the card.
    package func keptBesideSealed() async throws -> [StorageFinding] {
        guard try await archive.recordings().contains(where: \.isSealed) else { return [] }
        return try keptAside().sorted().map {
            StorageFinding(
                .damaged, file: $0,
                "a damaged database, kept aside, may still have the text of recordings that are sealed, readable; remove it "
                    + "once you do not need it")
        }
    }

    /// Completes what a kill interrupted, or what could not be removed before. One that still cannot keeps no other from
    /// being erased.
    package func finishInterrupted() async throws -> Outcome {
        guard let folder = try top() else { return Outcome() }
        let begun = try folder.names().compactMap(Self.number).sorted()
        guard !begun.isEmpty else { return Outcome() }
        // A number that has a folder again is another recording's: only what was renamed goes.
        let gone = try begun.filter { try !folder.exists(RecordingFolder.name(of: $0)) }
        if !gone.isEmpty { try await archive.delete(recordings: gone) }
        for id in gone { try VoiceprintStore.drop(id, in: storage) }
        return try removed(begun, from: folder)
    }

    /// The folder of the recordings' folders; nil where there is none.
    private func top() throws(DeviceError) -> Folder? {
        do throws(DeviceError) {
            let (folder, name) = try Folder.holding(recordings, crosses: true)
            return try folder.folder(name)
        } catch {
            guard error.code == .missing else { throw error }
            return nil
        }
    }

    private func rename(_ id: Int, in folder: Folder?) throws(DeviceError) {
        let name = RecordingFolder.name(of: id)
        guard let folder, try folder.exists(name) else { return }
        // What is left of another recording of that number goes with it.
        var turn = 1
        while try folder.exists(Self.name(of: id, turn)) { turn += 1 }
        try folder.rename(name, toFree: Self.name(of: id, turn))
        try folder.sync()
    }

    /// Removes what was renamed: folders with all that is in them, and whatever else has such a name, itself.
    private func removed(_ ids: [Int], from folder: Folder?) throws(DeviceError) -> Outcome {
        var outcome = Outcome()
        guard let folder else { return outcome }
        for name in try folder.names().sorted() {
            guard let id = Self.number(name), ids.contains(id) else { continue }
            do throws(DeviceError) { try folder.removeAll(name) } catch {
                // Where somebody else erases it as well, that is as good.
                if error.code != .missing { outcome.refused[id] = outcome.refused[id] ?? error }
            }
            if !outcome.erased.contains(id) { outcome.erased.append(id) }
        }
        outcome.erased.removeAll { outcome.refused[$0] != nil }
        if !outcome.erased.isEmpty { try folder.sync() }
        return outcome
    }

    private static func name(of id: Int, _ turn: Int) -> String { "\(prefix)\(id)\(turn > 1 ? "-\(turn)" : "")" }

    /// The recording that a folder was of, by its name.
    private static func number(_ name: String) -> Int? {
        guard name.hasPrefix(prefix), let digits = name.dropFirst(prefix.count).split(separator: "-").first else {
            return nil
        }
        return Int(digits).flatMap { $0 > 0 ? $0 : nil }
    }
}
