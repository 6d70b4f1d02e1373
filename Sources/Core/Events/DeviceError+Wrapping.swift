extension DeviceError {
    /// Converts any error.
    package init(wrapping error: any Error) {
        self = error as? DeviceError ?? DeviceError(.failed, "fieldscribe", "\(error)")
    }
}

/// Calls a function that rethrows any error, as `withUnsafeBytes` does, with a body that throws only `DeviceError`.
package func rethrowing<Value>(_ call: () throws -> Value) throws(DeviceError) -> Value {
    do { return try call() } catch { throw DeviceError(wrapping: error) }
}
