internal import CLinux
import Glibc
import Synchronization

/// Runs a body on a new thread. Returns the result after the thread has released the body.
///
/// - Parameters:
///   - name: The thread's name for `ps -L`, at most 15 bytes.
///   - realtimePriority: A SCHED_FIFO priority from 1 to 99, used if permitted; nil for the default scheduler.
///   - niceness: 0 to 19, which is added to the inherited nice value.
package func onThread<Value: Sendable>(
    named name: String, realtimePriority: Int32? = nil, niceness: Int32 = 0,
    _ body: @escaping @Sendable () throws -> Value
) async throws -> Value {
    let results = ThreadResults()
    defer { results.acquire() }
    return try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Value, any Error>) in
        let start = ThreadStart(name: name, realtimePriority: realtimePriority, niceness: niceness) {
            let result = Result { try body() }
            return {
                results.release()
                continuation.resume(with: result)
            }
        }
        // If no thread can be created, the body runs on this thread, so that the caller is always resumed.
        if !start.launch() { start.run() }
    }
}

/// Starts a thread that runs the body. Returns false, without running the body, if the system permits no further
/// threads.
func startThread(named name: String, niceness: Int32 = 0, _ body: @escaping @Sendable () -> Void) -> Bool {
    ThreadStart(name: name, realtimePriority: nil, niceness: niceness) {
        body()
        return {}
    }.launch()
}

/// Tells the thread sanitizer that a thread writes its result before a task reads it.
///
/// The sanitizer does not see this order if a continuation is resumed before its task awaits it, because the runtime is
/// built without the sanitizer.
final class ThreadResults: Sendable {
    private let count = Atomic<Int>(0)

    func release() { count.wrappingAdd(1, ordering: .releasing) }

    func acquire() { _ = count.load(ordering: .acquiring) }
}

/// A thread's start parameters, which are deallocated when the thread exits.
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

    func launch() -> Bool {
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        var thread = pthread_t()
        // Safety: the new thread takes ownership of the retained object. If there is no thread, the object is released.
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
            // Fails without the privilege; the thread then has normal priority.
            _ = pthread_setschedparam(pthread_self(), SCHED_FIFO, &parameters)
        }
        if niceness > 0 { _ = nice(niceness) }
        let finish = result()
        finish?()
    }

    /// Runs the body and releases it, with everything it captures, before the caller resumes.
    private func result() -> (() -> Void)? {
        let work = body
        body = nil
        return work?()
    }
}
