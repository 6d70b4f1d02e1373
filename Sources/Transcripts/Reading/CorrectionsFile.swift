import Core
import System

/// The corrections that a recording's page saves: `corrections.json`, or the same in `corrections.html`. Untrusted.
package struct CorrectionsFile: Hashable, Sendable, Codable {
    /// One edited segment.
    package struct Edit: Hashable, Sendable, Codable {
        package var segment: Int
        /// Its words as shown, to check that it is the same text.
        package var was: [String]
        package var words: [String]
        /// Indices of words; all if the segment was confirmed.
        package var confirmed: Set<Int>
        /// The indices of words that begin a new line, in ascending order.
        package var breaks: [Int]
        /// Whether it continues the line before it.
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
    /// May be empty.
    package var person: String
    /// When it was saved, in seconds since 1970.
    package var savedAt: Double
    /// The edits, in the order of segments.
    package var edits: [Edit]
    /// Additions besides the words.
    package var annotations: Annotations
    /// The latest version. Files without lines that were split or joined, and without turns, have version 1, which older
    /// programs read.
    private static let version = 2
    /// The maximum size of a text in bytes, and the maximum number of elements of each kind.
    private static let (longest, most) = (65_536, 100_000)
    /// The largest file in bytes: a fully corrected recording of a day is smaller.
    private static let largest = 16 << 20

    /// Parses a saved page's corrections.
    ///
    /// - Parameter name: The file's name for errors.
    /// - Throws: `DeviceError` with `damaged` if it is not a complete corrections file, `unsupported` if a later
    ///   version wrote it.
    package init(_ text: String, name: String) throws(DeviceError) {
        guard text.utf8.count <= Self.largest else {
            throw Self.refusal(name, "contains more than any recording")
        }
        let read: Document
        do {
            read = try JSONScanner.read(
                JSONStrings.check(Self.json(in: text)), most: Self.most
            ) { (scanner) throws(JSONScanner.Unexpected) in
                let document = try Document(scanning: &scanner)
                guard scanner.isAtEnd() else { throw JSONScanner.Unexpected() }
                return document
            }
        } catch {
            let isTooLong = (error as? JSONScanner.Unexpected)?.isTooLong ?? false
            throw Self.refusal(
                name,
                isTooLong
                    ? "contains more than any recording" : "is incomplete, or not a Fieldscribe corrections file"
            )
        }
        guard read.format == "fieldscribe-corrections" else {
            throw Self.refusal(name, "is not a Fieldscribe corrections file")
        }
        guard (1...Self.version).contains(read.version) else {
            throw DeviceError(
                .unsupported, "import", on: name, "was written by a later version", remedy: "update fieldscribe")
        }
        guard
            let identity = RecordingIdentity(
                in: RecordingIdentity(recording: read.recording.id, sound: read.recording.sound).text)
        else { throw Self.refusal(name, "does not name its recording") }
        self.identity = identity
        pass = read.recording.pass
        let details = read.details ?? DetailsJSON(title: "", Annotations())
        var texts = [
            read.editor.name, details.title, details.people, details.place, details.note, details.consent,
        ]
        for edit in read.segments { texts += [edit.was, edit.text] }
        for note in read.notes ?? [] { texts.append(note.text) }
        for mark in read.marks ?? [] { texts.append(mark.text) }
        texts += (read.speakers ?? [:]).values
        for quotation in read.quotations ?? [] { texts += [quotation.text, quotation.word, quotation.colour] }
        guard texts.allSatisfy({ $0.utf8.count <= Self.longest }) else {
            throw Self.refusal(name, "contains more than any recording")
        }
        guard Set(read.segments.map(\.id)).count == read.segments.count else {
            throw Self.refusal(name, "contains a segment twice")
        }
        person = oneLine(read.editor.name)
        savedAt = read.editor.saved
        edits = read.segments.sorted { $0.id < $1.id }.map { edit in
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
        for (label, name) in read.speakers ?? [:] {
            guard let speaker = Speakers.speaker(labelled: label) else { continue }
            let name = oneLine(name)
            if !name.isEmpty { speakers[Speakers.label(speaker)] = name }
        }
        annotations.speakers = speakers.isEmpty ? nil : speakers
        annotations.turns = read.turns.map { turns in
            Speakers(
                turns: turns.compactMap { turn in
                    Speakers.speaker(labelled: turn.speaker).map {
                        Speakers.Turn(TranscriptReading.range(turn.start, turn.end), speaker: $0)
                    }
                })
        }
        annotations.notes = Self.places(read.notes ?? [])
        annotations.marks = read.marks.map(Self.places)
        annotations.quotations = (read.quotations ?? []).map {
            Quotation(
                TranscriptReading.range($0.start, $0.end), text: oneLine($0.text), word: oneLine($0.word),
                colour: oneLine($0.colour))
        }.sorted { $0.range.start < $1.range.start }
    }

    private static func places(_ places: [MarkJSON]) -> [Bookmark] {
        places.map { Bookmark(TranscriptReading.position($0.time), text: oneLine($0.text)) }
            .sorted { $0.position < $1.position }
    }

    /// Returns the JSON; of a page, the content of its element `corrections`.
    private static func json(in text: String) -> [UInt8] {
        let bytes = Array(text.utf8)
        let first = bytes.first { ![0x20, 0x0A, 0x0D, 0x09].contains($0) }
        guard first != UInt8(ascii: "{"),
            let start = bytes.place(of: #"<script type="application/json" id="corrections">"#)
        else { return bytes }
        let end = bytes[start.upperBound...].place(of: "</script>")?.lowerBound ?? bytes.count
        return Array(bytes[start.upperBound..<end])
    }

    private static func refusal(_ name: String, _ reason: String) -> DeviceError {
        DeviceError(.damaged, "import", on: name, reason, remedy: "nothing was changed; save it again on the page")
    }

    /// The JSON that the page writes.
    package var text: String {
        let isLater = annotations.turns != nil || isDivided
        let document = Document(
            format: "fieldscribe-corrections", version: isLater ? Self.version : 1,
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
