import Glibc

/// Generates random numbers from a seed (SplitMix64), so that a failed property test can be repeated.
package struct SeededGenerator: RandomNumberGenerator {
    package let seed: UInt64
    private var state: UInt64

    /// The seed in `FIELDSCRIBE_SEED`; nil if it is not set.
    package static var environmentSeed: UInt64? { getenv("FIELDSCRIBE_SEED").flatMap { UInt64(String(cString: $0)) } }

    /// Uses the seed in `FIELDSCRIBE_SEED` or a random one, and prints it with the caller's file and line.
    package init(file: String = #fileID, line: Int = #line) {
        self.init(seed: Self.environmentSeed ?? .random(in: .min ... .max))
        print("\(file):\(line): seed \(seed)")
    }

    package init(seed: UInt64) {
        self.seed = seed
        state = seed
    }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}
