import Core

/// A lamp on a GPIO line; dark when it is opened and when it is freed. Not thread-safe.
final class GpioLamp {
    private let request: LineRequest

    /// Requests the line.
    ///
    /// - Throws: `DeviceError` with `missing`, `busy`, `denied` or `disconnected`.
    init(_ line: GpioLine) throws(DeviceError) { request = try LineRequest(line, .output) }

    /// The lamp at an address; nil if it is simulated or there is none.
    ///
    /// - Throws: as `GpioLine(finding:)` and `init`.
    static func open(_ address: PanelAddress) throws(DeviceError) -> GpioLamp? {
        switch address {
        case .none, .sim: nil
        case .gpioName, .gpioOffset: try GpioLamp(GpioLine(finding: address))
        }
    }

    // Fails if the chip was unplugged; ignored.
    deinit { try? request.set(false) }

    /// Switches the lamp; returns once the line has its new level.
    func set(lit: Bool) throws(DeviceError) { try request.set(lit) }
}
