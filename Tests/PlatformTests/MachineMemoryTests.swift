import Testing

@testable import System

@Suite("The machine's memory") struct MachineMemoryTests {
    @Test("the available memory is the kernel's value; nil if there is none")
    func available() {
        let text =
            "MemTotal:       16384000 kB\nMemFree:          100000 kB\nMemAvailable:    9000000 kB\nBuffers:  1 kB\n"
        #expect(MachineMemory.availableBytes(in: text) == 9_216_000_000)
        for text in ["", "MemFree: 1 kB\n", "MemAvailable:\n", "MemAvailable: many kB\n", "MemAvailable: 9 MB\n"] {
            #expect(MachineMemory.availableBytes(in: text) == nil, "\(text)")
        }
        let now = MachineMemory.availableBytes ?? 0
        #expect(now > 1 << 20 && now < 1 << 45)
    }
}
