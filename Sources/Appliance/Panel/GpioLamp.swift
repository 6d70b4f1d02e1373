import Core

/// A lamp on a GPIO line; dark when it is opened and when it is freed. Used on one thread.
final class GpioLamp: Lamp {
    private let request: LineRequest

    /// Takes the line.
    ///
    /// - Throws: `DeviceError` with `missing`, `busy`, `denied` or `disconnected`.
    init(_ line: GpioLine) throws(DeviceError) { request = try LineRequest(line, .output) }

    // A chip that is gone has no lamp to darken.
    deinit { try? request.set(false) }

    func set(lit: Bool) throws(DeviceError) { try request.set(lit) }
}
