import Copying
import Core
import Glibc
import System
import Transcripts

/// Corrections saved from a recording's page.
struct SavedCorrections: Sendable {
    /// The maximum size of a file in bytes.
    static let maximumBytes = 16 << 20

    let file: CorrectionsFile
    /// The SHA-256 of the content, which is the same for JSON and HTML.
    let digest: String
    private let name: String

    /// Parses a file in a sandboxed process.
    ///
    /// - Parameters:
    ///   - name: the file's name, for error messages.
    ///   - reader: the program that runs in the process.
    /// - Throws: `DeviceError` if it contains no corrections, or exceeds the process's limits.
    init(_ bytes: [UInt8], name: String, reader: String) throws(DeviceError) {
        guard
            case .corrections(let file) = try IncomingFile(
                confined: bytes, as: .corrections, name: name, program: reader
            ).content
        else {
            throw DeviceError(.unsupported, "import", on: name, "contains no corrections from Fieldscribe")
        }
        self.init(file, name: name)
    }

    /// - Parameter name: the file's name, for error messages.
    init(_ file: CorrectionsFile, name: String) {
        self.file = file
        self.name = name
        var parts = [file.identity.text, file.person, "\(file.savedAt)"]
        for edit in file.edits {
            parts.append("\(edit.segment) \(edit.was) \(edit.words) \(edit.confirmed.sorted())")
            if edit.isJoined || !edit.breaks.isEmpty { parts.append("\(edit.breaks) \(edit.isJoined)") }
        }
        parts.append(text(of: file.annotations))
        digest = Digest.of(parts.joined(separator: "\n"))
    }

    /// The same corrections without split and joined lines.
    var withoutDivision: SavedCorrections {
        var file = file
        for index in file.edits.indices {
            file.edits[index].breaks = []
            file.edits[index].isJoined = false
        }
        return SavedCorrections(file, name: name)
    }

    /// Returns whether a file has the name `corrections.json` or `corrections.html`, or a name that a browser makes
    /// from these, such as `corrections (1).html`.
    static func isName(_ name: String) -> Bool {
        name.hasPrefix("corrections") && (name.hasSuffix(".json") || name.hasSuffix(".html"))
    }

    /// Checks the size of the corrections.
    ///
    /// - Throws: `DeviceError` with `unsupported` if they contain more than a recording of this length can.
    func check(_ timeline: Timeline) throws(DeviceError) {
        guard let excess = RecordingCapacity(timeline.length).excess(of: file) else { return }
        throw DeviceError(
            .unsupported, "import", cause: .unfitCorrections, on: name, excess, remedy: "nothing was changed")
    }

    /// Returns the corrected transcript; nil if these are corrections of another text.
    func reading(over timeline: Timeline) -> GatheredTranscript? {
        guard file.matches(timeline.segments, \.was) else { return nil }
        var corrected = timeline
        corrected.segments = file.divided(file.lines(over: timeline.segments)).map(\.segment)
        corrected.annotations = file.annotations
        corrected.annotations?.turns = file.annotations.turns ?? timeline.annotations?.turns
        corrected.speakers = file.annotations.turns ?? timeline.speakers
        corrected.marks = file.annotations.marks ?? timeline.marks
        corrected.engine = EngineDescription(name: EngineDescription.person, version: "", model: file.person)
        corrected.pass = nil
        return GatheredTranscript(digest: digest, timeline: corrected, person: file.person, madeAt: file.savedAt)
    }

    /// Applies these corrections to the transcript that they refer to, or to the first transcript that they match.
    /// Corrections without words match every transcript. Keeps the file beside the recording's copy, so that a new
    /// archive can import it.
    ///
    /// If a recorder has already applied the corrections to a copy, and this archive lacks the text that they were made
    /// from, adds that text.
    ///
    /// - Parameters:
    ///   - bytes: the content of the file.
    ///   - isPage: whether the file is HTML.
    /// - Returns: whether the corrections were new; nil if they match no transcript.
    func add(
        _ bytes: [UInt8], isPage: Bool, to archive: any OfficeArchive, of recording: OfficeRecording
    ) throws(DeviceError) -> Bool? {
        let readings = try archive.readings(of: recording.id)
        var first: GatheredTranscript?
        for reading in readings {
            guard let timeline = try archive.timeline(ofReading: reading.id) else { continue }
            try check(timeline)
            guard let corrected = self.reading(over: timeline) else { continue }
            if first == nil || timeline.pass == file.pass { first = corrected }
            if file.pass == nil || timeline.pass == file.pass { break }
        }
        if let first {
            if try isKnown(first, among: readings, in: archive) { return false }
            guard try archive.add(first, of: recording.id) else { return false }
            keep(bytes, beside: recording, in: archive, isPage: isPage)
            return true
        }
        for reading in readings where isPerson(reading.person) {
            guard let timeline = try archive.timeline(ofReading: reading.id), let base = base(under: timeline) else {
                continue
            }
            _ = try archive.add(try original(base, of: recording, in: archive), of: recording.id)
            keep(bytes, beside: recording, in: archive, isPage: isPage)
            return false
        }
        return nil
    }

