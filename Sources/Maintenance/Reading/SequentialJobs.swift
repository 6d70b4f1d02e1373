import Core

/// Earlier recordings, read one after the other: what befalls one concerns no other.
struct SequentialJobs: Sendable {
    let storage: String
    let archive: any ArchiveMaintenance
    let hub: EventHub

    /// What not to try again; it grows by recordings whose audio cannot be read.
    let unreadable: UnreadableRecordings

    /// Reads them. One that fails is a fault and tried again another time; one that was erased meanwhile is nobody's.
    ///
    /// - Returns: the recordings that were read.
    /// - Throws: `CancellationError`; `DeviceError` where two in a row failed for the same: then it is none of theirs.
    func run(
        _ waiting: [RecordingSummary], _ read: (RecordingSummary) async throws -> Void
    ) async throws -> [Int] {
        var done: [Int] = []
        var before: DeviceError?
        for recording in waiting {
            try Task.checkCancellation()
            do {
                try await read(recording)
                done.append(recording.id)
                before = nil
            } catch is CancellationError {
                throw CancellationError()
            } catch {
                if await Erasure.hasTaken(recording.id, storage: storage, archive: archive) { continue }
                if let error = error as? RecordedAudio.Unreadable {
                    unreadable.insert(recording.id)
                    hub.publish(fault: error.error)
                    continue
                }
                let failure = DeviceError(wrapping: error)
                if failure == before { throw failure }
                before = failure
                hub.publish(fault: failure)
            }
        }
        return done
    }
}
