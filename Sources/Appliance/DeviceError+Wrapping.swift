import Core

extension DeviceError {
    /// Any error as one of a device.
    init(wrapping error: any Error) {
        self = error as? DeviceError ?? DeviceError(.failed, "fieldscribe", "\(error)")
    }
}
