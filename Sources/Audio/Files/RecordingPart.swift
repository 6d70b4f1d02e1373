import Core
import System

/// A file with part of a recording.
///
/// Usually `audio.wav` is the only one. If the disk failed, everything after the last successful sync is in
/// `audio.from-000000123456.wav`, named by the position of its first sample. Where parts overlap, the later one counts: the
/// earlier samples may never have reached the disk.
package struct RecordingPart: Hashable, Sendable {
    package var path: String

    /// The position of the file's first sample in the recording.
    var start: SamplePosition

    /// Distinguishes files with the same start; the last one counts.
    var turn: Int

    /// Returns the parts beside `audio`, without itself, in the order in which they were created.
    package static func all(beside audio: String) -> [RecordingPart] {
        // None if the folder cannot be read.
        (try? RecordingPlace(audio)).flatMap { try? all(in: $0) } ?? []
    }

    static func all(in place: RecordingPlace) throws(DeviceError) -> [RecordingPart] {
        let name = stem(of: place.name) + infix
        return try place.folder.names().compactMap { entry in
            guard entry.hasPrefix(name), entry.hasSuffix(".wav") else { return nil }
            let numbers = entry.dropFirst(name.count).dropLast(4).split(
                separator: "-", omittingEmptySubsequences: false)
            guard let start = numbers.first.flatMap({ Int64($0) }), start >= 0, start < Int64.max / 4,
                numbers.count <= 2, let turn = numbers.count == 2 ? Int(numbers[1]) : 1, turn > 0
            else { return nil }
            return RecordingPart(path: place.path(of: entry), start: SamplePosition(start), turn: turn)
        }.sorted { ($0.start, $0.turn) < ($1.start, $1.turn) }
    }

    var name: String { lastName(of: path) }

    /// Returns the name of a file that is set aside: `audio.aside-000000123456.wav`.
    static func aside(_ name: String, start: SamplePosition, turn: Int) -> String {
        "\(stem(of: name)).aside-\(number(start, turn)).wav"
    }

    private static func number(_ start: SamplePosition, _ turn: Int) -> String {
        start.samples.padded(to: 12) + (turn > 1 ? "-\(turn)" : "")
    }

    /// Returns the files that were set aside, and their starts.
    static func asides(in place: RecordingPlace) throws(DeviceError) -> [(name: String, start: SamplePosition)] {
        let name = stem(of: place.name) + ".aside-"
        return try place.folder.names().compactMap { entry in
            guard entry.hasPrefix(name), entry.hasSuffix(".wav"),
                let digits = entry.dropFirst(name.count).dropLast(4).split(separator: "-").first,
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
    init(beside audio: String, start: SamplePosition, turn: Int) {
        let number = Self.number(start, turn)
        self.init(path: "\(Self.stem(of: audio))\(Self.infix)\(number).wav", start: start, turn: turn)
    }
}
