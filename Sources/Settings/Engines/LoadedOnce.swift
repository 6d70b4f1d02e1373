import Core
import Synchronization

/// A value that is created on first access. If that fails, the next access tries again.
final class LoadedOnce<Value: Sendable>: Sendable {
    private let made = Mutex<Value?>(nil)
    private let make: @Sendable () throws(DeviceError) -> Value

    init(_ make: @escaping @Sendable () throws(DeviceError) -> Value) { self.make = make }

    func value() throws(DeviceError) -> Value {
        try rethrowing {
            try made.withLock { made in
                if let made { return made }
                let new = try make()
                made = new
                return new
            }
        }
    }
}
