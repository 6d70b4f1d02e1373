import Copying
import Core
import System
import Transcripts

/// Imports corrections and edited transcripts into an archive, like `fieldscribe import` on a recorder. Each file is
/// imported completely or not at all. Used on one thread.
package struct OfficeImport {
    private let archive: any OfficeArchive
    /// The option or form field that specifies the recording, and its syntax, for error messages.
    private let (option, optionSyntax): (String, String)

    /// - Parameter field: the label of the form field that specifies the recording; nil on the command line.
    package init(_ archive: any OfficeArchive, field: String? = nil) {
        self.archive = archive
        (option, optionSyntax) = (field ?? "--recording", field ?? "--recording ID")
    }

    /// Imports a file and returns the result in one line.
    ///
    /// - Parameters:
    ///   - path: the file's path, for error messages. Its extension determines the format.
    ///   - requestedID: the ID of the recording in the archive, if a person specified it.
    ///   - person: the person who edited the transcript; ignored for corrections, which contain the name.
    ///   - fallback: the recording of the copy beside the file, used if neither the file nor a person specifies a
    ///     recording.
    ///   - now: the current time, in seconds since 1970-01-01T00:00:00Z.
    /// - Throws: `DeviceError` with the file's name; the archive is unchanged then.
    package func add(
        _ bytes: [UInt8], of path: String, to requestedID: Int?, by person: String,
        fallback: RecordingIdentity? = nil, now: Double
    ) throws(DeviceError) -> String {
        let file = try IncomingFile(confined: bytes, as: IncomingFile.Kind(named: path), name: path)
        switch file.content {
        case .corrections(let corrections):
            let saved = SavedCorrections(corrections, name: path)
            let recording = try recording(saved.file.identity, requestedID, path)
            let isPage = path.lowercased().hasSuffix(".html")
            guard let isNew = try saved.add(bytes, isPage: isPage, to: archive, of: recording) else {
                throw Self.refusal(
                    path, "was made from a transcript of recording \(recording.id) that is not in the archive",
                    "gather the copy with that transcript, too")
            }
            return Self.resultLine(path, recording, isNew)
        case .text(let edited):
            let requested = requestedID.map { RecordingIdentity(recording: $0, sound: "") }
            guard let identity = file.identity ?? requested ?? fallback else {
                throw Self.refusal(path, "does not identify its recording", "specify it with \(optionSyntax)")
            }
            let recording = try recording(identity, requestedID, path)
            let transcripts = try archive.transcripts(of: recording.id)
            var shown: Timeline?
            if let first = transcripts.first { shown = try archive.timeline(ofTranscript: first.id) }
            let capacity = RecordingCapacity(shown?.length ?? .zero)
            try check(capacity.excess(bytes: bytes.count, fileExtension: edited.format), path)
            try check(capacity.excess(of: edited), path)
            var best: (timeline: Timeline, text: CorrectedText)?
            for transcript in transcripts {
                guard let timeline = try archive.timeline(ofTranscript: transcript.id) else { continue }
                let text = CorrectedText(edited, over: timeline)
                if best.map({ text.isCloser(than: $0.text) }) ?? true { best = (timeline, text) }
            }
            guard let best else {
                throw Self.refusal(
                    path, "belongs to recording \(recording.id), which has no transcript yet", "transcribe it first")
            }
            guard best.text.wordCount > 0 || best.text.changedLineCount == 0 else {
                throw Self.refusal(
                    path, "has no words", "save the transcript again in the program in which it was edited")
            }
            // If only the copy beside the file identifies the recording, at least half of the words must match, unless the
            // file still has the name that Fieldscribe gave it.
            guard
                best.text.isSimilar || file.identity != nil || requested != nil || TranscriptFormat.isFileName(path)
            else {
                throw Self.refusal(
                    path, "has few words in common with recording \(recording.id)",
                    "if it belongs to that recording, add \(option) \(recording.id)")
            }
            guard best.text.changedLineCount > 0 else {
                return "\(path): recording \(recording.id): nothing was corrected in it; nothing was changed"
            }
            var corrected = best.timeline
            corrected.segments = best.text.lines.map(\.segment)
            // Keeps the shown transcript's annotations and bookmarks, because the file has only words and times.
            if let shown { (corrected.annotations, corrected.marks) = (shown.annotations, shown.marks) }
            corrected.engine = EngineDescription(name: EngineDescription.person, version: "", model: person)
            corrected.pass = nil
            // If no line has moved, the words alone identify the transcript.
            let hasMovedLines = best.text.lines.contains { $0.isMoved }
            let content = corrected.segments.map { hasMovedLines ? "\($0.range.start.samples) \($0.text)" : $0.text }
                .joined(separator: "\n")
            let transcript = GatheredTranscript(
                digest: Digest.of("text of \(person)\n\(content)"), timeline: corrected, person: person,
                madeAt: now)
            return Self.resultLine(path, recording, try archive.add(transcript, of: recording.id)) + best.text.remark
        }
    }

    private func check(_ excess: String?, _ path: String) throws(DeviceError) {
        guard let excess else { return }
        throw Self.refusal(path, excess, "shorten it, or choose another recording with \(optionSyntax)")
    }

    private static func resultLine(_ path: String, _ recording: OfficeRecording, _ isNew: Bool) -> String {
        "\(path): recording \(recording.id): "
            + (isNew ? "added" : "already in the archive; nothing was changed")
    }

    /// Returns the recording that a person specified, or else the recording with this identity.
    ///
    /// - Throws: `DeviceError` with `missing` or `unsupported` if there is no such recording, or if the file belongs to
    ///   another recording.
    private func recording(
        _ identity: RecordingIdentity, _ requestedID: Int?, _ path: String
    ) throws(DeviceError) -> OfficeRecording {
        if let requestedID {
            guard let recording = try archive.recording(requestedID) else {
                throw DeviceError(
                    .missing, "import", on: archive.name, "has no recording \(requestedID)",
                    remedy: "to see all recordings, run fieldscribe-office list")
            }
            guard identity.sound.isEmpty || recording.number == identity.recording else {
                throw Self.refusal(
                    path, "belongs to recording \(identity.recording) on its recorder, not to recording \(requestedID)",
                    "leave out \(option)")
            }
            return recording
        }
        guard let recording = try archive.recording(withSamples: identity.sound, number: identity.recording) else {
            throw Self.refusal(
                path, "belongs to recording \(identity.recording), which is not in the archive", "gather its copy, too")
        }
        return recording
    }

    private static func refusal(_ path: String, _ reason: String, _ remedy: String) -> DeviceError {
        DeviceError(.unsupported, "import", on: path, reason, remedy: "\(remedy); nothing was changed")
    }
}
