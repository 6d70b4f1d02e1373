import Glibc
import System

/// A sound in which each sample's position is known: in each second 0.6 s of loud and 0.4 s of soft noise, without zero
/// samples.
enum KnownSound {
    static let device = "chaos"
    static let rate = 16_000
    static let seconds = 60

    static let samples: [Int16] = (0..<rate * seconds).map { index in
        var hash = UInt64(index) &* 0x9E37_79B9_7F4A_7C15
        hash = (hash ^ (hash >> 29)) &* 0xBF58_476D_1CE4_E5B9
        hash ^= hash >> 32
        let loudest: Int = index % rate < rate * 6 / 10 ? 9_000 : 20
        let value = Int(hash % UInt64(2 * loudest)) - loudest
        return Int16(value >= 0 ? value + 1 : value)
    }

    /// Writes the sound, and a configuration of libasound with a PCM that plays it.
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

    /// The part of the sound that a recording contains.
    struct Found: Sendable {
        /// The samples of the sound, each counted once.
        var distinct = 0
        /// All samples of the sound, even if it started again.
        var total = 0
        /// Samples of silence between them.
        var silence = 0
        /// Whether it contains only the sound and silence.
        var isValid = true

        /// Matches a recording with the sound; anything but sound and silence makes it invalid.
        init(in recording: [Int16]) {
            var isFound = [Bool](repeating: false, count: samples.count)
            var place = 0
            var index = 0
            while index < recording.count {
                if place < samples.count, recording[index] == samples[place] {
                    isFound[place] = true
                    total += 1
                    place += 1
                    index += 1
                    continue
                }
                let silent = recording[index...].prefix { $0 == 0 }.count
                silence += silent
                index += silent
                guard index < recording.count else { break }
                guard let next = Self.find(recording[index...].prefix(12), from: place) else {
                    // Past its end the device is silent.
                    if place >= samples.count { break }
                    isValid = false
                    return
                }
                place = next
            }
            distinct = isFound.count { $0 }
        }

        private static func find(_ piece: ArraySlice<Int16>, from place: Int) -> Int? {
            let first = piece.startIndex
            let matches = { (start: Int) in
                start + piece.count <= samples.count
                    && piece.indices.allSatisfy { samples[start + $0 - first] == piece[$0] }
            }
            return (place..<samples.count).first(where: matches)
                ?? (0..<min(place, samples.count)).first(where: matches)
        }
    }
}
