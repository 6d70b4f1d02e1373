extension DeviceError {
    /// Any error as one of a device.
    package init(wrapping error: any Error) {
        self = error as? DeviceError ?? DeviceError(.failed, "fieldscribe", "\(error)")
    }
}
