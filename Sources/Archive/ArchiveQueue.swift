import Dispatch

/// The thread of execution of the archive: a commit waits for the card, and must not hold up the other tasks meanwhile.
final class ArchiveQueue: SerialExecutor {
    private let queue = DispatchQueue(label: "fieldscribe.archive")

    func enqueue(_ job: consuming ExecutorJob) {
        // Safety: the queue runs each job exactly once, and never two at a time.
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }
}
