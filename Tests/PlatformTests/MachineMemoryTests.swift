import Testing

@testable import System

@Suite("The machine's memory") struct MachineMemoryTests {
    @Test("is the kernel's value for available memory, or nil if there is none")
    func available() {
        let text =
            "MemTotal:       16384000 kB\nMemFree:          100000 kB\nMemAvailable:    9000000 kB\nBuffers:  1 kB\n"
        #expect(MachineMemory.availableBytes(in: text) == 9_216_000_000)
        for other in ["", "MemFree: 1 kB\n", "MemAvailable:\n", "MemAvailable: many kB\n", "MemAvailable: 9 MB\n"] {
            #expect(MachineMemory.availableBytes(in: other) == nil, "\(other)")
        }
        let now = MachineMemory.availableBytes ?? 0
        #expect(now > 1 << 20 && now < 1 << 45)
    }
}
