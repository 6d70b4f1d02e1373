import System

/// Runs blocking code on a dedicated thread but in the calling task, so that failed expectations are attributed to the
/// test.
package func blocking<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withTaskExecutorPreference(DedicatedThreadExecutor()) { try body() }
}

private final class DedicatedThreadExecutor: TaskExecutor {
    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let executor = asUnownedTaskExecutor()
        Task.detached { try await onThread(named: "test") { job.runSynchronously(on: executor) } }
    }
}
