import Glibc

/// The machine's memory.
package enum MachineMemory {
    /// The total memory that the kernel manages, in MiB.
    package static var totalMegabytes: Int {
        sysconf(Int32(_SC_PHYS_PAGES)) / 1_024 * sysconf(Int32(_SC_PAGESIZE)) / 1_024
    }

    /// The bytes available without swapping, as estimated by the kernel; nil if unknown.
    package static var availableBytes: Int64? {
        guard let text = try? beginning(ofFile: "/proc/meminfo", count: 4_096) else { return nil }
        return availableBytes(in: String(decoding: text, as: UTF8.self))
    }

    static func availableBytes(in text: String) -> Int64? {
        for line in text.split(separator: "\n") where line.hasPrefix("MemAvailable:") {
            let fields = line.split(separator: " ")
            guard fields.count == 3, fields[2] == "kB", let kibibytes = Int64(fields[1]) else { return nil }
            return kibibytes &* 1_024
        }
        return nil
    }
}
