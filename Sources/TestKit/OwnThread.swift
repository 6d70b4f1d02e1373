import System

/// Runs what blocks on a thread of its own, as a part of the calling task: what a test expects there is expected by that test,
/// which a thread of no task could not fail.
package func blocking<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withTaskExecutorPreference(OwnThread()) { try body() }
}

/// Gives each piece of a task a thread.
private final class OwnThread: TaskExecutor {
    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let executor = asUnownedTaskExecutor()
        Task.detached { try await onThread(named: "test") { job.runSynchronously(on: executor) } }
    }
}
