import Copying
import Core
import Glibc
import System
import Transcripts

/// Corrections saved from a recording's page.
struct SavedCorrections: Sendable {
    /// The largest file, in bytes.
    static let largest = 16 << 20

    let file: CorrectionsFile
    /// SHA-256 of the content, which is the same for JSON and HTML.
    let digest: String
    private let name: String

    /// Parses a file in a confined process.
    ///
    /// - Parameters:
    ///   - name: the file's name, for the error.
    ///   - reader: the program of the process.
    /// - Throws: `DeviceError` if it contains no corrections, or exceeds the process's limits.
    init(_ bytes: [UInt8], name: String, reader: String) throws(DeviceError) {
        guard
            case .corrections(let file) = try IncomingFile(
                confined: bytes, as: .corrections, name: name, program: reader
            ).content
        else {
            throw DeviceError(.unsupported, "import", on: name, "contains no corrections of Fieldscribe")
        }
        self.init(file, name: name)
    }

    /// - Parameter name: the file's name, for errors.
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

    /// Whether a file is named `corrections.json` or `corrections.html`, also as a browser renames it: `corrections
    /// (1).html`.
    static func isName(_ name: String) -> Bool {
        name.hasPrefix("corrections") && (name.hasSuffix(".json") || name.hasSuffix(".html"))
    }

    /// - Throws: `DeviceError` with `unsupported` if it contains more than a recording of this length can.
    func check(_ timeline: Timeline) throws(DeviceError) {
        guard let excess = RecordingCapacity(timeline.length).excess(of: file) else { return }
        throw DeviceError(
            .unsupported, "import", cause: .unfitCorrections, on: name, excess, remedy: "nothing was changed")
    }

    /// Returns the corrected timeline; nil if these are corrections of another text.
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

    /// Applies the corrections to the reading that they name, else to the first one that they fit: corrections without
    /// words fit all.
    ///
    /// - Returns: whether they were new; nil if they fit no reading.
    func add(to archive: any OfficeArchive, of recording: OfficeRecording) throws(DeviceError) -> Bool? {
        var first: GatheredReading?
        for reading in try archive.readings(of: recording.id) {
            guard let timeline = try archive.timeline(ofReading: reading.id) else { continue }
            try check(timeline)
            guard let corrected = self.reading(over: timeline) else { continue }
            if first == nil || timeline.pass == file.pass { first = corrected }
            if file.pass == nil || timeline.pass == file.pass { break }
        }
        guard let first else { return nil }
        return try archive.add(first, of: recording.id)
    }

    /// Writes the file beside the recording's copy, if possible.
    ///
    /// - Parameter isPage: whether it is HTML.
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
