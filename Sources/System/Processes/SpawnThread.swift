import Core
import Glibc
import Synchronization

/// The thread that starts every child. It lives as long as the process, because the kernel kills a child when the
/// *thread* that started it ends (PR_SET_PDEATHSIG).
enum SpawnThread {
    /// A process ID, or 0 or less and an errno.
    typealias Outcome = (id: Int32, status: Int32)

    /// The thread of this process: a forked copy has only the thread that forked.
    private static let current = Mutex<(process: pid_t, thread: WorkThread)?>(nil)

    /// Starts the thread with the calling thread's niceness; later threads can only be nicer.
    ///
    /// - Throws: `DeviceError` if the system permits no thread.
    static func prepare() throws(DeviceError) { _ = try thread() }

    /// Runs a body on the thread; returns its result.
    static func run(_ body: @escaping @Sendable () -> Outcome) throws(DeviceError) -> Outcome {
        let answer = BlockingResult<Outcome>()
        try thread().start { answer.set(body()) }
        return answer.wait()
    }

    private static func thread() throws(DeviceError) -> WorkThread {
        let found = current.withLock { current -> WorkThread? in
            if let (process, thread) = current, process == getpid() { return thread }
            let thread = WorkThread(named: "spawn")
            guard thread.isThere else { return nil }
            // In a copy, nobody unlocks what the other process's thread had locked: that object must not be deinitialized.
            if let (_, others) = current { _ = Unmanaged.passRetained(others) }
            current = (getpid(), thread)
            return thread
        }
        guard let found else { throw .system("pthread_create", status: EAGAIN, on: "spawn") }
        return found
    }
}
