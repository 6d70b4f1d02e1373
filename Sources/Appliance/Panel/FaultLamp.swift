import Core
import Glibc

/// The lamp of an appliance that cannot start.
package enum FaultLamp {
    /// Blinks the fault pattern until the process ends; the lamp is then dark. Without a lamp it only waits.
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
