import Core
import Glibc
import Synchronization

/// The thread that starts every child. It lives as long as the process, because the kernel kills a child when the
/// *thread* that started it ends (PR_SET_PDEATHSIG).
final class SpawnThread: Sendable {
    /// A process ID, or 0 or less and an errno.
    typealias Outcome = (id: Int32, status: Int32)

    private struct Order: Sendable {
        var body: @Sendable () -> Outcome
        var answer: BlockingResult<Outcome>
    }

    /// The thread of this process: a forked copy has only the thread that forked.
    private static let current = Mutex<(process: pid_t, thread: SpawnThread)?>(nil)

    private let orders = Mutex<[Order]>([])
    private let wakeup = Wakeup()

    /// Starts the thread with the calling thread's niceness; later threads can only be nicer.
    ///
    /// - Throws: `DeviceError` if the system permits no thread.
    static func prepare() throws(DeviceError) { _ = try thread() }

    /// Runs a body on the thread; returns its result.
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
            guard startThread(named: "spawn", { thread.serve() }) else { return nil }
            current = (getpid(), thread)
            return thread
        }
        guard let found else { throw .system("pthread_create", status: EAGAIN, on: "spawn") }
        return found
    }

    private func serve() -> Never {
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
