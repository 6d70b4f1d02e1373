import Glibc

/// The current boot, for ordering and measuring times when the clock is not set.
package enum Boot {
    /// The kernel's random boot ID, without dashes; nil if unavailable. The service gets it in an environment variable,
    /// because its sandbox hides the kernel's file.
    package static var id: String? {
        let text = getenv("FIELDSCRIBE_BOOT").map { String(cString: $0) } ?? kernelBootID
        return text.map { $0.filter { $0 != "-" } }.flatMap { $0.isEmpty ? nil : $0 }
    }

    private static var kernelBootID: String? {
        guard let bytes = try? beginning(ofFile: "/proc/sys/kernel/random/boot_id", count: 64) else { return nil }
        return String(decoding: bytes.prefix { $0 > 0x20 }, as: UTF8.self)
    }

    /// Nanoseconds since boot, including sleep.
    package static var nanoseconds: Int64 { MonotonicClock.read(CLOCK_BOOTTIME) }
}
