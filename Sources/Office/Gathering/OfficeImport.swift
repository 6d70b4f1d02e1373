import Copying
import Core
import System
import Transcripts

/// Imports corrections into an archive, like `fieldscribe import` on a recorder: each file completely or not at all.
/// Used on one thread.
package struct OfficeImport {
    private let archive: any OfficeArchive
    /// The option or field that specifies the recording, without and with its value, for error messages.
    private let (option, choice): (String, String)

    /// - Parameter field: the form field in which a person specifies the recording; nil on the command line.
    package init(_ archive: any OfficeArchive, field: String? = nil) {
        self.archive = archive
        (option, choice) = (field ?? "--recording", field ?? "--recording ID")
    }

    /// Imports a file and returns the result in one line.
    ///
    /// - Parameters:
    ///   - path: the file's path, for error messages. Its extension determines the format.
    ///   - requested: the ID of the recording in the archive, if a person specified it.
    ///   - person: the person who made the corrections, unless the file contains the name.
    ///   - neighbour: the recording according to the files beside this file.
    ///   - now: the current time, in seconds since 1970-01-01T00:00:00Z.
    /// - Throws: `DeviceError` with the file's name; nothing is changed then.
    package func add(
        _ bytes: [UInt8], of path: String, to requested: Int?, by person: String, neighbour: RecordingIdentity? = nil,
        now: Double
    ) throws(DeviceError) -> String {
        let read = try IncomingFile(confined: bytes, as: IncomingFile.Kind(named: path), name: path)
        switch read.content {
        case .corrections(let corrections):
            let saved = SavedCorrections(corrections, name: path)
            let recording = try recording(saved.file.identity, requested, path)
            let isPage = path.lowercased().hasSuffix(".html")
            guard let isNew = try saved.add(bytes, isPage: isPage, to: archive, of: recording) else {
                throw Self.refusal(
                    path, "was made from a different text of recording \(recording.id), which is not in the archive",
                    "gather the copy with that text, too")
            }
            return Self.line(path, recording, isNew)
        case .text(let written):
            let specified = requested.map { RecordingIdentity(recording: $0, sound: "") }
            let contained = read.identity
            // A recording that a person specifies has precedence over the files beside this file.
            guard let identity = contained ?? specified ?? neighbour else {
                throw Self.refusal(path, "does not identify its recording", "specify it with \(choice)")
            }
            let recording = try recording(identity, requested, path)
            let readings = try archive.readings(of: recording.id)
            var shown: Timeline?
            if let first = readings.first { shown = try archive.timeline(ofReading: first.id) }
            let capacity = RecordingCapacity(shown?.length ?? .zero)
            try check(capacity.excess(bytes: bytes.count, fileExtension: written.format), path)
            try check(capacity.excess(of: written), path)
            var best: (timeline: Timeline, text: CorrectedText)?
            for reading in readings {
                guard let timeline = try archive.timeline(ofReading: reading.id) else { continue }
                let text = CorrectedText(written, over: timeline)
                if best.map({ text.isCloser(than: $0.text) }) ?? true { best = (timeline, text) }
            }
            guard let best else {
                throw Self.refusal(
                    path, "belongs to recording \(recording.id), which has no transcript yet", "transcribe it first")
            }
            guard best.text.words > 0 || best.text.changed == 0 else {
                throw Self.refusal(
                    path, "has no words", "save the text again in the program with which it was corrected")
            }
            // If neither the file, its name nor a person identifies the recording, its words have to be similar.
            guard
                best.text.isSimilar || contained != nil || requested != nil || TranscriptFormat.isFileName(path)
            else {
                throw Self.refusal(
                    path, "has few words in common with recording \(recording.id)",
                    "if it belongs to that recording, add \(option) \(recording.id)")
            }
            guard best.text.changed > 0 else {
                return "\(path): recording \(recording.id): nothing was corrected in it; nothing was changed"
            }
            var corrected = best.timeline
            corrected.segments = best.text.lines.map(\.segment)
            // The file contains only words, so everything else stays.
            if let shown { (corrected.annotations, corrected.marks) = (shown.annotations, shown.marks) }
            corrected.engine = EngineDescription(name: EngineDescription.person, version: "", model: person)
            corrected.pass = nil
            // If no line has moved, the words alone identify the transcript.
            let isMoved = best.text.lines.contains { $0.isMoved }
            let content = corrected.segments.map { isMoved ? "\($0.range.start.samples) \($0.text)" : $0.text }
                .joined(separator: "\n")
            let reading = GatheredTranscript(
                digest: Digest.of("text of \(person)\n\(content)"), timeline: corrected, person: person,
                madeAt: now)
            return Self.line(path, recording, try archive.add(reading, of: recording.id)) + best.text.remark
        }
    }

    private func check(_ excess: String?, _ path: String) throws(DeviceError) {
        if let excess { throw Self.refusal(path, excess, "shorten it, or choose another recording with \(choice)") }
    }

    private static func line(_ path: String, _ recording: OfficeRecording, _ isNew: Bool) -> String {
        "\(path): recording \(recording.id): "
            + (isNew ? "added" : "already in the archive; nothing was changed")
    }

    /// Returns the recording that a person specified, or the recording with the file's sound.
    ///
    /// - Throws: `DeviceError` with `missing` or `unsupported` if there is no such recording, or the file belongs to
    ///   another.
    private func recording(
        _ identity: RecordingIdentity, _ requested: Int?, _ path: String
    ) throws(DeviceError) -> OfficeRecording {
        if let requested {
            guard let found = try archive.recording(requested) else {
                throw DeviceError(
                    .missing, "import", on: archive.name, "has no recording \(requested)",
                    remedy: "to see all recordings, run fieldscribe-office list")
            }
            guard identity.sound.isEmpty || found.number == identity.recording else {
                throw Self.refusal(
                    path, "belongs to recording \(identity.recording) on its recorder, not to recording \(requested)",
                    "leave out \(option)")
            }
            return found
        }
        guard let found = try archive.recording(ofSound: identity.sound, number: identity.recording) else {
            throw Self.refusal(
                path, "belongs to recording \(identity.recording), which is not in the archive", "gather its copy, too")
        }
        return found
    }

    private static func refusal(_ path: String, _ reason: String, _ remedy: String) -> DeviceError {
        DeviceError(.unsupported, "import", on: path, reason, remedy: "\(remedy); nothing was changed")
    }
}
