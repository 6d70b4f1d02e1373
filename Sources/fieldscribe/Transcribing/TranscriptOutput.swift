import Audio
import Core
import Glibc
import Synchronization
import System
import Transcripts

/// Writes the transcripts of several files to standard output or a folder.
final class TranscriptOutput: Sendable {
    private let folder: String?
    private let format: TranscriptFormat
    /// The minimum pause in seconds that the format `qda` shows.
    private let pauseSeconds: Int
    /// Whether to overwrite edited transcripts.
    private let isForced: Bool
    /// Whether to print each file's name before its transcript. JSON contains the name.
    private let printsNames: Bool
    private let track: SoundTrack
    private let savedChecksums: Mutex<TranscriptChecksums?>
    private let printedCount = Atomic<Int>(0)

    /// - Throws: `UsageError` if two inputs would be written to one file or to standard output in a binary format;
    ///   `DeviceError` if the folder cannot be created or, unless `isForced`, contains an edited transcript.
    init(
        folder: String?, format: TranscriptFormat, inputs: [String], pauseSeconds: Int, isForced: Bool = false,
        resumes: Bool = false, track: SoundTrack = .automatic
    ) throws {
        self.track = track
        self.folder = folder
        self.format = format
        self.isForced = isForced
        self.pauseSeconds = pauseSeconds
        printsNames = inputs.count > 1 && !format.namesItsRecording
        savedChecksums = Mutex(nil)
        guard let folder else {
            if format.isPackage, inputs.count > 1 {
                throw UsageError(
                    "transcribe: \(format.rawValue) of several files needs --output DIR"
                )
            }
            return
        }
        var inputsByName: [String: String] = [:]
        for input in inputs {
            let name = fileName(of: input)
            if let other = inputsByName.updateValue(input, forKey: name.lowercased()) {
                throw UsageError(
                    "transcribe: \(other) and \(input) would both be written to \(folder)/\(name); "
                        + "transcribe them into separate folders")
            }
        }
        try makeFolder(folder, mode: 0o750)
        let checksums = TranscriptChecksums(in: folder)
        // Checked now, before hours are spent on transcription.
        for input in inputs where !resumes || !isCurrent(input) {
            for name in [fileName(of: input), soundCopy(of: input)].compactMap({ $0 }) {
                try check(name, checksums, in: folder)
            }
        }
        savedChecksums.withLock { $0 = checksums }
    }

    /// Whether each transcript is a separate file, which can be written as soon as it is complete.
    var isInFolder: Bool { folder != nil }

    /// Whether the folder has a transcript that is not older than its input; `--resume` then skips the input.
    func isCurrent(_ input: String) -> Bool {
        guard let folder, input != "-" else { return false }
        var (source, text) = (stat(), stat())
        guard stat(input, &source) == 0, lstat("\(folder)/\(fileName(of: input))", &text) == 0,
            text.st_mode & S_IFMT == S_IFREG
        else { return false }
        let (changed, written) = (source.st_mtim, text.st_mtim)
        return (written.tv_sec, written.tv_nsec) >= (changed.tv_sec, changed.tv_nsec)
    }

    func write(_ timeline: Timeline, of input: String) throws {
        var details = try format == .html ? pageDetails(timeline, of: input) : RecordingDetails(timeline)
        details.pauseSeconds = pauseSeconds
        if format == .eaf, let wave = Self.wave(beside: input) { details.audio = wave }
        guard let folder else {
            let isFirst = printedCount.wrappingAdd(1, ordering: .relaxed).oldValue == 0
            if printsNames { try Terminal.print("\(isFirst ? "" : "\n")==> \(oneLine(input)) <==\n") }
            return try format.print(timeline, details: details)
        }
        try savedChecksums.withLock { checksums in
            guard var current = checksums else { return }
            try check(fileName(of: input), current, in: folder)
            try current.write(try format.file(timeline, details: details), as: fileName(of: input))
            checksums = current
        }
    }

    /// Returns the details of a page with its sound. Copies the sound into the folder if needed.
    private func pageDetails(_ timeline: Timeline, of input: String) throws -> RecordingDetails {
        let sound = PageSound(input: input, folder: folder, track: track)
        guard let folder, let copy = soundCopy(of: input) else {
            return try sound.details(timeline, into: nil, named: nil)
        }
        return try savedChecksums.withLock { checksums in
            guard var current = checksums else { return RecordingDetails(timeline) }
            try check(copy, current, in: folder)
            var details = RecordingDetails(timeline)
            try current.write(as: copy) { file in details = try sound.details(timeline, into: file, named: copy) }
            checksums = current
            return details
        }
    }

    /// Returns the name of the file to copy the page's sound to; nil if no copy is made.
    private func soundCopy(of input: String) -> String? {
        guard format == .html else { return nil }
        return PageSound(input: input, folder: folder, track: track).copy(beside: fileName(of: input))
    }

    /// Returns the name of a WAV file beside an input, for `eaf`: some ELAN players cannot play FLAC or MP3.
    private static func wave(beside input: String) -> String? {
        let name = lastName(of: input)
        guard let dot = name.lastIndex(of: "."), dot > name.startIndex else { return nil }
        let names = [".wav", ".WAV"].map { String(name[..<dot]) + $0 }
        return names.first { access("\(System.folder(of: input))/\($0)", R_OK) == 0 }
    }

    private func check(_ name: String, _ checksums: TranscriptChecksums, in folder: String) throws {
        // This check applies even with --force.
        try checksums.check(name)
        guard !isForced, checksums.isForeign(name) else { return }
        throw DeviceError(
            .failed, "write",
            "\(folder)/\(name): was edited, or was not written by transcribe; move it, choose another "
                + "folder, or overwrite it with --force")
    }

    /// The maximum file name length in bytes, minus the suffix that `durableReplace` adds.
    private static let maximumNameBytes = 230

    private func fileName(of input: String) -> String {
        let (name, ending) = (Self.name(of: input), ".\(format.fileExtension)")
        guard name.utf8.count + ending.utf8.count > Self.maximumNameBytes else { return name + ending }
        // A digest keeps shortened names distinct.
        let suffix = "~" + Digest.of(name).prefix(8)
        var short = name[...]
        while short.utf8.count + suffix.utf8.count + ending.utf8.count > Self.maximumNameBytes { short.removeLast() }
        return short + suffix + ending
    }

    private static func name(of path: String) -> String {
        if path == "-" { return "stdin" }
        let name = lastName(of: path)
        guard let dot = name.lastIndex(of: "."), dot != name.startIndex else { return name }
        return String(name[..<dot])
    }
}
