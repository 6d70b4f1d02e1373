import Audio
import Copying
import Core
import System
import Transcripts

/// The sound that the page of a transcribed file plays.
struct PageSound {
    /// The file extensions that browsers can play.
    private static let playableExtensions = ["aac", "flac", "m4a", "mp3", "mp4", "oga", "ogg", "opus", "wav", "webm"]

    let input: String
    /// The path of the page's folder; nil if the page goes to standard output. Such a page plays the input if the user
    /// saves both in one folder.
    let folder: String?
    let track: SoundTrack

    /// Returns the name of the file to copy the sound to. Nil if the page can play the input itself, goes to standard
    /// output, or if the input cannot be read again.
    ///
    /// - Parameter page: the page's file name.
    func copy(beside page: String) -> String? {
        guard let folder, canBeReadAgain(input) else { return nil }
        let fileExtension = input.split(separator: ".").last.map { $0.lowercased() } ?? ""
        let isPlayable =
            track == .automatic && Self.playableExtensions.contains(fileExtension)
            && Self.isSame(System.folder(of: input), folder)
        return isPlayable ? nil : "\(page.dropLast(".html".count)).flac"
    }

    /// Reads the input again to compute the peaks of its waveform.
    ///
    /// - Parameters:
    ///   - copy: the file to write the sound to, as FLAC; nil if no copy is needed.
    ///   - name: the name of that file.
    /// - Returns: the details for the page, with the name of its sound file; without peaks if the input cannot be read
    ///   again.
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

    private static func isSame(_ first: String, _ second: String) -> Bool {
        guard let first = try? realPath(first), let second = try? realPath(second) else { return false }
        return first == second
    }
}
