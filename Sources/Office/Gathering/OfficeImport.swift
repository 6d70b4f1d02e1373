import Copying
import Core
import System
import Transcripts

/// Imports corrections into an archive, as `fieldscribe import` does on a recorder: each file completely, or not at all.
/// Used on one thread.
package struct OfficeImport {
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
    /// - Parameters:
    ///   - path: for errors; its extension names the format.
    ///   - asked: the recording in the archive, if a person named it.
    ///   - person: who corrected it, if the file does not name them.
    ///   - neighbour: the recording according to the files beside it.
    ///   - now: in seconds since 1970-01-01T00:00:00Z.
    /// - Throws: `DeviceError` in one line that names the file; then nothing was changed.
    package func add(
        _ bytes: [UInt8], of path: String, to asked: Int?, by person: String, neighbour: RecordingIdentity? = nil,
        now: Double
    ) throws(DeviceError) -> String {
        let read = try IncomingFile(confined: bytes, as: IncomingFile.Kind(named: path), name: path)
        switch read.content {
        case .corrections(let corrections):
            let saved = SavedCorrections(corrections, name: path)
            let recording = try recording(saved.file.identity, asked, path)
            let isPage = path.lowercased().hasSuffix(".html")
            guard let isNew = try saved.add(bytes, isPage: isPage, to: archive, of: recording) else {
                throw Self.refusal(
                    path, "was made from a different text of recording \(recording.id), which is not in the archive",
                    "gather that copy, too")
            }
            return Self.line(path, recording, isNew)
        case .text(let written):
            let named = asked.map { RecordingIdentity(recording: $0, sound: "") }
            let own = read.identity
            // A recording that a person names has precedence over the files beside the imported one.
            guard let identity = own ?? named ?? neighbour else {
                throw Self.refusal(path, "does not name its recording", "name it with \(choice)")
            }
            let recording = try recording(identity, asked, path)
            let readings = try archive.readings(of: recording.id)
            var shown: Timeline?
            if let first = readings.first { shown = try archive.timeline(ofReading: first.id) }
            let capacity = RecordingCapacity(shown?.length ?? .zero)
            try check(capacity.excess(bytes: bytes.count, ending: written.format), path)
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
                throw Self.refusal(path, "has no words", "save the text again in the program in which it was corrected")
            }
            // A checksum, a place in a copy or a person identifies the recording; its words alone do not.
            guard best.text.isSimilar || own != nil || asked != nil || TranscriptFormat.isFileName(path) else {
                throw Self.refusal(
                    path, "has few of the words of recording \(recording.id)",
                    "if it belongs to that recording, add \(option) \(recording.id)")
            }
            guard best.text.changed > 0 else {
                return "\(path): recording \(recording.id): nothing was corrected in it; nothing was changed"
            }
            var corrected = best.timeline
            corrected.segments = best.text.lines.map(\.segment)
            // The file has only words; everything else stays.
            if let shown { (corrected.annotations, corrected.marks) = (shown.annotations, shown.marks) }
            corrected.engine = EngineDescription(name: EngineDescription.person, version: "", model: person)
            corrected.pass = nil
            // If lines did not move, the words alone identify the reading.
            let isMoved = best.text.lines.contains { $0.isMoved }
            let said = corrected.segments.map { isMoved ? "\($0.range.start.samples) \($0.text)" : $0.text }
                .joined(separator: "\n")
            let reading = GatheredReading(
                digest: Digest.of("text of \(person)\n\(said)"), timeline: corrected, person: person,
                madeAt: now)
            return Self.line(path, recording, try archive.add(reading, of: recording.id)) + best.text.remark
        }
    }

    private func check(_ excess: String?, _ path: String) throws(DeviceError) {
        if let excess { throw Self.refusal(path, excess, "shorten it, or name another recording with \(choice)") }
    }

    private static func line(_ path: String, _ recording: OfficeRecording, _ isNew: Bool) -> String {
        "\(path): recording \(recording.id): "
            + (isNew ? "added" : "already in the archive; nothing was changed")
    }

    /// Returns the recording that a person named, or the one with the file's sound.
    ///
    /// - Throws: `DeviceError` with `missing` or `unsupported` if there is none, or the file names a different one.
    private func recording(
        _ identity: RecordingIdentity, _ asked: Int?, _ path: String
    ) throws(DeviceError) -> OfficeRecording {
        if let asked {
            guard let found = try archive.recording(asked) else {
                throw DeviceError(
                    .missing, "import", on: archive.name, "has no recording \(asked)",
                    remedy: "fieldscribe-office list shows all of them")
            }
            guard identity.sound.isEmpty || found.number == identity.recording else {
                throw Self.refusal(
                    path, "belongs to its recorder's recording \(identity.recording), not to recording \(asked)",
                    "leave out \(option)")
            }
            return found
        }
        guard let found = try archive.recording(ofSound: identity.sound, number: identity.recording) else {
            throw Self.refusal(
                path, "belongs to a recording \(identity.recording) that is not in the archive", "gather its copy, too")
        }
        return found
    }

    private static func refusal(_ path: String, _ reason: String, _ remedy: String) -> DeviceError {
        DeviceError(.unsupported, "import", on: path, reason, remedy: "\(remedy); nothing was changed")
    }
}
