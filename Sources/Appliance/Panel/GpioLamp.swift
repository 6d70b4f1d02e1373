import Core
import Glibc

/// A lamp on a GPIO line. It is off at first, and `deinit` switches it off. Not thread-safe.
final class GpioLamp {
    private let request: LineRequest

    /// - Throws: `DeviceError` with `missing`, `busy`, `denied` or `disconnected`.
    init(_ line: GpioLine) throws(DeviceError) { request = try LineRequest(line, .output) }

    /// Opens the lamp at an address; returns nil if it is simulated or there is none.
    ///
    /// - Throws: the errors of `GpioLine.init(finding:in:)` and `init`.
    static func open(_ address: PanelAddress) throws(DeviceError) -> GpioLamp? {
        switch address {
        case .none, .sim: nil
        case .gpioName, .gpioOffset: try GpioLamp(GpioLine(finding: address))
        }
    }

    // An error, for example because the chip was unplugged, does not matter here.
    deinit { try? request.set(false) }

    func set(lit: Bool) throws(DeviceError) { try request.set(lit) }
}

/// Shows on the lamp that the appliance cannot start.
package enum FaultLamp {
    /// Shows the fault pattern until the process exits. If there is no lamp, only waits.
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
