import Core

/// The panel's button.
protocol Button: AnyObject {
    /// Waits for the next edge.
    ///
    /// - Returns: nil if none came in time, or another thread ended the wait.
    /// - Throws: `DeviceError`, with `disconnected` when the chip is gone.
    func nextEdge(timeout: Duration) throws(DeviceError) -> ButtonEdge?
}
