import System

/// Runs blocking code on its own thread, within the calling task, so that failed expectations belong to the test.
package func blocking<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withTaskExecutorPreference(OwnThread()) { try body() }
}

private final class OwnThread: TaskExecutor {
    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let executor = asUnownedTaskExecutor()
        Task.detached { try await onThread(named: "test") { job.runSynchronously(on: executor) } }
    }
}
