import Core
import Glibc
import Synchronization

/// The thread that starts every child. It lives as long as the process, because the kernel kills a child when the
/// *thread* that started it exits (PR_SET_PDEATHSIG).
enum SpawnThread {
    /// A process ID, or a value of 0 or less with an errno.
    typealias Outcome = (id: Int32, status: Int32)

    /// The thread and its process. A forked copy has only the thread that called fork, so it needs a new one.
    private static let current = Mutex<(process: pid_t, thread: WorkThread)?>(nil)

    /// Starts the thread with the calling thread's niceness. Without privileges, it could not be decreased later.
    ///
    /// - Throws: `DeviceError` if the system permits no further threads.
    static func prepare() throws(DeviceError) { _ = try thread() }

    static func run(_ body: @escaping @Sendable () -> Outcome) throws(DeviceError) -> Outcome {
        let result = BlockingResult<Outcome>()
        try thread().start { result.set(body()) }
        return result.wait()
    }

    private static func thread() throws(DeviceError) -> WorkThread {
        let spawnThread = current.withLock { current -> WorkThread? in
            if let (process, thread) = current, process == getpid() { return thread }
            let thread = WorkThread(named: "spawn")
            guard thread.hasStarted else { return nil }
            // In a forked copy, locks that the original's thread held stay locked, so its `WorkThread` must not be
            // deinitialized.
            if let (_, original) = current { _ = Unmanaged.passRetained(original) }
            current = (getpid(), thread)
            return thread
        }
        guard let spawnThread else { throw .system("pthread_create", status: EAGAIN, on: "spawn") }
        return spawnThread
    }
}
