import Core
import Glibc
import Synchronization
import System
import Transcripts

/// Where the transcripts of several files go: standard output, or a folder.
final class TranscriptOutput: Sendable {
    private let folder: String?
    private let format: TranscriptFormat
    /// How long a pause is that is told in the format that tells pauses, in seconds.
    private let pauseSeconds: Int
    /// Whether what a person has changed is overwritten.
    private let isForced: Bool
    /// Whether each transcript on standard output gets a line that names its file; JSON names it itself.
    private let hasHeads: Bool
    private let written: Mutex<WrittenTexts?>
    private let printed = Atomic<Int>(0)

    /// - Throws: `UsageError` where two inputs would become one file; `DeviceError` where the folder cannot be made, or
    ///   holds a file that is not what was last written there.
    init(
        folder: String?, format: TranscriptFormat, inputs: [String], pauseSeconds: Int, isForced: Bool = false,
        resumes: Bool = false
    ) throws {
        self.folder = folder
        self.format = format
        self.isForced = isForced
        self.pauseSeconds = pauseSeconds
        hasHeads = inputs.count > 1 && !format.namesItsRecording
        written = Mutex(nil)
        guard let folder else {
            if format.isPackage, inputs.count > 1 {
                throw UsageError(
                    "transcribe: \(format.rawValue) of several files cannot follow each other; write them with --output DIR"
                )
            }
            return
        }
        var taken: [String: String] = [:]
        for input in inputs {
            let name = fileName(of: input)
            if let other = taken.updateValue(input, forKey: name.lowercased()) {
                throw UsageError(
                    "transcribe: \(other) and \(input) would both be written to \(folder)/\(name); "
                        + "transcribe them into separate folders")
            }
        }
        try makeFolder(folder, mode: 0o750)
        let texts = WrittenTexts(in: folder)
        // Before hours are spent on what could not be written.
        for input in inputs where !resumes || !isCurrent(input) { try check(input, texts, in: folder) }
        written.withLock { $0 = texts }
    }

    /// Whether texts are files of their own, so that each may be written as soon as it is complete.
    var isInFolder: Bool { folder != nil }

    /// Whether the text of an input is in the folder and no older than it: `--resume` skips it.
    func isCurrent(_ input: String) -> Bool {
        guard let folder, input != "-" else { return false }
        var (source, text) = (stat(), stat())
        guard stat(input, &source) == 0, lstat("\(folder)/\(fileName(of: input))", &text) == 0,
            text.st_mode & S_IFMT == S_IFREG
        else { return false }
        let (read, written) = (source.st_mtim, text.st_mtim)
        return (written.tv_sec, written.tv_nsec) >= (read.tv_sec, read.tv_nsec)
    }

    func write(_ timeline: Timeline, of input: String) throws {
        var details = RecordingDetails(timeline)
        details.pauseSeconds = pauseSeconds
        if format == .eaf, let wave = Self.wave(beside: input) { details.audio = wave }
        guard let folder else {
            if format.isPackage {
                return try Terminal.print(
                    format.file(timeline, details: details), of: format.rawValue, fileExtension: format.fileExtension)
            }
            let text = try format.render(timeline, details: details)
            let isFirst = printed.wrappingAdd(1, ordering: .relaxed).oldValue == 0
            return try Terminal.print((hasHeads ? "\(isFirst ? "" : "\n")==> \(oneLine(input)) <==\n" : "") + text)
        }
        try written.withLock { texts in
            guard var now = texts else { return }
            try check(input, now, in: folder)
            try now.write(try format.file(timeline, details: details), as: fileName(of: input))
            texts = now
        }
    }

    /// The WAV file of the same name beside a recording in another format: not all of ELAN's players take FLAC or MP3.
    private static func wave(beside input: String) -> String? {
        let path = input.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        guard let name = path.last, let dot = name.lastIndex(of: "."), dot > name.startIndex else { return nil }
        let folder = path.dropLast().map { $0 + "/" }.joined()
        let names = [".wav", ".WAV"].map { String(name[..<dot]) + $0 }
        return names.first { access(folder + $0, R_OK) == 0 }
    }

    private func check(_ input: String, _ texts: WrittenTexts, in folder: String) throws {
        let name = fileName(of: input)
        // Even with --force.
        try texts.check(name)
        guard !isForced, texts.isForeign(name) else { return }
        throw DeviceError(
            .failed, "write",
            "\(folder)/\(name): was changed since it was written, perhaps corrected; move it away, name another "
                + "folder, or overwrite it with --force")
    }

    /// What a folder takes, less what `durableReplace` adds to a name.
    private static let longestName = 230

    private func fileName(of input: String) -> String {
        let (name, ending) = (Self.name(of: input), ".\(format.fileExtension)")
        guard name.utf8.count + ending.utf8.count > Self.longestName else { return name + ending }
        // Shortened, and still different from others that begin alike.
        let mark = "~" + Digest.of(name).prefix(8)
        var short = name[...]
        while short.utf8.count + mark.utf8.count + ending.utf8.count > Self.longestName { short.removeLast() }
        return short + mark + ending
    }

    /// The last part of a path, without the ending.
    private static func name(of path: String) -> String {
        if path == "-" { return "stdin" }
        let name = path.split(separator: "/").last.map(String.init) ?? path
        guard let dot = name.lastIndex(of: "."), dot != name.startIndex else { return name }
        return String(name[..<dot])
    }
}
