import Glibc
import System

/// Noise in which any twelve consecutive samples identify their position. Each second has 0.6 s of loud and 0.4 s of
/// soft noise. No sample is zero.
enum KnownSound {
    static let device = "chaos"
    static let rate = 16_000
    static let seconds = 60

    static let samples: [Int16] = (0..<rate * seconds).map { index in
        var hash = UInt64(index) &* 0x9E37_79B9_7F4A_7C15
        hash = (hash ^ (hash >> 29)) &* 0xBF58_476D_1CE4_E5B9
        hash ^= hash >> 32
        let amplitude: Int = index % rate < rate * 6 / 10 ? 9_000 : 20
        let value = Int(hash % UInt64(2 * amplitude)) - amplitude
        return Int16(value >= 0 ? value + 1 : value)
    }

    /// Writes the sound, and a libasound configuration with a PCM that plays it.
    static func write(to folder: String) throws {
        let file = try FileDescriptor(opening: "\(folder)/sound.raw", O_WRONLY | O_CREAT | O_TRUNC)
        try samples.withUnsafeBytes { try file.write($0) }
        try durableReplace(
            path: "\(folder)/asound.conf",
            with: """
                </usr/share/alsa/alsa.conf>
                pcm.\(device) { type file slave.pcm null file /dev/null infile "\(folder)/sound.raw" format raw }

                """)
    }

    /// How much of the sound a recording contains.
    struct Match: Sendable {
        /// The number of positions in the sound that occur in the recording.
        var distinct = 0
        /// The number of samples from the sound, which may have been played more than once.
        var total = 0
        /// Whether the recording contains nothing but the sound and silence.
        var isValid = true

        /// Finds the sound in a recording.
        init(in recording: [Int16]) {
            var isPositionFound = [Bool](repeating: false, count: samples.count)
            var position = 0
            var index = 0
            while index < recording.count {
                if position < samples.count, recording[index] == samples[position] {
                    isPositionFound[position] = true
                    total += 1
                    position += 1
                    index += 1
                    continue
                }
                let silentCount = recording[index...].prefix { $0 == 0 }.count
                index += silentCount
                guard index < recording.count else { break }
                guard let next = Self.find(recording[index...].prefix(12), from: position) else {
                    // Ignores the rest of the recording after the end of the sound.
                    if position >= samples.count { break }
                    isValid = false
                    return
                }
                position = next
            }
            distinct = isPositionFound.count { $0 }
        }

        private static func find(_ pattern: ArraySlice<Int16>, from position: Int) -> Int? {
            let first = pattern.startIndex
            let matches = { (start: Int) in
                start + pattern.count <= samples.count
                    && pattern.indices.allSatisfy { samples[start + $0 - first] == pattern[$0] }
            }
            return (position..<samples.count).first(where: matches)
                ?? (0..<min(position, samples.count)).first(where: matches)
        }
    }
}
