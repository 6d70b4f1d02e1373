import Core
import Glibc

/// A lamp on a GPIO line. It is off after being opened and after being deinitialized. Not thread-safe.
final class GpioLamp {
    private let request: LineRequest

    /// - Throws: `DeviceError` with `missing`, `busy`, `denied` or `disconnected`.
    init(_ line: GpioLine) throws(DeviceError) { request = try LineRequest(line, .output) }

    /// Opens the lamp at an address; returns nil if it is simulated or there is none.
    ///
    /// - Throws: the errors of `GpioLine(finding:)` and `init`.
    static func open(_ address: PanelAddress) throws(DeviceError) -> GpioLamp? {
        switch address {
        case .none, .sim: nil
        case .gpioName, .gpioOffset: try GpioLamp(GpioLine(finding: address))
        }
    }

    // This fails if the chip was unplugged, which does not matter here.
    deinit { try? request.set(false) }

    /// Switches the lamp on or off. Returns once the line has its new level.
    func set(lit: Bool) throws(DeviceError) { try request.set(lit) }
}

/// The lamp of an appliance that cannot start.
package enum FaultLamp {
    /// Blinks the fault pattern until the process exits, which switches the lamp off. Only waits if there is no lamp.
    ///
    /// - Throws: `DeviceError` with `missing`, `busy`, `denied` or `disconnected` for the lamp's line.
    package static func blink(_ address: PanelAddress) throws(DeviceError) -> Never {
        let lamp = try GpioLamp.open(address)
        let pattern = LampPattern(faultSince: PanelController.now)
        while true {
            let now = PanelController.now
            let next = pattern.next(after: now)
            try lamp?.set(lit: next.lit)
            usleep(UInt32(max(((next.until ?? now) - now) / .microseconds(1), 1_000)))
        }
    }
}
