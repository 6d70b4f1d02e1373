extension EventHub {
    /// Publishes an error as a fault.
    package func publish(fault error: DeviceError) {
        publish(.fault(code: error.code.rawValue, message: error.message))
    }
}
