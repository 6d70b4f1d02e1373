import Dispatch

/// Runs the archive's actor on its own queue, because commits wait for the card and must not block other tasks.
final class ArchiveQueue: SerialExecutor {
    private let queue = DispatchQueue(label: "fieldscribe.archive")

    func enqueue(_ job: consuming ExecutorJob) {
        // Safety: the queue is serial and runs each job exactly once.
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }
}
