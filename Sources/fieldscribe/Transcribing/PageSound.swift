import Audio
import Copying
import Core
import System
import Transcripts

/// The sound that the page of a transcribed file plays.
struct PageSound {
    /// Extensions of files that browsers play.
    private static let played = ["aac", "flac", "m4a", "mp3", "mp4", "oga", "ogg", "opus", "wav", "webm"]

    let input: String
    /// The path of the page's folder; nil for a page on standard output, which plays the input if it is put beside it.
    let folder: String?
    let track: SoundTrack

    /// The file in the page's folder that the sound has to be copied to; nil if the page plays the input itself.
    ///
    /// - Parameter text: the page's file name.
    func copy(beside text: String) -> String? {
        guard let folder, canBeReadAgain(input) else { return nil }
        let ending = input.split(separator: ".").last.map { $0.lowercased() } ?? ""
        let isThere =
            track == .automatic && Self.played.contains(ending) && Self.isSame(System.folder(of: input), folder)
        return isThere ? nil : "\(text.dropLast(".html".count)).flac"
    }

    /// Reads the input again for the peaks of its waveform.
    ///
    /// - Parameters:
    ///   - copy: the file that gets the sound as FLAC; nil for none.
    ///   - name: its name; nil for none.
    /// - Returns: the details of the page, with the link to its sound.
    func details(_ timeline: Timeline, into copy: NewFile?, named name: String?) throws -> RecordingDetails {
        guard canBeReadAgain(input) else { return RecordingDetails(timeline) }
        let reader = try AudioFileReader(path: input, track: track)
        var peaks = Peaks(length: timeline.length.samples)
        let encoder = try copy.map { file throws(DeviceError) in
            try AudioEncoder(.flac, into: file, named: name ?? input, title: timeline.name)
        }
        let buffer = UnsafeMutableBufferPointer<Int16>.allocate(capacity: 65_536)
        defer { buffer.deallocate() }
        while case let count = try reader.read(into: buffer), count > 0 {
            let samples = UnsafeBufferPointer(rebasing: buffer[..<count])
            peaks.add(samples, channels: 1)
            try encoder?.append(samples)
        }
        try encoder?.finish()
        return RecordingDetails(title: timeline.name, audio: name ?? timeline.name, peaks: peaks.values)
    }

    private static func isSame(_ one: String, _ other: String) -> Bool {
        guard let one = try? realPath(one), let other = try? realPath(other) else { return false }
        return one == other
    }
}
