import Core
import System

/// The corrections that a recording's page saves as `corrections.json` or within an HTML file. Untrusted.
package struct CorrectionsFile: Hashable, Sendable, Codable {
    /// An edited segment.
    package struct Edit: Hashable, Sendable, Codable {
        /// The segment's id.
        package var segment: Int
        /// The words that the page showed, to check that they are still the segment's words.
        package var was: [String]
        package var words: [String]
        package var confirmed: Set<Int>
        /// The indices of words that begin a new line, in ascending order.
        package var breaks: [Int]
        /// Whether the segment continues the previous line.
        package var isJoined: Bool

        package init(
            segment: Int, was: [String], words: [String], confirmed: Set<Int>, breaks: [Int] = [],
            isJoined: Bool = false
        ) {
            self.segment = segment
            self.was = was
            self.words = words
            self.confirmed = confirmed
            self.breaks = breaks
            self.isJoined = isJoined
        }
    }

    package var identity: RecordingIdentity
    /// The pass that the page showed, counted from 1 within the recording; nil if unknown.
    package var pass: Int?
    /// The name of the person who made the corrections; may be empty.
    package var person: String
    /// When the corrections were saved, in seconds since 1970.
    package var savedAt: Double
    /// The edits, in the order of segments.
    package var edits: [Edit]
    /// Everything that the person added besides the words.
    package var annotations: Annotations
    /// The latest version. Files without split or joined lines and without turns have version 1, so that older programs
    /// can read them.
    private static let version = 2
    /// The maximum size of a string in bytes, and the maximum number of elements in each list.
    private static let (maxStringBytes, maxElements) = (65_536, 100_000)
    /// The maximum file size. The file for a fully corrected 24-hour recording is smaller.
    private static let maxFileBytes = 16 << 20

    /// Parses corrections that a page saved.
    ///
    /// - Parameter name: The file's name for errors.
    /// - Throws: `DeviceError` with `damaged` if the text is not a complete corrections file or is too long, or with
    ///   `unsupported` if a later version wrote it.
    package init(_ text: String, name: String) throws(DeviceError) {
        guard text.utf8.count <= Self.maxFileBytes else {
            throw Self.refusal(name, "contains more than any recording can")
        }
        let document: Document
        do {
            document = try JSONScanner.read(
                JSONStrings.check(Self.json(in: text)), maxElements: Self.maxElements
            ) { (scanner) throws(JSONScanner.Unexpected) in
                let scanned = try Document(scanning: &scanner)
                guard scanner.isAtEnd() else { throw JSONScanner.Unexpected() }
                return scanned
            }
        } catch {
            let isTooLong = (error as? JSONScanner.Unexpected)?.isTooLong ?? false
            throw Self.refusal(
                name,
                isTooLong
                    ? "contains more than any recording can" : "is incomplete, or not a Fieldscribe corrections file"
            )
        }
        guard document.format == "fieldscribe-corrections" else {
            throw Self.refusal(name, "is not a Fieldscribe corrections file")
        }
        guard document.version > 0 else { throw Self.refusal(name, "has the invalid version \(document.version)") }
        guard document.version <= Self.version else {
            throw DeviceError(
                .unsupported, "import", on: name, "was written by a later version", remedy: "update fieldscribe")
        }
        guard
            let identity = RecordingIdentity(
                in: RecordingIdentity(recording: document.recording.id, sound: document.recording.sound).text)
        else { throw Self.refusal(name, "does not name its recording") }
        self.identity = identity
        pass = document.recording.pass
        let details = document.details ?? DetailsJSON(title: "", Annotations())
        var texts = [
            document.editor.name, details.title, details.people, details.place, details.note, details.consent,
        ]
        for edit in document.segments { texts += [edit.was, edit.text] }
        for note in document.notes ?? [] { texts.append(note.text) }
        for mark in document.marks ?? [] { texts.append(mark.text) }
        texts += (document.speakers ?? [:]).values
        for quotation in document.quotations ?? [] { texts += [quotation.text, quotation.word, quotation.colour] }
        guard texts.allSatisfy({ $0.utf8.count <= Self.maxStringBytes }) else {
            throw Self.refusal(name, "contains more than any recording can")
        }
        guard Set(document.segments.map(\.id)).count == document.segments.count else {
            throw Self.refusal(name, "contains the same segment twice")
        }
        person = oneLine(document.editor.name)
        savedAt = document.editor.saved
        edits = document.segments.sorted { $0.id < $1.id }.map { edit in
            let words = words(in: edit.text)
            let confirmed = edit.checked == true ? Array(words.indices) : edit.confirmed ?? []
            return Edit(
                segment: edit.id, was: Transcripts.words(in: edit.was), words: words,
                confirmed: Set(confirmed).intersection(words.indices),
                breaks: Set(edit.breaks ?? []).intersection(words.indices.dropFirst()).sorted(),
                isJoined: edit.joined ?? false)
        }
        annotations = Annotations()
        annotations.title = oneLine(details.title)
        annotations.people = oneLine(details.people)
        annotations.place = oneLine(details.place)
        annotations.note = details.note
        annotations.consent = details.consent
        var speakers: [String: String] = [:]
        for (label, name) in document.speakers ?? [:] {
            guard let speaker = Speakers.speaker(labelled: label) else { continue }
            let name = oneLine(name)
            if !name.isEmpty { speakers[Speakers.label(speaker)] = name }
        }
        annotations.speakers = speakers.isEmpty ? nil : speakers
        annotations.turns = document.turns.map { turns in
            Speakers(
                turns: turns.compactMap { turn in
                    Speakers.speaker(labelled: turn.speaker).map {
                        Speakers.Turn(ParsedTranscript.range(turn.start, turn.end), speaker: $0)
                    }
                })
        }
        annotations.notes = Self.bookmarks(document.notes ?? [])
        annotations.marks = document.marks.map(Self.bookmarks)
        annotations.quotations = (document.quotations ?? []).map {
            Quotation(
                ParsedTranscript.range($0.start, $0.end), text: oneLine($0.text), word: oneLine($0.word),
                colour: oneLine($0.colour))
        }.sorted { $0.range.start < $1.range.start }
    }

    private static func bookmarks(_ marks: [MarkJSON]) -> [Bookmark] {
        marks.map { Bookmark(ParsedTranscript.position($0.time), text: oneLine($0.text)) }
            .sorted { $0.position < $1.position }
    }

    /// Returns the JSON in a file: the whole file or, if it is a page, the content of the element `corrections`.
    private static func json(in text: String) -> [UInt8] {
        let bytes = Array(text.utf8)
        let first = bytes.first { ![0x20, 0x0A, 0x0D, 0x09].contains($0) }
        guard first != UInt8(ascii: "{"),
            let start = bytes.firstOccurrence(of: #"<script type="application/json" id="corrections">"#)
        else { return bytes }
        let end = bytes[start.upperBound...].firstOccurrence(of: "</script>")?.lowerBound ?? bytes.count
        return Array(bytes[start.upperBound..<end])
    }

    private static func refusal(_ name: String, _ reason: String) -> DeviceError {
        DeviceError(.damaged, "import", on: name, reason, remedy: "nothing was changed; save it again on the page")
    }

    /// The corrections as JSON, as the page writes them.
    package var text: String {
        let needsLatestVersion = annotations.turns != nil || isDivided
        let document = Document(
            format: "fieldscribe-corrections", version: needsLatestVersion ? Self.version : 1,
            recording: IdentityJSON(id: identity.recording, sound: identity.sound, pass: pass),
            editor: Document.Editor(name: person, saved: savedAt),
            details: DetailsJSON(title: annotations.title, annotations), speakers: annotations.speakers,
            segments: edits.map { edit in
                Document.Segment(
                    id: edit.segment, was: edit.was.joined(separator: " "), text: edit.words.joined(separator: " "),
                    checked: nil, confirmed: edit.confirmed.sorted(), breaks: edit.breaks.isEmpty ? nil : edit.breaks,
                    joined: edit.isJoined ? true : nil)
            },
            turns: annotations.turns.map { speakers in
                speakers.all.map {
                    TurnJSON(
                        start: $0.range.start.seconds, end: $0.range.end.seconds,
                        speaker: Speakers.label($0.speaker))
                }
            },
            notes: annotations.notes.map(MarkJSON.init), marks: annotations.marks?.map(MarkJSON.init),
            quotations: annotations.quotations.map(QuotationJSON.init))
        return (try? jsonText(document)) ?? ""
    }

    struct Document: Encodable {
        struct Editor: Encodable {
            var name: String
            var saved: Double
        }

        struct Segment: Encodable {
            var id: Int
            var was: String
            var text: String
            var checked: Bool?
            var confirmed: [Int]?
            var breaks: [Int]?
            var joined: Bool?
        }

        var format: String
        var version: Int
        var recording: IdentityJSON
        var editor: Editor
        var details: DetailsJSON?
        var speakers: [String: String]?
        var segments: [Segment]
        var turns: [TurnJSON]?
        var notes: [MarkJSON]?
        var marks: [MarkJSON]?
        var quotations: [QuotationJSON]?
    }
}
