import Copying
import Core
import System
import Transcripts

/// Imports corrections into an archive, as `fieldscribe import` does on a recorder: each file completely, or not at all.
/// Used on one thread.
package struct OfficeImport {
    /// A file to import.
    package struct File {
        /// The path, for errors; its extension names the format.
        var path: String
        /// The whole content.
        var bytes: [UInt8]
        /// The recording in the archive, if a person named it.
        var recording: Int?
        /// Who corrected it, if the file does not name them.
        var person: String
        /// The recording according to the files beside it.
        var neighbour: RecordingIdentity?

        package init(
            path: String, bytes: [UInt8], recording: Int?, person: String, neighbour: RecordingIdentity?
        ) {
            self.path = path
            self.bytes = bytes
            self.recording = recording
            self.person = person
            self.neighbour = neighbour
        }
    }

    private let archive: any OfficeArchive
    /// The option or field that names the recording, without and with its value, for errors.
    private let (option, choice): (String, String)

    /// - Parameter field: the field in which a person names the recording; nil on the command line.
    package init(_ archive: any OfficeArchive, field: String? = nil) {
        self.archive = archive
        (option, choice) = (field ?? "--recording", field ?? "--recording ID")
    }

    /// Imports a file; returns the result in one line.
    ///
    /// - Parameter now: in seconds since 1970-01-01T00:00:00Z.
    /// - Throws: `DeviceError` in one line that names the file; then nothing was changed.
    package func add(_ file: File, now: Double) throws(DeviceError) -> String {
        let kind = IncomingFile.Kind(named: file.path)
        let read = try IncomingFile(confined: file.bytes, as: kind, name: file.path)
        switch read.content {
        case .corrections(let corrections):
            let saved = SavedCorrections(corrections, name: file.path)
            let recording = try recording(saved.file.identity, file)
            let isPage = file.path.lowercased().hasSuffix(".html")
            guard let isNew = try saved.add(file.bytes, isPage: isPage, to: archive, of: recording) else {
                throw Self.refusal(
                    file, "was made from a different text of recording \(recording.id), which is not in the archive",
                    "gather that copy, too")
            }
            return Self.line(file, recording, isNew)
        case .text(let written):
            let named = file.recording.map { RecordingIdentity(recording: $0, sound: "") }
            let own = read.identity
            // A recording that a person names has precedence over the files beside the imported one.
            guard let identity = own ?? named ?? file.neighbour else {
                throw Self.refusal(file, "does not name its recording", "name it with \(choice)")
            }
            let recording = try recording(identity, file)
            let readings = try archive.readings(of: recording.id)
            var shown: Timeline?
            if let first = readings.first { shown = try archive.timeline(ofReading: first.id) }
            let capacity = RecordingCapacity(shown?.length ?? .zero)
            try check(capacity.excess(bytes: file.bytes.count, ending: written.format), file)
            try check(capacity.excess(of: written), file)
            var best: (timeline: Timeline, text: CorrectedText)?
            for reading in readings {
                guard let timeline = try archive.timeline(ofReading: reading.id) else { continue }
                let text = CorrectedText(written, over: timeline)
                if best.map({ text.isCloser(than: $0.text) }) ?? true { best = (timeline, text) }
            }
            guard let best else {
                throw Self.refusal(
                    file, "belongs to recording \(recording.id), which has no transcript yet", "transcribe it first")
            }
            guard best.text.words > 0 || best.text.changed == 0 else {
                throw Self.refusal(file, "has no words", "save the text again in the program in which it was corrected")
            }
            // A checksum, a place in a copy or a person identifies the recording; its words alone do not.
            guard best.text.isSimilar || own != nil || file.recording != nil || TranscriptFormat.isFileName(file.path)
            else {
                throw Self.refusal(
                    file, "has few of the words of recording \(recording.id)",
                    "if it belongs to that recording, add \(option) \(recording.id)")
            }
            guard best.text.changed > 0 else {
                return "\(file.path): recording \(recording.id): nothing was corrected in it; nothing was changed"
            }
            var corrected = best.timeline
            corrected.segments = best.text.lines.map(\.segment)
            // The file has only words; everything else stays.
            if let shown { (corrected.annotations, corrected.marks) = (shown.annotations, shown.marks) }
            corrected.engine = EngineDescription(name: EngineDescription.person, version: "", model: file.person)
            corrected.pass = nil
            // If lines did not move, the words alone identify the reading.
            let isMoved = best.text.lines.contains { $0.isMoved }
            let said = corrected.segments.map { isMoved ? "\($0.range.start.samples) \($0.text)" : $0.text }
                .joined(separator: "\n")
            let reading = GatheredReading(
                digest: Digest.of("text of \(file.person)\n\(said)"), timeline: corrected, person: file.person,
                madeAt: now)
            return Self.line(file, recording, try archive.add(reading, of: recording.id)) + best.text.remark
        }
    }

    private func check(_ excess: String?, _ file: File) throws(DeviceError) {
        if let excess { throw Self.refusal(file, excess, "shorten it, or name another recording with \(choice)") }
    }

    private static func line(_ file: File, _ recording: OfficeRecording, _ isNew: Bool) -> String {
        "\(file.path): recording \(recording.id): "
            + (isNew ? "added" : "already in the archive; nothing was changed")
    }

    /// Returns the recording that a person named, or the one with the file's sound.
    ///
    /// - Throws: `DeviceError` with `missing` or `unsupported` if there is none, or the file names a different one.
    private func recording(_ identity: RecordingIdentity, _ file: File) throws(DeviceError) -> OfficeRecording {
        if let asked = file.recording {
            guard let found = try archive.recording(asked) else {
                throw DeviceError(
                    .missing, "import", on: archive.name, "has no recording \(asked)",
                    remedy: "fieldscribe-office list shows all of them")
            }
            guard identity.sound.isEmpty || found.number == identity.recording else {
                throw Self.refusal(
                    file, "belongs to its recorder's recording \(identity.recording), not to recording \(asked)",
                    "leave out \(option)")
            }
            return found
        }
        guard let found = try archive.recording(ofSound: identity.sound, number: identity.recording) else {
            throw Self.refusal(
                file, "belongs to a recording \(identity.recording) that is not in the archive", "gather its copy, too")
        }
        return found
    }

    private static func refusal(_ file: File, _ reason: String, _ remedy: String) -> DeviceError {
        DeviceError(.unsupported, "import", on: file.path, reason, remedy: "\(remedy); nothing was changed")
    }
}
