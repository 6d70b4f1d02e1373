import Glibc

/// The current boot: it orders and measures times when the clock is not set.
package enum Boot {
    /// The kernel's random identifier of this boot, without dashes; nil if unavailable. The service's sandbox hides the
    /// kernel's file; systemd sets the environment variable there.
    package static var id: String? {
        let text = getenv("FIELDSCRIBE_BOOT").map { String(cString: $0) } ?? kernelIdentifier
        return text.map { $0.filter { $0 != "-" } }.flatMap { $0.isEmpty ? nil : $0 }
    }

    private static var kernelIdentifier: String? {
        guard let bytes = try? beginning(ofFile: "/proc/sys/kernel/random/boot_id", count: 64) else { return nil }
        return String(decoding: bytes.prefix { $0 > 0x20 }, as: UTF8.self)
    }

    /// Nanoseconds since the boot, sleep included.
    package static var nanoseconds: Int64 { MonotonicClock.read(CLOCK_BOOTTIME) }
}
