import Archive
import Audio
import Core
import System

extension Recovery {
    /// Rewrites a recording's journal from the database if the journal is damaged, missing, or another recording's.
    func repairJournal(of id: Int) async throws -> [StorageFinding] {
        do {
            guard try await archive.repairJournal(of: id) else { return [] }
            return [
                StorageFinding(
                    .repaired, recording: id, file: RecordingFolder(storage: storage, recording: id).path,
                    "the journal was damaged and was rewritten")
            ]
        } catch let error as DeviceError where error.cause == .foreignJournal {
            return try await refuseJournal(of: id, error).findings
        }
    }

    /// Returns the length of the audio of a recording that the archive does not have; nil if the archive has it, or if
    /// the audio is incomplete or not in one file.
    func wholeAudio(of id: Int) async throws -> SamplePosition? {
        guard try await archive.recording(id) == nil else { return nil }
        let audio = RecordingFolder(storage: storage, recording: id).audio
        return try await onThread(named: "repair", niceness: 5) {
            guard let file = try? RecordingVerification(path: audio, gaps: []),
                RecordingPart.all(beside: audio).isEmpty,
                file.length == file.headerLength, file.reason != nil, file.reason != .cutShort
            else { return nil }
            return file.length
        }
    }

    /// Sets aside another recording's journal. If the whole folder was renamed, reports that and changes nothing.
    ///
    /// - Parameter error: why the journal was rejected.
    func refuseJournal(of id: Int, _ error: DeviceError) async throws -> CheckResult {
        let folder = RecordingFolder(storage: storage, recording: id)
        let foreign = try await archive.foreignJournal(of: id)
        if let original = try await originalRecording(of: id, foreign) {
            let name = RecordingFolder.name(of: original)
            return CheckResult(
                findings: [
                    StorageFinding(
                        .damaged, recording: id, file: folder.path,
                        "belongs to recording \(original), according to its journal; rename it to \(name), then run "
                            + "fieldscribe recover"
                    )
                ], next: .leave)
        }
        guard let newPath = try await archive.setAsideJournal(of: id) else { return CheckResult() }
        return CheckResult(
            findings: [
                StorageFinding(
                    .repaired, recording: id, file: "\(folder.path)/journal.jsonl",
                    "\(error.reason), so it does not belong to recording \(id) and was set aside as \(newPath). If its own "
                        + "recording has no journal, move it there, then run fieldscribe recover")
            ])
    }

    /// Returns the ID of the recording whose whole folder was renamed to this ID; nil if only the journal belongs to
    /// another recording.
    private func originalRecording(of id: Int, _ foreign: ForeignJournal) async throws -> Int? {
        guard let original = foreign.recordings.first, foreign.recordings.count == 1,
            try await archive.recording(id) == nil,
            !pathExists(RecordingFolder(storage: storage, recording: original).path)
        else { return nil }
        guard try Self.hasAudio(id, in: storage) else { return original }
        let audio = RecordingFolder(storage: storage, recording: id).audio
        return try await onStoppableThread(named: "repair") { shouldContinue in
            let length = try RecordingReader(path: audio).length
            guard let sound = foreign.audioDigest else {
                return foreign.lengths.isEmpty || foreign.lengths.contains(length) ? original : nil
            }
            return try soundDigest(of: audio, length: length, shouldContinue: shouldContinue) == sound ? original : nil
        }
    }
}
