import Core
import System

/// One of the files in which a recording lies.
///
/// That is one, `audio.wav`, unless the disk refused it: then what follows the last good sync is in
/// `audio.from-000000123456.wav`, named by the place of its first sample. A later part lies over what the ones before
/// it hold of the same places, which may never have reached the disk.
package struct RecordingPart: Hashable, Sendable {
    /// The file's path.
    package var path: String

    /// Where in the recording the file's first sample belongs.
    var start: SamplePosition

    /// Counts the files that begin at the same place; the last is the one to believe.
    var turn: Int

    /// The part beside `audio` that begins at `start`.
    init(beside audio: String, start: SamplePosition, turn: Int) {
        path = "\(Self.stem(of: audio))\(Self.infix)\(Self.digits(start.samples))\(turn > 1 ? "-\(turn)" : "").wav"
        self.start = start
        self.turn = turn
    }

    /// The parts beside `audio`, and without it, in the order in which they were made.
    package static func all(beside audio: String) -> [RecordingPart] {
        // None where the folder cannot be read.
        (try? RecordingPlace(audio)).flatMap { try? all(in: $0) } ?? []
    }

    /// The parts beside a recording's file.
    static func all(in place: RecordingPlace) throws(DeviceError) -> [RecordingPart] {
        let audio = place.path(of: place.name)
        let name = stem(of: place.name) + infix
        return try place.folder.names().compactMap { entry in
            guard entry.hasPrefix(name), entry.hasSuffix(".wav") else { return nil }
            let numbers = entry.dropFirst(name.count).dropLast(4).split(
                separator: "-", omittingEmptySubsequences: false)
            guard let start = numbers.first.flatMap({ Int64($0) }), start >= 0, start < Int64.max / 4,
                numbers.count <= 2, let turn = numbers.count == 2 ? Int(numbers[1]) : 1, turn > 0
            else { return nil }
            var part = RecordingPart(beside: audio, start: SamplePosition(start), turn: turn)
            part.path = place.path(of: entry)
            return part
        }.sorted { ($0.start, $0.turn) < ($1.start, $1.turn) }
    }

    /// The file's name in its folder.
    var name: String { path.split(separator: "/").last.map(String.init) ?? path }

    /// The name by which a file of this recording is set aside, so that its own is free: `audio.aside-000000123456.wav`.
    static func aside(_ name: String, start: SamplePosition, turn: Int) -> String {
        "\(stem(of: name)).aside-\(digits(start.samples))\(turn > 1 ? "-\(turn)" : "").wav"
    }

    /// The files beside a recording's that were set aside, and where in the recording each begins.
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

    private static func stem(of audio: String) -> String {
        audio.hasSuffix(".wav") ? String(audio.dropLast(4)) : audio
    }

    private static func digits(_ number: Int64) -> String {
        number.padded(to: 12)
    }
}
