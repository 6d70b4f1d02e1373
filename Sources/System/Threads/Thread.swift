internal import CLinux
import Glibc

/// A thread with a body: the one way in which Fieldscribe starts threads.
///
/// The call returns when the body has, with what it returned or threw: the body never outlives the function that
/// started it.
///
/// - Parameters:
///   - name: at most 15 bytes, as `ps -L` shows it.
///   - realtimePriority: 1 to 99 for SCHED_FIFO, where the system allows it; nil for the ordinary scheduler.
///   - niceness: 0 to 19, added to the thread's own nice value.
package func onThread<Value: Sendable>(
    named name: String, realtimePriority: Int32? = nil, niceness: Int32 = 0,
    _ body: @escaping @Sendable () throws -> Value
) async throws -> Value {
    try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Value, any Error>) in
        let start = ThreadStart(name: name, realtimePriority: realtimePriority, niceness: niceness) {
            let result = Result { try body() }
            return { continuation.resume(with: result) }
        }
        // Where none could be started the body runs here, so that the caller is always answered.
        if !start.launch() { start.run() }
    }
}

/// Starts a thread that lives until the body returns; false where the system gives none, and then nothing runs.
func startThread(named name: String, niceness: Int32 = 0, _ body: @escaping @Sendable () -> Void) -> Bool {
    ThreadStart(name: name, realtimePriority: nil, niceness: niceness) {
        body()
        return {}
    }.launch()
}

/// What a new thread needs; lives from `launch` until the thread has ended.
private final class ThreadStart {
    private let name: String
    private let realtimePriority: Int32?
    private let niceness: Int32
    private var body: (() -> () -> Void)?

    init(
        name: String, realtimePriority: Int32?, niceness: Int32, body: @escaping () -> () -> Void
    ) {
        self.name = name
        self.realtimePriority = realtimePriority
        self.niceness = niceness
        self.body = body
    }

    /// False where no thread could be started.
    func launch() -> Bool {
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        var thread = pthread_t()
        // Safety: the retained object is taken over, once, by the new thread, where one could be started.
        let context = Unmanaged.passRetained(self)
        let status = pthread_create(
            &thread, &attributes,
            { pointer in
                guard let pointer else { return nil }
                Unmanaged<ThreadStart>.fromOpaque(pointer).takeRetainedValue().run()
                return nil
            }, context.toOpaque())
        if status != 0 { context.release() }
        return status == 0
    }

    func run() {
        fieldscribe_name_thread(name)
        if let realtimePriority {
            var parameters = sched_param()
            parameters.sched_priority = realtimePriority
            // Refused without the privilege; capture then runs with ordinary priority.
            _ = pthread_setschedparam(pthread_self(), SCHED_FIFO, &parameters)
        }
        if niceness > 0 { _ = nice(niceness) }
        let finish = result()
        finish?()
    }

    /// Runs the body, and lets go of it and of all that it holds: who is told that it has returned may rely on that.
    private func result() -> (() -> Void)? {
        let work = body
        body = nil
        return work?()
    }
}
