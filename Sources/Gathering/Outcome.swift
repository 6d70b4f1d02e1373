import Core
import Platform
import Synchronization

/// What is done on another thread comes to, for the one that waits for it.
final class Outcome<Value: Sendable>: Sendable {
    private let value = Mutex<Result<Value, DeviceError>?>(nil)
    private let wakeup = Wakeup()

    /// Once.
    func set(_ result: Result<Value, DeviceError>) {
        value.withLock { $0 = result }
        wakeup.signal()
    }

    /// Returns once it is there.
    func wait() -> Result<Value, DeviceError> {
        while true {
            if let result = value.withLock({ $0 }) { return result }
            wakeup.wait()
        }
    }
}