    /// Returns whether a transcript by the same person contains all of this one, and is the shown one or was made
    /// later.
    private func isKnown(
        _ reading: GatheredTranscript, among readings: [OfficeTranscript], in archive: any OfficeArchive
    ) throws(DeviceError) -> Bool {
        for known in readings where isPerson(known.person) {
            guard known.id == readings.first?.id || known.madeAt >= reading.madeAt,
                let timeline = try archive.timeline(ofReading: known.id)
            else { continue }
            if Self.contains(timeline, reading.timeline) { return true }
        }
        return false
    }

    /// Returns whether a person may have saved the file. An empty name can stand for anyone.
    private func isPerson(_ person: String?) -> Bool {
        guard let person else { return false }
        return person == file.person || person.isEmpty || file.person.isEmpty
    }

    /// Returns whether a transcript contains the words, confirmations and annotations of another.
    private static func contains(_ known: Timeline, _ other: Timeline) -> Bool {
        guard MergedTimelines.haveSameLines(known, other), known.marks == other.marks else { return false }
        // Bookmarks and turns are compared separately: a copy has them only in its transcript, and turns only as far as
        // its lines show them.
        let annotations = [known, other].map { timeline in
            var annotations = timeline.annotations ?? Annotations()
            (annotations.marks, annotations.turns) = (nil, nil)
            return annotations
        }
        let speakers = [known, other].map { timeline in
            timeline.segments.flatMap(\.words).map { timeline.speakers?.speaker(of: $0.range) }
        }
        guard annotations[0] == annotations[1], speakers[0] == speakers[1] else { return false }
        return zip(known.segments, other.segments).allSatisfy { known, other in
            known.words.count == other.words.count
                && zip(known.words, other.words).allSatisfy { known, other in
                    known.text == other.text && (known.confidence >= 1 || other.confidence < 1)
                }
        }
    }

    /// Returns the transcript that these corrections were made from, if `timeline` is their result. The engine's
    /// confidence in the corrected words is unknown.
    private func base(under timeline: Timeline) -> Timeline? {
        guard file.matches(timeline.segments, \.words) else { return nil }
        let edits = Dictionary(file.edits.map { ($0.segment, $0) }) { first, _ in first }
        var base = timeline
        base.segments = timeline.segments.map { segment in
            guard let edit = edits[segment.id] else { return segment }
            var restored = CorrectedSegment(segment, words: edit.was).segment
            for index in restored.words.indices where restored.words[index].confidence >= 1 {
                restored.words[index].confidence = Self.unknownConfidence
            }
            return restored
        }
        base.annotations = nil
        base.pass = file.pass
        return base
    }

    private static let unknownConfidence = 0.5

    /// Returns a restored transcript, with the engine that the recorder's history has for its pass. If that pass is a
    /// person's, the person is unknown.
    private func original(
        _ base: Timeline, of recording: OfficeRecording, in archive: any OfficeArchive
    ) throws(DeviceError) -> GatheredTranscript {
        let entry = try archive.history(of: recording.id).map(\.entry).last { entry in
            file.pass != nil && entry.pass == file.pass && [.written, .corrected].contains(entry.act)
        }
        let isPersons = entry?.act == .corrected
        let engine = (entry?.engine ?? "").split(separator: " ", maxSplits: 1).map(String.init)
        var base = base
        base.engine =
            isPersons
            ? EngineDescription(name: EngineDescription.person, version: "", model: "")
            : EngineDescription(
                name: engine.first ?? "unknown", version: engine.count > 1 ? engine[1] : "",
                model: EngineDescription.restored)
        return GatheredTranscript(
            digest: Digest.of("text before \(digest)"), timeline: base, person: isPersons ? "" : nil,
            madeAt: entry.flatMap { seconds(ofStamp: $0.time) } ?? 0)
    }

    /// Writes the file beside the recording's copy, if possible.
    ///
    /// - Parameter isPage: whether the file is HTML.
    func keep(_ bytes: [UInt8], beside recording: OfficeRecording, in archive: any OfficeArchive, isPage: Bool) {
        let name = "corrections-\(digest.prefix(8)).\(isPage ? "html" : "json")"
        guard !recording.place.isEmpty, let files = try? Folder(opening: archive.files, crossesMounts: true),
            let folder = try? files.folder(along: recording.place)
        else { return }
        if (try? folder.exists(name)) == false { try? folder.replace(name, with: bytes, mode: 0o640) }
    }
}

extension EngineDescription {
    /// The model of a transcript that was restored from corrections.
    static let restored = "restored"
}
