import Core
import FoundationEssentials

/// A transcript that `json` has written, read back with the times of its words. Everything in it is a stranger's.
package struct TranscriptReading: Sendable {
    /// As it was written; of what somebody has added, only the names of those who speak are in this format.
    package private(set) var timeline: Timeline

    /// The most segments, words and so on that are believed.
    private static let most = 4_000_000

    /// - Parameter name: the file's, for the error.
    /// - Throws: `DeviceError` with `damaged` where it is no such transcript.
    package init(_ bytes: [UInt8], name: String) throws(DeviceError) {
        let read: TranscriptDocument
        do { read = try TranscriptDocument(JSONStrings.check(bytes)) } catch {
            throw DeviceError(.damaged, "read", on: name, "is no transcript of Fieldscribe's")
        }
        let count = read.segments.reduce(read.segments.count) { $0 + ($1.words?.count ?? 0) }
        guard count <= Self.most, read.sampleRate == SamplePosition.rate else {
            throw DeviceError(.damaged, "read", on: name, "holds more than a recording can have")
        }
        var end = SamplePosition.zero
        var segments: [Segment] = []
        for segment in read.segments.sorted(by: { ($0.start, $0.id) < ($1.start, $1.id) }) {
            let made = segment.segment
            // What overlaps its neighbour, or has no number, was not written by us; its words are kept as far as they go.
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

/// What a recording's page holds besides its text: which recording it is of, and what people have added. Everything in it is a
/// stranger's.
package struct PageReading: Sendable {
    /// Which recording, pass and sound it is of; nil where it does not tell.
    package private(set) var identity: RecordingIdentity?
    /// What was added; nil where that is nothing.
    package private(set) var annotations: Annotations?
    /// The loudest sample of each of so many equal stretches, 0 to 255; empty where it does not tell.
    package private(set) var peaks: [UInt8]

    /// - Parameter name: the file's, for the error.
    /// - Throws: `DeviceError` with `damaged` where it is no page of Fieldscribe's.
    package init(_ page: [UInt8], name: String) throws(DeviceError) {
        let read: Document
        let json = Self.data(in: page)
        do { read = try JSONDecoder().decode(Document.self, from: Data(JSONStrings.check(json))) } catch {
            throw DeviceError(.damaged, "read", on: name, "is no page of Fieldscribe's")
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

    /// What stands between the first such mark and the next `<`, which JSON in a page never holds; most of a page is its program.
    private static func data(in page: [UInt8]) -> [UInt8] {
        guard let mark = page.place(of: #"<script type="application/json" id="data">"#) else { return [] }
        let data = page[mark.upperBound...].prefix { $0 != UInt8(ascii: "<") }
        return Array(String(decoding: data, as: UTF8.self).utf8)
    }

    private struct Document: Decodable {
        struct Known: Decodable {
            var id: Int
            var sound: String
            var pass: Int?
        }

        struct Details: Decodable {
            var title: String
            var people: String
            var place: String
            var note: String
            var consent: String
        }

        struct Place: Decodable {
            var time: Double
            var text: String
        }

        struct Kept: Decodable {
            var start: Double
            var end: Double
            var text: String
            var word: String
            var colour: String
        }

        var peaks: String?
        var recording: Known?
        var details: Details?
        var notes: [Place]?
        var quotations: [Kept]?
        var speakers: [String: String]?
    }
}

/// The bytes that pairs of hexadecimal digits stand for; none where anything else is among them.
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
