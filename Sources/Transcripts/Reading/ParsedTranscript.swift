import Core
import System

/// A transcript parsed from `transcript.json`, with word times. Untrusted.
package struct ParsedTranscript: Sendable {
    /// The transcript. Its only annotations are the speakers' names; `ParsedPage` has the others.
    package private(set) var timeline: Timeline
    /// The maximum number of segments and words together.
    private static let maxItems = 4_000_000

    /// - Parameter name: The file's name for errors.
    /// - Throws: `DeviceError` with `damaged` if the file is not such a transcript.
    package init(_ bytes: [UInt8], name: String) throws(DeviceError) {
        let document: TranscriptDocument
        do { document = try TranscriptDocument(JSONStrings.check(bytes)) } catch {
            throw DeviceError(.damaged, "read", on: name, "is not a Fieldscribe transcript")
        }
        guard document.sampleRate == SamplePosition.rate else {
            throw DeviceError(
                .damaged, "read", on: name,
                "has the sampleRate \(document.sampleRate); only \(SamplePosition.rate) is supported")
        }
        let count = document.segments.reduce(document.segments.count) { $0 + ($1.words?.count ?? 0) }
        guard count <= Self.maxItems else {
            throw DeviceError(.damaged, "read", on: name, "contains more than any recording can")
        }
        var end = SamplePosition.zero
        var segments: [Segment] = []
        for record in document.segments.sorted(by: { ($0.start, $0.id) < ($1.start, $1.id) }) {
            let segment = record.segment
            // Skips segments that Fieldscribe cannot have written: overlapping ones, and ones without a valid id.
            guard segment.id > 0, segment.range.start >= end else { continue }
            segments.append(segment)
            end = segment.range.end
        }
        timeline = Timeline(
            name: document.file, length: Self.position(document.duration), engine: document.engine, segments: segments,
            gaps: (document.gaps ?? []).map { Gap(Self.range($0.start, $0.end), cause: $0.cause) },
            marks: (document.marks ?? []).map { Bookmark(Self.position($0.time), text: $0.text) },
            transcribedUpTo: document.writtenUpTo.map(Self.position), annotations: document.annotations,
            speakers: document.turns)
    }

    static func position(_ seconds: Double) -> SamplePosition {
        max(.zero, SamplePosition(seconds: seconds))
    }

    static func range(_ start: Double, _ end: Double) -> SampleRange {
        SampleRange(position(start), position(end))
    }
}

/// The content of a recording's page other than its transcript: identity, annotations and peaks. Untrusted.
package struct ParsedPage: Sendable {
    /// The recording, pass and sound; nil if the page does not name them.
    package private(set) var identity: RecordingIdentity?
    package private(set) var annotations: Annotations?
    /// The waveform's peaks, 0 to 255, for equal parts of the recording; may be empty.
    package private(set) var peaks: [UInt8]

    /// - Parameter name: The file's name for errors.
    /// - Throws: `DeviceError` with `damaged` if the file is not a Fieldscribe page.
    package init(_ page: [UInt8], name: String) throws(DeviceError) {
        let document: Document
        let json = Self.data(in: page)
        do { document = try decodedJSON(Document.self, from: json) } catch {
            throw DeviceError(.damaged, "read", on: name, "is not a Fieldscribe page")
        }
        identity = document.recording.flatMap { json in
            RecordingIdentity(
                in: RecordingIdentity(recording: json.id, pass: json.pass, sound: json.sound).text)
        }
        peaks = bytes(ofHexadecimal: document.peaks ?? "")
        var pageAnnotations = Annotations()
        if let details = document.details {
            pageAnnotations.title = details.title
            pageAnnotations.people = details.people
            pageAnnotations.place = details.place
            pageAnnotations.note = details.note
            pageAnnotations.consent = details.consent
        }
        pageAnnotations.notes = (document.notes ?? []).map {
            Bookmark(ParsedTranscript.position($0.time), text: $0.text)
        }
        pageAnnotations.quotations = (document.quotations ?? []).map {
            Quotation(ParsedTranscript.range($0.start, $0.end), text: $0.text, word: $0.word, colour: $0.colour)
        }
        if let names = document.speakers, !names.isEmpty { pageAnnotations.speakers = names }
        annotations = pageAnnotations.isEmpty ? nil : pageAnnotations
    }

    /// Returns the page's JSON, up to the next `<`, which JSON in a page never contains.
    private static func data(in page: [UInt8]) -> [UInt8] {
        guard let tag = page.firstOccurrence(of: #"<script type="application/json" id="data">"#) else { return [] }
        let data = page[tag.upperBound...].prefix { $0 != UInt8(ascii: "<") }
        return Array(String(decoding: data, as: UTF8.self).utf8)
    }

    private struct Document: Decodable {
        var peaks: String?
        var recording: IdentityJSON?
        var details: DetailsJSON?
        var notes: [MarkJSON]?
        var quotations: [QuotationJSON]?
        var speakers: [String: String]?
    }
}

/// Decodes hexadecimal digits. Returns an empty array for anything else.
private func bytes(ofHexadecimal text: String) -> [UInt8] {
    let digits = text.utf8.map { digit -> UInt8? in
        switch digit {
        case 0x30...0x39: digit - 0x30
        case 0x61...0x66: digit - 0x61 + 10
        default: nil
        }
    }
    let values = digits.compactMap { $0 }
    guard values.count == digits.count, values.count.isMultiple(of: 2) else { return [] }
    return stride(from: 0, to: values.count, by: 2).map { values[$0] << 4 | values[$0 + 1] }
}
