import Copying
import Core
import Glibc
import System
import Transcripts

/// Corrections saved from a recording's page.
struct SavedCorrections: Sendable {
    static let maximumBytes = 16 << 20

    let file: CorrectionsFile
    /// The SHA-256 of the corrections, which is the same for JSON and HTML files.
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
        parts.append(canonicalText(of: file.annotations))
        digest = Digest.of(parts.joined(separator: "\n"))
    }

    /// These corrections without split and joined lines.
    var withoutLineChanges: SavedCorrections {
        var file = file
        for index in file.edits.indices {
            file.edits[index].breaks = []
            file.edits[index].isJoined = false
        }
        return SavedCorrections(file, name: name)
    }

    /// Returns whether a file may contain corrections according to its name: `corrections.json`, `corrections.html`, or a
    /// name that a browser makes from these, such as `corrections (1).html`.
    static func isFileName(_ name: String) -> Bool {
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

    /// Returns the corrected transcript; nil if these corrections were made from a different transcript.
    func transcript(over timeline: Timeline) -> GatheredTranscript? {
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

    /// Applies these corrections to the transcript whose pass they name, or else to the first transcript that they
    /// match. Corrections without words match every transcript. Also writes the file beside the recording's copy, so
    /// that a new archive can import it.
    ///
    /// If the recorder has already applied the corrections to a copy, and the archive lacks the transcript that they were
    /// made from, restores and adds that transcript.
    ///
    /// - Parameters:
    ///   - bytes: the content of the file.
    ///   - isPage: whether the file is HTML.
    /// - Returns: whether the corrections were new; nil if they match no transcript.
    func add(
        _ bytes: [UInt8], isPage: Bool, to archive: any OfficeArchive, of recording: OfficeRecording
    ) throws(DeviceError) -> Bool? {
        let transcripts = try archive.transcripts(of: recording.id)
        var match: GatheredTranscript?
        for transcript in transcripts {
            guard let timeline = try archive.timeline(ofTranscript: transcript.id) else { continue }
            try check(timeline)
            guard let corrected = self.transcript(over: timeline) else { continue }
            if match == nil || timeline.pass == file.pass { match = corrected }
            if file.pass == nil || timeline.pass == file.pass { break }
        }
        if let match {
            if try isKnown(match, among: transcripts, in: archive) { return false }
            guard try archive.add(match, of: recording.id) else { return false }
            write(bytes, beside: recording, in: archive, isPage: isPage)
            return true
        }
        for transcript in transcripts where mayBeAuthor(transcript.person) {
            guard let timeline = try archive.timeline(ofTranscript: transcript.id),
                let original = original(of: timeline)
            else { continue }
            _ = try archive.add(try restored(original, of: recording, in: archive), of: recording.id)
            write(bytes, beside: recording, in: archive, isPage: isPage)
            return false
        }
        return nil
    }

    /// Returns whether a transcript by the same person contains all corrections in `corrected`, and is shown or was made
    /// later.
    private func isKnown(
        _ corrected: GatheredTranscript, among transcripts: [OfficeTranscript], in archive: any OfficeArchive
    ) throws(DeviceError) -> Bool {
        for transcript in transcripts where mayBeAuthor(transcript.person) {
            guard transcript.id == transcripts.first?.id || transcript.madeAt >= corrected.madeAt,
                let timeline = try archive.timeline(ofTranscript: transcript.id)
            else { continue }
            if Self.contains(timeline, corrected.timeline) { return true }
        }
        return false
    }

    /// Returns whether a person may have saved this file. An empty name stands for anyone.
    private func mayBeAuthor(_ person: String?) -> Bool {
        guard let person else { return false }
        return person == file.person || person.isEmpty || file.person.isEmpty
    }

    /// Returns whether a transcript contains the words, confirmations and annotations of another.
    private static func contains(_ timeline: Timeline, _ other: Timeline) -> Bool {
        guard MergedTimelines.haveSameLines(timeline, other), timeline.marks == other.marks else { return false }
        // Compares bookmarks and turns separately: a copy's annotations have neither, but its transcript has the
        // bookmarks, and the speaker of each line.
        let annotations = [timeline, other].map { timeline in
            var annotations = timeline.annotations ?? Annotations()
            (annotations.marks, annotations.turns) = (nil, nil)
            return annotations
        }
        let speakers = [timeline, other].map { timeline in
            timeline.segments.flatMap(\.words).map { timeline.speakers?.speaker(of: $0.range) }
        }
        guard annotations[0] == annotations[1], speakers[0] == speakers[1] else { return false }
        return zip(timeline.segments, other.segments).allSatisfy { segment, other in
            segment.words.count == other.words.count
                && zip(segment.words, other.words).allSatisfy { word, other in
                    word.text == other.text && (word.confidence >= 1 || other.confidence < 1)
                }
        }
    }

    /// Returns the transcript that these corrections were made from, if `timeline` is their result; nil otherwise. The
    /// engine's confidence in the corrected words is unknown.
    private func original(of timeline: Timeline) -> Timeline? {
        guard file.matches(timeline.segments, \.words) else { return nil }
        let edits = Dictionary(file.edits.map { ($0.segment, $0) }) { first, _ in first }
        var original = timeline
        original.segments = timeline.segments.map { segment in
            guard let edit = edits[segment.id] else { return segment }
            var old = CorrectedSegment(segment, words: edit.was).segment
            for index in old.words.indices where old.words[index].confidence >= 1 {
                old.words[index].confidence = Self.unknownConfidence
            }
            return old
        }
        original.annotations = nil
        original.pass = file.pass
        return original
    }

    private static let unknownConfidence = 0.5

    /// Returns the transcript that these corrections were made from, with the engine that the recording's history
    /// names. If a person made that transcript, `person` is empty, because the history does not name the person.
    private func restored(
        _ original: Timeline, of recording: OfficeRecording, in archive: any OfficeArchive
    ) throws(DeviceError) -> GatheredTranscript {
        let entry = try archive.history(of: recording.id).map(\.entry).last { entry in
            file.pass != nil && entry.pass == file.pass && [.written, .corrected].contains(entry.act)
        }
        let isByPerson = entry?.act == .corrected
        let engine = (entry?.engine ?? "").split(separator: " ", maxSplits: 1).map(String.init)
        var restored = original
        restored.engine =
            isByPerson
            ? EngineDescription(name: EngineDescription.person, version: "", model: "")
            : EngineDescription(
                name: engine.first ?? "unknown", version: engine.count > 1 ? engine[1] : "",
                model: EngineDescription.restored)
        return GatheredTranscript(
            digest: Digest.of("text before \(digest)"), timeline: restored, person: isByPerson ? "" : nil,
            madeAt: entry.flatMap { seconds(ofStamp: $0.time) } ?? 0)
    }

    /// Writes these corrections to a file beside the recording's copy. Ignores errors.
    ///
    /// - Parameter isPage: whether `bytes` are HTML rather than JSON.
    func write(_ bytes: [UInt8], beside recording: OfficeRecording, in archive: any OfficeArchive, isPage: Bool) {
        let name = "corrections-\(digest.prefix(8)).\(isPage ? "html" : "json")"
        guard !recording.copyFolder.isEmpty, let files = try? Folder(opening: archive.filesPath, crossesMounts: true),
            let folder = try? files.folder(along: recording.copyFolder)
        else { return }
        if (try? folder.exists(name)) == false { try? folder.replace(name, with: bytes, mode: 0o640) }
    }
}

extension EngineDescription {
    /// The model of a transcript that was restored from corrections.
    static let restored = "restored"
}
