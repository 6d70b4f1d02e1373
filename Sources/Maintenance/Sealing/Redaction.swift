import Archive
import Audio
import Copying
import Core
import Glibc
import Recognition
import System

/// Redacts a range of a recording: replaces the sound with silence, removes the text, and adds a gap with the cause
/// `redacted`.
///
/// A power cut does no harm: a file in the recording's folder marks a redaction that has begun. Until the gap is added,
/// sound and text are unchanged; after that, the next check of the recording completes the redaction. A flash card may
/// keep old blocks that only the card itself can access.
package struct Redaction: Sendable {
    private let storage: String
    private let archive: SQLiteArchive

    /// - Parameter storage: the storage directory, which contains the folder `recordings`.
    package init(storage: String, archive: SQLiteArchive) {
        self.storage = storage
        self.archive = archive
    }

    /// Redacts a range of a recording that has ended. If the request has no recording, redacts the latest one.
    ///
    /// - Returns: the recording's ID, and messages for the user.
    package func redact(_ request: RedactionRequest) async throws -> (recording: Int, notes: [String]) {
        let all = try await archive.recordings()
        let matching = request.recording.map { id in all.filter { $0.id == id } } ?? all
        guard let recording = matching.last else {
            let reason = request.recording.map { "recording \($0): not in the archive" } ?? "there is no recording"
            throw DeviceError(.missing, "redact", "\(reason); nothing was redacted; see fieldscribe list")
        }
        let pauses = try await archive.gaps(of: recording.id).paused
        let range = try request.range(of: recording.id, upTo: recording.length, pauses: pauses)
        return (recording.id, try await redact(range, of: recording.id))
    }

    /// Redacts a range that is completely on the disk.
    ///
    /// - Parameter isGrowing: whether the recording continues; its checksums are then computed again after its end.
    /// - Returns: messages for the user: copies and files that may still contain the redacted words.
    /// - Throws: `DeviceError` with the file's name. If the redaction has begun, it is completed later.
    package func redact(_ range: SampleRange, of id: Int, isGrowing: Bool = false) async throws -> [String] {
        guard let recording = try await archive.recordings().first(where: { $0.id == id }) else {
            throw DeviceError(.missing, "redact", "recording \(id): not in the archive; see fieldscribe list")
        }
        if recording.isSealed {
            throw DeviceError(
                .denied, "redact",
                "recording \(id): is sealed, so the recorder can neither read nor change it; delete it, or open a copy")
        }
        if await archive.sealing.contains(id) {
            throw DeviceError(
                .denied, "redact",
                "recording \(id): is being sealed, so it can no longer be redacted; delete it, or open a copy")
        }
        let folder = try RecordingFolder.open(id, in: storage)
        if try !folder.exists(RecordingFolder.redactionName) {
            try folder.replace(RecordingFolder.redactionName, with: [])
        }
        // A voice may have been learned from the range; it is learned again from the rest of the recording.
        try VoiceprintStore.drop(id, in: storage)
        try await archive.add(Gap(range, cause: .redacted), recording: id)
        // Another redaction may have been completed in the meantime, which removes the file.
        let notes = try await complete(id, isGrowing: isGrowing, isBegun: true) ?? []
        return notes + (try await remainingCopies(id, in: folder))
    }

    /// Completes a redaction that has begun, if any.
    ///
    /// - Returns: whether there was one.
    @discardableResult
    package func finish(_ id: Int) async throws -> Bool { try await complete(id) != nil }

    /// Completes a redaction.
    ///
    /// - Parameter isBegun: whether a redaction is known to have begun. If false, the file in the recording's folder
    ///   decides.
    /// - Returns: messages about removed words and files; nil if there was nothing to complete.
    private func complete(_ id: Int, isGrowing: Bool = false, isBegun: Bool = false) async throws -> [String]? {
        var notes: [String] = []
        guard
            let folder = try unlessMissing(
                nil, { () throws(DeviceError) in try RecordingFolder.open(id, in: storage) }),
            try isBegun || folder.exists(RecordingFolder.redactionName)
        else { return nil }
        let audio = RecordingFolder(storage: storage, recording: id).audio
        while true {
            let ranges = try await archive.gaps(of: id).redacted
            if !ranges.isEmpty {
                try await archive.redact(recording: id)
                notes += LearnedVocabulary(storage: storage).forget(
                    id, keeping: try await Learning.correctedKeys(in: id, of: archive))
                for name in try folder.names().filter(RecordingFolder.isOriginal).sorted() {
                    // A part of a compressed file cannot be silenced.
                    try folder.remove(name)
                    notes.append("\(folder.path)/\(name): the whole added file was erased")
                }
                if try folder.exists(RecordingFolder.audioName) {
                    try await onThread(named: "redaction") {
                        try SoundRedaction.silence(ranges, in: audio)
                        if !isGrowing { try RecordingSums.recompute(ranges, path: audio) }
                    }
                }
            }
            // The drive for laptops still has the redacted words. If this file is missing, the drive is made again
            // immediately.
            unlink(DriveContents.path(in: storage))
            if isGrowing { return notes }
            // Another redaction may have begun in the meantime.
            if try await archive.gaps(of: id).redacted == ranges { break }
        }
        try folder.remove(RecordingFolder.redactionName)
        try folder.sync()
        return notes
    }

    /// Returns messages about copies and files that may still contain the redacted words.
    private func remainingCopies(_ id: Int, in folder: Folder) async throws -> [String] {
        let (exports, history) = (try await archive.exports(of: id), try await archive.history(of: id).map(\.entry))
        let copies = Set(Self.current(exports, history).map { "\($0.folder) on the volume \($0.volume)" }).sorted()
        var notes = copies.map { "\($0): was copied earlier; the next copy to that volume replaces it" }
        let damagedJournals = try folder.names().filter { $0.hasPrefix("journal.jsonl.damaged-") }.sorted()
        notes += damagedJournals.map {
            "\(folder.path)/\($0): a damaged journal that was set aside may still contain the text; remove it once you "
                + "no longer need it"
        }
        return notes
            + (try Erasure.damagedDatabases(in: storage)).map {
                "\($0): a damaged database that was set aside may still contain the text; remove it once you no longer "
                    + "need it"
            }
    }

    /// Returns the copies that no later copy has replaced. A copy made after a redaction replaces all earlier copies on
    /// its volume. The history determines the order, because clocks may be wrong.
    static func current(_ exports: [ExportEntry], _ history: [HistoryEntry]) -> [ExportEntry] {
        let redactions = history.filter { $0.act == .redacted }.map(\.number)
        let numbered = exports.map { (export: $0, number: $0.number(in: history)) }
        return numbered.filter { earlier in
            !numbered.contains { later in
                later.export.volume == earlier.export.volume
                    && redactions.contains { earlier.number < $0 && $0 < later.number }
            }
        }.map(\.export)
    }

    /// Returns whether a redaction of a recording has begun but is not complete; true if that cannot be determined.
    static func isInProgress(_ id: Int, in storage: String) -> Bool {
        (try? RecordingFolder.open(id, in: storage).exists(RecordingFolder.redactionName)) ?? true
    }
}
