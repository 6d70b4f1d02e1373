import Synchronization

/// A result that one thread waits for and another thread provides.
package final class BlockingResult<Value: Sendable>: Sendable {
    private let value = Mutex<Value?>(nil)
    private let wakeup = Wakeup()

    package init() {}

    /// Sets the result. Call this only once.
    package func set(_ value: Value) {
        self.value.withLock { $0 = value }
        wakeup.signal()
    }

    /// Waits for the result.
    package func wait() -> Value {
        while true {
            if let value = value.withLock({ $0 }) { return value }
            wakeup.wait()
        }
    }
}
