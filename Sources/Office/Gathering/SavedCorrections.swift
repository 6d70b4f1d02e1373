import Copying
import Core
import Glibc
import System
import Transcripts

/// What somebody has saved from a recording's page, put to a text of that recording.
struct SavedCorrections: Sendable {
    /// Longer is no file of a page's, in bytes.
    static let largest = 16 << 20

    /// As the page saved it.
    let file: CorrectionsFile
    /// SHA-256 of what it says: a page saves the same twice, in two forms.
    let digest: String
    private let name: String

    /// Reads a file in a confined process.
    ///
    /// - Parameters:
    ///   - name: the file's, for the error.
    ///   - reader: the program that reads it.
    /// - Throws: `DeviceError` if it is no corrections, or exceeds the process's limits.
    init(_ bytes: [UInt8], name: String, reader: String) throws(DeviceError) {
        guard
            case .corrections(let file) = try IncomingFile(
                confined: bytes, as: .corrections, name: name, program: reader
            ).content
        else {
            throw DeviceError(.unsupported, "import", on: name, "is no corrections of Fieldscribe's")
        }
        self.init(file, name: name)
    }

    /// - Parameter name: what errors call it.
    init(_ file: CorrectionsFile, name: String) {
        self.file = file
        self.name = name
        var parts = [file.identity.text, file.person, "\(file.savedAt)"]
        for edit in file.edits {
            parts.append("\(edit.segment) \(edit.was) \(edit.words) \(edit.confirmed.sorted())")
        }
        parts.append(text(of: file.annotations))
        digest = Digest.of(parts.joined(separator: "\n"))
    }

    /// `corrections.json`, `corrections.html`, and what a browser makes of them where one is there: `corrections (1).html`.
    static func isName(_ name: String) -> Bool {
        name.hasPrefix("corrections") && (name.hasSuffix(".json") || name.hasSuffix(".html"))
    }

    /// - Throws: `DeviceError` with `unsupported` where it holds more than a recording with this text can.
    func check(_ timeline: Timeline) throws(DeviceError) {
        guard let excess = RecordingCapacity(timeline.length).excess(of: file) else { return }
        throw DeviceError(.unsupported, "import", on: name, excess, remedy: "nothing was changed")
    }

    /// The text with what was put right in it; nil where it was made of another text.
    func reading(over timeline: Timeline) -> GatheredReading? {
        let known = Dictionary(timeline.segments.map { ($0.id, $0) }) { first, _ in first }
        let edits = Dictionary(file.edits.map { ($0.segment, $0) }) { first, _ in first }
        for edit in file.edits {
            guard let segment = known[edit.segment], Self.keys(edit.was) == Self.keys(segment.words.map(\.text)) else {
                return nil
            }
        }
        var corrected = timeline
        corrected.segments = timeline.segments.map { segment in
            edits[segment.id].map { edit in
                CorrectedSegment(segment, words: edit.words) { edit.confirmed.contains($0) }.segment
            } ?? segment
        }
        corrected.annotations = file.annotations
        corrected.marks = file.annotations.marks ?? timeline.marks
        corrected.engine = EngineDescription(name: EngineDescription.person, version: "", model: file.person)
        corrected.pass = nil
        return GatheredReading(digest: digest, timeline: corrected, person: file.person, madeAt: file.savedAt)
    }

    /// Puts it to the text of a recording that it says it was made of, else to the first one that it fits: a page that changes no word fits
    /// them all.
    ///
    /// - Returns: whether it was new; nil where it was made of none of them.
    func take(into archive: any OfficeArchive, of recording: OfficeRecording) throws(DeviceError) -> Bool? {
        var first: GatheredReading?
        for reading in try archive.readings(of: recording.id) {
            guard let timeline = try archive.timeline(ofReading: reading.id) else { continue }
            try check(timeline)
            guard let corrected = self.reading(over: timeline) else { continue }
            if first == nil || timeline.pass == file.pass { first = corrected }
            if file.pass == nil || timeline.pass == file.pass { break }
        }
        guard let first else { return nil }
        return try archive.take(first, of: recording.id)
    }

    /// Keeps the file beside the recording's copy, as far as that can be written to.
    ///
    /// - Parameter isPage: whether it is the form that a browser shows.
    func keep(_ bytes: [UInt8], beside recording: OfficeRecording, in archive: any OfficeArchive, isPage: Bool) {
        let name = "corrections-\(digest.prefix(8)).\(isPage ? "html" : "json")"
        guard !recording.place.isEmpty, let files = try? Folder(opening: archive.files, crosses: true),
            let folder = try? files.folder(along: recording.place)
        else { return }
        if (try? folder.exists(name)) == false { try? folder.replace(name, with: bytes, mode: 0o640) }
    }

    private static func keys(_ words: [String]) -> [String] {
        words.flatMap { $0.split(separator: " ") }.map { Word.key(of: String($0)) }.filter { !$0.isEmpty }
    }
}
