import Glibc

/// The memory of the machine.
package enum MachineMemory {
    /// All memory that the kernel manages, in megabytes.
    package static var totalMegabytes: Int {
        sysconf(Int32(_SC_PHYS_PAGES)) / 1_024 * sysconf(Int32(_SC_PAGESIZE)) / 1_024
    }

    /// Bytes available without swapping, by the kernel's estimate; nil if unknown.
    package static var availableBytes: Int64? {
        guard let text = try? beginning(ofFile: "/proc/meminfo", count: 4_096) else { return nil }
        return availableBytes(in: String(decoding: text, as: UTF8.self))
    }

    /// Parses `/proc/meminfo`.
    static func availableBytes(in text: String) -> Int64? {
        for line in text.split(separator: "\n") where line.hasPrefix("MemAvailable:") {
            let words = line.split(separator: " ")
            guard words.count == 3, words[2] == "kB", let kibibytes = Int64(words[1]) else { return nil }
            return kibibytes &* 1_024
        }
        return nil
    }
}
