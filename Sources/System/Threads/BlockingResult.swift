import Synchronization

/// What is done on another thread comes to, for the one that waits for it.
package final class BlockingResult<Value: Sendable>: Sendable {
    private let value = Mutex<Value?>(nil)
    private let wakeup = Wakeup()

    package init() {}

    /// Once.
    package func set(_ value: Value) {
        self.value.withLock { $0 = value }
        wakeup.signal()
    }

    /// Returns once it is there.
    package func wait() -> Value {
        while true {
            if let value = value.withLock({ $0 }) { return value }
            wakeup.wait()
        }
    }
}
