import Core
import Glibc

/// The lamp where no recorder can start: it shows a fault, and nothing else does anything.
package enum FaultLamp {
    /// Blinks until the process is ended, which leaves the lamp dark.
    ///
    /// - Parameter address: of the lamp; where there is none, it only waits.
    /// - Throws: `DeviceError` with `missing`, `busy`, `denied` or `disconnected`, of the lamp's line.
    package static func blink(_ address: PanelAddress) throws(DeviceError) -> Never {
        var lamp: GpioLamp?
        switch address {
        case .none, .sim: break
        case .gpioName, .gpioOffset: lamp = try GpioLamp(GpioLine(finding: address))
        }
        let pattern = LampPattern(faultSince: PanelController.now)
        while true {
            let now = PanelController.now
            let next = pattern.next(after: now)
            try lamp?.set(lit: next.lit)
            usleep(UInt32(max(((next.until ?? now) - now) / .microseconds(1), 1_000)))
        }
    }
}
