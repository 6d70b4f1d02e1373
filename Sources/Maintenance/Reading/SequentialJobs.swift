import Archive
import Core
import Recognition

/// Processes earlier recordings one after the other. A failure in one recording does not affect the others.
struct SequentialJobs: Sendable {
    let storage: String
    let archive: SQLiteArchive
    let hub: EventHub

    /// Recordings whose audio cannot be read are added.
    let unreadable: UnreadableRecordings

    /// Processes the recordings. If one fails, reports a fault and continues with the next. Ignores failures of
    /// recordings that were erased.
    ///
    /// - Returns: the IDs of the recordings that were processed.
    /// - Throws: `CancellationError`; `DeviceError` if two recordings in a row failed for the same reason, because
    ///   other recordings would probably fail, too.
    func run(
        _ waiting: [RecordingSummary], _ process: (RecordingSummary) async throws -> Void
    ) async throws -> [Int] {
        var processed: [Int] = []
        var previousFailure: DeviceError?
        for recording in waiting {
            try Task.checkCancellation()
            do {
                try await process(recording)
                processed.append(recording.id)
                previousFailure = nil
            } catch is CancellationError {
                throw CancellationError()
            } catch {
                if await Erasure.hasErased(recording.id, storage: storage, archive: archive) { continue }
                if let error = error as? RecordedAudio.Unreadable {
                    unreadable.insert(recording.id)
                    hub.publish(fault: error.error)
                    continue
                }
                let failure = DeviceError(wrapping: error)
                if failure == previousFailure { throw failure }
                previousFailure = failure
                hub.publish(fault: failure)
            }
        }
        return processed
    }
}

extension EventHub {
    /// Publishes once why the configured engine failed or was replaced.
    package func publish(engineErrorOf pool: WorkerPool) async {
        if let error = await pool.consumeEngineError() { publish(fault: error) }
    }
}
