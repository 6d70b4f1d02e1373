import Archive
import Audio
import Copying
import Core
import Glibc
import Settings
import System

/// Strikes a stretch of a recording: silence in the place of its sound, nothing in the place of its text, and a gap that says
/// that something was struck, never what.
///
/// Safe against a power cut: a file in the recording's folder says that one is under way. Without the gap nothing was struck
/// yet; with it, the next look at the recording does the rest. No promise about the flash underneath: a card may keep old blocks
/// for itself.
package struct Redaction: Sendable {
    private let storage: String
    private let archive: SQLiteArchive

    /// - Parameter storage: the storage directory, with the folder `recordings` in it.
    package init(storage: String, archive: SQLiteArchive) {
        self.storage = storage
        self.archive = archive
    }

    /// Strikes what a person orders of a recording that does not go on; without a number, of the latest.
    ///
    /// - Returns: which recording that was, and what a person should know besides.
    package func strike(_ order: RedactionOrder) async throws -> (recording: Int, notes: [String]) {
        let known = try await archive.recordings()
        let named = order.recording.map { id in known.filter { $0.id == id } } ?? known
        guard let recording = named.last else {
            let what = order.recording.map { "recording \($0): not in the archive" } ?? "there is no recording"
            throw DeviceError(.missing, "strike", "\(what); nothing was struck; see fieldscribe list")
        }
        let pauses = try await archive.gaps(of: recording.id).paused
        let range = try order.range(of: recording.id, upTo: recording.length, pauses: pauses)
        return (recording.id, try await strike(range, of: recording.id))
    }

    /// Strikes a range, all of which is on the disk.
    ///
    /// - Parameter isGrowing: whether the recording goes on: its checksums are then made again once it has ended.
    /// - Returns: what a person should know besides: copies and files that may still hold what was struck.
    /// - Throws: `DeviceError` that names the file; what was begun is done later.
    package func strike(_ range: SampleRange, of id: Int, isGrowing: Bool = false) async throws -> [String] {
        guard let recording = try await archive.recordings().first(where: { $0.id == id }) else {
            throw DeviceError(.missing, "strike", "recording \(id): not in the archive; see fieldscribe list")
        }
        if recording.isSealed {
            throw DeviceError(
                .denied, "strike",
                "recording \(id): is sealed, and nothing on the recorder can read or change it; delete it, or open a copy"
            )
        }
        if await archive.isBeingSealed(id) {
            throw DeviceError(
                .denied, "strike",
                "recording \(id): is being sealed at this moment, and nothing in it can be struck any more; delete it, or open a copy"
            )
        }
        let folder = try Self.folder(of: id, in: storage)
        if try !folder.exists(RecordingFolder.strikingName) {
            try folder.replace(RecordingFolder.strikingName, with: [])
        }
        // A voice may have been learned from it; what is left is learned from again.
        try VoiceprintStore.drop(id, in: storage)
        try await archive.add(Gap(range, cause: .struck), recording: id)
        // Also where another one has come to its end meanwhile, and the file is gone.
        let notes = try await complete(id, isGrowing: isGrowing, isBegun: true) ?? []
        return notes + (try await stillHeld(id, in: folder))
    }

    /// Does what is left of striking, if anything is.
    ///
    /// - Returns: whether something was.
    @discardableResult
    package func finish(_ id: Int) async throws -> Bool { try await complete(id) != nil }

    /// - Parameter isBegun: whether something is begun; else the file in the recording's folder says so.
    /// - Returns: what was taken out of learned words; nil where nothing was left.
    private func complete(_ id: Int, isGrowing: Bool = false, isBegun: Bool = false) async throws -> [String]? {
        var notes: [String] = []
        let folder: Folder
        do throws(DeviceError) { folder = try Self.folder(of: id, in: storage) } catch {
            guard error.code == .missing else { throw error }
            return nil
        }
        guard try isBegun || folder.exists(RecordingFolder.strikingName) else { return nil }
        let audio = RecordingFolder(storage: storage, recording: id).audio
        while true {
            let ranges = try await archive.gaps(of: id).struck
            if !ranges.isEmpty {
                try await archive.strike(recording: id)
                notes += LearnedVocabulary(storage: storage).forget(
                    id, keeping: try await Learning.corrected(in: id, of: archive))
                if try folder.exists(RecordingFolder.audioName) {
                    try await onThread(named: "striking") {
                        try SoundRedaction.silence(ranges, in: audio)
                        if !isGrowing { try SoundRedaction.renewSums(ranges, of: audio) }
                    }
                }
            }
            // The drive for laptops is on the same card: of which nothing is known, that is made from nothing at once.
            unlink(DriveContents.path(in: storage))
            if isGrowing { return notes }
            // Another may have been struck meanwhile.
            if try await archive.gaps(of: id).struck == ranges { break }
        }
        try folder.remove(RecordingFolder.strikingName)
        try folder.sync()
        return notes
    }

    /// What may hold what was struck, and is for a person to see to.
    private func stillHeld(_ id: Int, in folder: Folder) async throws -> [String] {
        let (exports, history) = (try await archive.exports(of: id), try await archive.history(of: id).map(\.entry))
        let copies = Set(Self.current(exports, history).map { "\($0.folder) on the volume \($0.volume)" }).sorted()
        var notes = copies.map { "\($0): was copied before; the next copy to that volume replaces it" }
        let aside = try folder.names().filter { $0.hasPrefix("journal.jsonl.damaged-") }.sorted()
        notes += aside.map {
            "\(folder.path)/\($0): a damaged journal, kept aside, may still hold the text; remove it once you do not need it"
        }
        return notes
            + (try Erasure(storage: storage, archive: archive).keptAside()).map {
                "\($0): a damaged database, kept aside, may still hold the text; remove it once you do not need it"
            }
    }

    /// The copies that no later one has replaced: what was copied to a volume after something was struck takes the place of all that
    /// it had from before. By the history, since a clock may have been wrong.
    static func current(_ exports: [ExportEntry], _ history: [HistoryEntry]) -> [ExportEntry] {
        let strikes = history.filter { $0.act == .struck }.map(\.number)
        let numbered = exports.map { (export: $0, number: $0.number(in: history)) }
        return numbered.filter { old in
            !numbered.contains { new in
                new.export.volume == old.export.volume && strikes.contains { old.number < $0 && $0 < new.number }
            }
        }.map(\.export)
    }

    /// Whether striking was begun in a recording, and has not come to its end.
    static func isUnderWay(_ id: Int, in storage: String) -> Bool {
        (try? folder(of: id, in: storage).exists(RecordingFolder.strikingName)) ?? true
    }

    private static func folder(of id: Int, in storage: String) throws(DeviceError) -> Folder {
        let (top, name) = try Folder.holding("\(storage)/recordings", crosses: true)
        return try top.folder(name).folder(RecordingFolder.name(of: id))
    }
}
