import Archive
import Audio
import Core
import System

extension Recovery {
    /// Writes a recording's journal from the database if it is damaged, missing or another recording's.
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

    /// The length of a recording's audio, if it is complete and in one file; nil if the archive has the recording.
    func wholeAudio(of id: Int) async throws -> SamplePosition? {
        guard try await archive.recording(id) == nil else { return nil }
        let audio = RecordingFolder(storage: storage, recording: id).audio
        return try await onThread(named: "repair", niceness: 5) {
            guard let file = try? RecordingVerification(path: audio, gaps: []),
                RecordingPart.all(beside: audio).isEmpty,
                file.length == file.claimed, file.reason != nil, file.reason != .cutShort
            else { return nil }
            return file.length
        }
    }

    /// Sets aside another recording's journal; leaves a renamed folder alone.
    ///
    /// - Parameter error: why it was refused.
    func refuseJournal(of id: Int, _ error: DeviceError) async throws -> CheckResult {
        let folder = RecordingFolder(storage: storage, recording: id)
        let foreign = try await archive.foreignJournal(of: id)
        if let home = try await home(of: id, foreign) {
            let name = RecordingFolder.name(of: home)
            return CheckResult(
                findings: [
                    StorageFinding(
                        .damaged, recording: id, file: folder.path,
                        "belongs to recording \(home), according to its journal; rename it to \(name), and run fieldscribe recover"
                    )
                ], next: .leave)
        }
        guard let aside = try await archive.setAsideJournal(of: id) else { return CheckResult() }
        return CheckResult(
            findings: [
                StorageFinding(
                    .repaired, recording: id, file: "\(folder.path)/journal.jsonl",
                    "\(error.reason), not of recording \(id); it was set aside as \(aside). If its own recording lacks it, put it "
                        + "there, and run fieldscribe recover")
            ])
    }

    /// The recording whose whole folder was renamed to this number; nil if only the journal belongs to another
    /// recording.
    private func home(of id: Int, _ foreign: ForeignJournal) async throws -> Int? {
        guard let home = foreign.recordings.first, foreign.recordings.count == 1,
            try await archive.recording(id) == nil,
            !isTaken(RecordingFolder(storage: storage, recording: home).path)
        else { return nil }
        guard try Self.hasAudio(id, in: storage) else { return home }
        let audio = RecordingFolder(storage: storage, recording: id).audio
        return try await onStoppableThread(named: "repair") { shouldContinue in
            let length = try RecordingReader(path: audio).length
            guard let sound = foreign.sound else {
                return foreign.lengths.isEmpty || foreign.lengths.contains(length) ? home : nil
            }
            return try soundDigest(of: audio, length: length, shouldContinue: shouldContinue) == sound ? home : nil
        }
    }
}
