/// What the preloaded library counted; the layout is `struct fault_state`'s.
struct ShimState: Sendable {
    static let calls = [
        "open", "write", "pwrite", "writev", "fsync", "fdatasync", "ftruncate", "rename", "unlink", "mkdir",
        "fallocate",
    ]

    let counts: [String: Int]
    /// Faults that were raised.
    let raised: Int
    let reads: Int
    /// Samples that were given to the program: what had been fed.
    let frames: Int
    let opens: Int

    init(path: String) {
        let raw = bytes(of: path)
        let words = (0..<24).map { word in
            (0..<8).reduce(0) { sum, byte in
                let index = word * 8 + byte
                return index < raw.count ? sum | Int(truncatingIfNeeded: UInt64(raw[index]) << (8 * byte)) : sum
            }
        }
        counts = Dictionary(uniqueKeysWithValues: Self.calls.enumerated().map { ($1, words[$0]) })
        (raised, reads, frames, opens) = (words[16], words[17], words[18], words[19])
    }
}
