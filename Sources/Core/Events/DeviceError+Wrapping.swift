extension DeviceError {
    /// Any error as one of a device.
    package init(wrapping error: any Error) {
        self = error as? DeviceError ?? DeviceError(.failed, "fieldscribe", "\(error)")
    }
}

/// Makes a call that rethrows any error, as `withUnsafeBytes` does, of a body that throws none but ours.
package func rethrowing<Value>(_ call: () throws -> Value) throws(DeviceError) -> Value {
    do { return try call() } catch { throw DeviceError(wrapping: error) }
}
