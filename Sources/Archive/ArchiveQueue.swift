import Dispatch

/// Runs the archive's actor on its own queue: a commit waits for the card and must not block other tasks.
final class ArchiveQueue: SerialExecutor {
    private let queue = DispatchQueue(label: "fieldscribe.archive")

    func enqueue(_ job: consuming ExecutorJob) {
        // Safety: the queue runs each job exactly once, and never two at a time.
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }
}
