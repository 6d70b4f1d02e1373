import Archive
import Core
import Recognition

/// Processes earlier recordings one after the other; a failure of one does not affect the others.
struct SequentialJobs: Sendable {
    let storage: String
    let archive: SQLiteArchive
    let hub: EventHub

    /// The recordings to skip; those whose audio cannot be read are added.
    let unreadable: UnreadableRecordings

    /// Processes the recordings. One that fails is reported and tried again at the next run; an erased one is skipped.
    ///
    /// - Returns: the recordings that were processed.
    /// - Throws: `CancellationError`; `DeviceError` if two in a row failed for the same reason, which is then not
    ///   theirs.
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

extension EventHub {
    /// Publishes the reason why the wanted engine failed or was replaced, once.
    package func publish(engineErrorOf pool: WorkerPool) async {
        if let error = await pool.takeEngineError() { publish(fault: error) }
    }
}
