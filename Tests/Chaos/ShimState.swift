/// The counters of the preloaded library, with the layout of `struct fault_state`.
struct ShimState: Sendable {
    static let calls = [
        "open", "write", "pwrite", "writev", "fsync", "fdatasync", "ftruncate", "rename", "unlink", "mkdir",
        "fallocate",
    ]

    let counts: [String: Int]
    /// The number of injected faults.
    let raised: Int
    /// The number of samples that the program read.
    let frames: Int
    let microphoneOpenings: Int

    init(path: String) {
        let raw = bytes(of: path)
        let values = (0..<24).map { word in
            (0..<8).reduce(0) { sum, byte in
                let index = word * 8 + byte
                return index < raw.count ? sum | Int(truncatingIfNeeded: UInt64(raw[index]) << (8 * byte)) : sum
            }
        }
        counts = Dictionary(uniqueKeysWithValues: Self.calls.enumerated().map { ($1, values[$0]) })
        (raised, frames, microphoneOpenings) = (values[16], values[18], values[19])
    }
}
