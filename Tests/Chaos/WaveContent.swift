import Glibc

/// The samples in a WAV file, read without the recorder's code. The size of the file counts, not the one in the header.
struct WaveContent: Sendable {
    var samples: [Int16] = []

    /// Returns nil if the file is not a WAV file, or has no data chunk.
    init?(path: String) {
        let raw = bytes(of: path)
        guard raw.count >= 12, ["RIFF", "RF64"].contains(Self.text(raw, 0)), Self.text(raw, 8) == "WAVE" else {
            return nil
        }
        var offset = 12
        while offset + 8 <= raw.count {
            let size = Self.number(raw, offset + 4)
            if Self.text(raw, offset) == "data" {
                let count = (raw.count - offset - 8) / 2
                samples = (0..<count).map {
                    Int16(truncatingIfNeeded: Int(raw[offset + 8 + 2 * $0]) | Int(raw[offset + 9 + 2 * $0]) << 8)
                }
                return
            }
            offset += 8 + Int(size) + Int(size % 2)
        }
        return nil
    }

    /// Returns the audio of a recording from all of its files, in order; empty if there is none.
    static func samples(ofRecording number: Int, in storage: String) -> [Int16] {
        let digits = String(number)
        let folder = "\(storage)/recordings/\(String(repeating: "0", count: max(0, 6 - digits.count)))\(digits)"
        return files(below: folder).filter { $0.hasSuffix(".wav") }
            .sorted { ($0.utf8.count, $0) < ($1.utf8.count, $1) }
            .flatMap { WaveContent(path: $0)?.samples ?? [] }
    }

    private static func text(_ raw: [UInt8], _ offset: Int) -> String {
        String(decoding: raw[offset..<min(raw.count, offset + 4)], as: UTF8.self)
    }

    private static func number(_ raw: [UInt8], _ offset: Int) -> UInt32 {
        (0..<4).reduce(0) { $0 | UInt32(raw[offset + $1]) << (8 * $1) }
    }
}
