internal import CLinux
import Glibc
import Synchronization

/// Runs a body on a new thread; returns its result after it has ended and released the body.
///
/// - Parameters:
///   - name: At most 15 bytes, for `ps -L`.
///   - realtimePriority: 1 to 99 for SCHED_FIFO if permitted; nil for the default scheduler.
///   - niceness: 0 to 19, added to the thread's nice value.
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
        // Without a thread the body runs here, so that the caller is always resumed.
        if !start.launch() { start.run() }
    }
}

/// Starts a thread that runs the body; returns false, and runs nothing, if the system permits none.
func startThread(named name: String, niceness: Int32 = 0, _ body: @escaping @Sendable () -> Void) -> Bool {
    ThreadStart(name: name, realtimePriority: nil, niceness: niceness) {
        body()
        return {}
    }.launch()
}

/// The order between a thread's results and the tasks that read them, for the thread sanitizer.
///
/// It cannot see this order when a continuation is resumed before its task awaits it: the runtime, which is built without
/// the sanitizer, then continues the task without a synchronization that it reports.
final class ThreadResults: Sendable {
    private let count = Atomic<Int>(0)

    func release() { count.wrappingAdd(1, ordering: .releasing) }

    func acquire() { _ = count.load(ordering: .acquiring) }
}

/// The start parameters of a thread; freed when it ends.
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
        // Safety: the new thread takes over the retained object; without a thread it is released.
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
            // Refused without the privilege; the thread then has ordinary priority.
            _ = pthread_setschedparam(pthread_self(), SCHED_FIFO, &parameters)
        }
        if niceness > 0 { _ = nice(niceness) }
        let finish = result()
        finish?()
    }

    /// Runs the body and releases it, with all that it captures, before the caller resumes.
    private func result() -> (() -> Void)? {
        let work = body
        body = nil
        return work?()
    }
}
