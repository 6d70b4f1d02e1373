import Core
import System

/// A transcript read back from `transcript.json`, with the times of its words. Untrusted.
package struct TranscriptReading: Sendable {
    /// This format's only annotations are the speakers' names.
    package private(set) var timeline: Timeline
    /// Segments and words.
    private static let most = 4_000_000

    /// - Parameter name: the file's, for the error.
    /// - Throws: `DeviceError` with `damaged` if it is not such a transcript.
    package init(_ bytes: [UInt8], name: String) throws(DeviceError) {
        let read: TranscriptDocument
        do { read = try TranscriptDocument(JSONStrings.check(bytes)) } catch {
            throw DeviceError(.damaged, "read", on: name, "is not a Fieldscribe transcript")
        }
        let count = read.segments.reduce(read.segments.count) { $0 + ($1.words?.count ?? 0) }
        guard count <= Self.most, read.sampleRate == SamplePosition.rate else {
            throw DeviceError(.damaged, "read", on: name, "contains more than any recording")
        }
        var end = SamplePosition.zero
        var segments: [Segment] = []
        for segment in read.segments.sorted(by: { ($0.start, $0.id) < ($1.start, $1.id) }) {
            let made = segment.segment
            // Skips segments that we cannot have written: overlapping, or without a number.
            guard made.id > 0, made.range.start >= end else { continue }
            segments.append(made)
            end = made.range.end
        }
        timeline = Timeline(
            name: read.file, length: Self.position(read.duration), engine: read.engine, segments: segments,
            gaps: (read.gaps ?? []).map { Gap(Self.range($0.start, $0.end), cause: $0.cause) },
            marks: (read.marks ?? []).map { Bookmark(Self.position($0.time), text: $0.text) },
            writtenUpTo: read.writtenUpTo.map(Self.position), annotations: read.annotations, speakers: read.turns)
    }

    static func position(_ seconds: Double) -> SamplePosition {
        max(.zero, SamplePosition(seconds: seconds))
    }

    static func range(_ start: Double, _ end: Double) -> SampleRange {
        SampleRange(position(start), position(end))
    }
}

/// The content of a recording's page besides its text: identity and annotations. Untrusted.
package struct PageReading: Sendable {
    /// The recording, pass and sound; nil if the page has none.
    package private(set) var identity: RecordingIdentity?
    /// The annotations; nil if there are none.
    package private(set) var annotations: Annotations?
    /// The peaks of equal parts, 0 to 255; may be empty.
    package private(set) var peaks: [UInt8]

    /// - Parameter name: the file's, for the error.
    /// - Throws: `DeviceError` with `damaged` if it is not a Fieldscribe page.
    package init(_ page: [UInt8], name: String) throws(DeviceError) {
        let read: Document
        let json = Self.data(in: page)
        do { read = try decodedJSON(Document.self, from: json) } catch {
            throw DeviceError(.damaged, "read", on: name, "is not a Fieldscribe page")
        }
        identity = read.recording.flatMap { known in
            RecordingIdentity(
                in: RecordingIdentity(recording: known.id, pass: known.pass, sound: known.sound).text)
        }
        peaks = bytes(ofHexadecimal: read.peaks ?? "")
        var added = Annotations()
        if let details = read.details {
            added.title = details.title
            added.people = details.people
            added.place = details.place
            added.note = details.note
            added.consent = details.consent
        }
        added.notes = (read.notes ?? []).map { Bookmark(TranscriptReading.position($0.time), text: $0.text) }
        added.quotations = (read.quotations ?? []).map {
            Quotation(TranscriptReading.range($0.start, $0.end), text: $0.text, word: $0.word, colour: $0.colour)
        }
        if let names = read.speakers, !names.isEmpty { added.speakers = names }
        annotations = added.isEmpty ? nil : added
    }

    /// Returns the page's data, up to the next `<`, which JSON in a page never contains.
    private static func data(in page: [UInt8]) -> [UInt8] {
        guard let mark = page.place(of: #"<script type="application/json" id="data">"#) else { return [] }
        let data = page[mark.upperBound...].prefix { $0 != UInt8(ascii: "<") }
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

/// Decodes hexadecimal digits; empty for anything else.
private func bytes(ofHexadecimal text: String) -> [UInt8] {
    let digits = text.utf8.map { digit -> UInt8? in
        switch digit {
        case 0x30...0x39: digit - 0x30
        case 0x61...0x66: digit - 0x61 + 10
        default: nil
        }
    }
    let known = digits.compactMap { $0 }
    guard known.count == digits.count, known.count.isMultiple(of: 2) else { return [] }
    return stride(from: 0, to: known.count, by: 2).map { known[$0] << 4 | known[$0 + 1] }
}
