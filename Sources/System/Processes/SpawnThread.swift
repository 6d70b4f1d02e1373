internal import CLinux
import Core
import Glibc
import Synchronization

/// The thread that starts every child, and lasts as long as the process: the kernel ends a child with the *thread* that
/// started it (PR_SET_PDEATHSIG), which is how none outlives a process that is killed.
final class SpawnThread: Sendable {
    /// A child's number, or 0 or less and an errno.
    typealias Outcome = (id: Int32, status: Int32)

    private struct Order: Sendable {
        var body: @Sendable () -> Outcome
        var answer: BlockingResult<Outcome>
    }

    /// That of this process: a copy that a fork has made has no thread but the one that forked.
    private static let current = Mutex<(process: pid_t, thread: SpawnThread)?>(nil)

    private let orders = Mutex<[Order]>([])
    private let wakeup = Wakeup()

    /// Starts the thread, as nice as the calling one is: what is started later can only be nicer.
    ///
    /// - Throws: `DeviceError` where the system allows no thread.
    static func prepare() throws(DeviceError) { _ = try thread() }

    /// Runs a body on the thread, and waits for what it returns.
    static func run(_ body: @escaping @Sendable () -> Outcome) throws(DeviceError) -> Outcome {
        let answer = BlockingResult<Outcome>()
        let thread = try thread()
        thread.orders.withLock { $0.append(Order(body: body, answer: answer)) }
        thread.wakeup.signal()
        return answer.wait()
    }

    private static func thread() throws(DeviceError) -> SpawnThread {
        let found = current.withLock { current -> SpawnThread? in
            if let (process, thread) = current, process == getpid() { return thread }
            let thread = SpawnThread()
            guard thread.launch() == 0 else { return nil }
            current = (getpid(), thread)
            return thread
        }
        guard let found else { throw .system("pthread_create", status: EAGAIN, on: "spawn") }
        return found
    }

    private func launch() -> Int32 {
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        var thread = pthread_t()
        // Safety: the thread takes over the retained object and keeps it for ever; where there is no thread, it is let go.
        let context = Unmanaged.passRetained(self)
        let status = pthread_create(
            &thread, &attributes,
            { pointer in
                guard let pointer else { return nil }
                Unmanaged<SpawnThread>.fromOpaque(pointer).takeRetainedValue().serve()
            }, context.toOpaque())
        if status != 0 { context.release() }
        return status
    }

    private func serve() -> Never {
        fieldscribe_name_thread("spawn")
        while true {
            let taken = orders.withLock { orders in
                defer { orders = [] }
                return orders
            }
            for order in taken {
                order.answer.set(order.body())
            }
            if taken.isEmpty { wakeup.wait() }
        }
    }
}
