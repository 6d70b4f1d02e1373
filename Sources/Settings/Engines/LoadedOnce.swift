import Core
import Synchronization

/// A value that is created on first access. If that fails, the next access tries again.
final class LoadedOnce<Value: Sendable>: Sendable {
    private let made = Mutex<Value?>(nil)
    private let make: @Sendable () throws(DeviceError) -> Value

    init(_ make: @escaping @Sendable () throws(DeviceError) -> Value) { self.make = make }

    func value() throws(DeviceError) -> Value {
        var failure: DeviceError?
        let value = made.withLock { made -> Value? in
            if let made { return made }
            do throws(DeviceError) { made = try make() } catch { failure = error }
            return made
        }
        if let value { return value }
        throw failure ?? DeviceError(.failed, "load", "nothing was loaded; try again")
    }
}
