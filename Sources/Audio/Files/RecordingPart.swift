import Core
import System

/// A file with a part of a recording.
///
/// Usually, `audio.wav` is the only file. If the disk failed, everything after the last successful sync is in
/// `audio.from-000000123456.wav`, which is named after the position of its first sample. Where parts overlap, the later
/// part counts, because the earlier samples may never have reached the disk.
package struct RecordingPart: Hashable, Sendable {
    package var path: String

    /// The position of the file's first sample in the recording.
    var start: SamplePosition

    /// Distinguishes files with the same start. The one with the highest ordinal counts.
    var ordinal: Int

    /// Returns the parts beside `audio`, without `audio` itself, sorted by start and ordinal.
    package static func all(beside audio: String) -> [RecordingPart] {
        // If the folder cannot be read, there are no parts.
        (try? RecordingLocation(audio)).flatMap { try? all(in: $0) } ?? []
    }

    static func all(in location: RecordingLocation) throws(DeviceError) -> [RecordingPart] {
        let prefix = stem(of: location.name) + infix
        return try location.folder.names().compactMap { entry in
            guard entry.hasPrefix(prefix), entry.hasSuffix(".wav") else { return nil }
            let numbers = entry.dropFirst(prefix.count).dropLast(4).split(
                separator: "-", omittingEmptySubsequences: false)
            guard let start = numbers.first.flatMap({ Int64($0) }), start >= 0, start < Int64.max / 4,
                numbers.count <= 2, let ordinal = numbers.count == 2 ? Int(numbers[1]) : 1, ordinal > 0
            else { return nil }
            return RecordingPart(path: location.path(of: entry), start: SamplePosition(start), ordinal: ordinal)
        }.sorted { ($0.start, $0.ordinal) < ($1.start, $1.ordinal) }
    }

    var name: String { lastName(of: path) }

    /// Returns the name for a file that is set aside: `audio.aside-000000123456.wav`.
    static func asideName(for name: String, start: SamplePosition, ordinal: Int) -> String {
        "\(stem(of: name)).aside-\(numbers(start, ordinal)).wav"
    }

    private static func numbers(_ start: SamplePosition, _ ordinal: Int) -> String {
        start.samples.padded(to: 12) + (ordinal > 1 ? "-\(ordinal)" : "")
    }

    /// Returns the files that were set aside, with their starts.
    static func filesSetAside(
        in location: RecordingLocation
    ) throws(DeviceError) -> [(name: String, start: SamplePosition)] {
        let prefix = stem(of: location.name) + ".aside-"
        return try location.folder.names().compactMap { entry in
            guard entry.hasPrefix(prefix), entry.hasSuffix(".wav"),
                let digits = entry.dropFirst(prefix.count).dropLast(4).split(separator: "-").first,
                let start = Int64(digits), start >= 0, start < Int64.max / 4
            else { return nil }
            return (entry, SamplePosition(start))
        }
    }

    private static let infix = ".from-"

    /// Returns the path or name of an audio file without `.wav`.
    static func stem(of audio: String) -> String {
        audio.hasSuffix(".wav") ? String(audio.dropLast(4)) : audio
    }
}

extension RecordingPart {
    init(beside audio: String, start: SamplePosition, ordinal: Int) {
        let numbers = Self.numbers(start, ordinal)
        self.init(path: "\(Self.stem(of: audio))\(Self.infix)\(numbers).wav", start: start, ordinal: ordinal)
    }
}
