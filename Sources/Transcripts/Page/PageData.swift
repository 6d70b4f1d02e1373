import Core

/// What the script of a recording's page is told.
struct PageData: Encodable {
    private struct Known: Encodable {
        var id: Int
        var sound: String
        var pass: Int?
    }

    private struct Details: Encodable {
        var title: String
        var people: String
        var place: String
        var note: String
        var consent: String
    }

    private struct Kept: Encodable {
        var start: Double
        var end: Double
        var text: String
        var word: String
        var colour: String
    }

    private struct Server: Encodable {
        var save: String
        var reading: Int
        var name: String
        var now: Double
    }

    private struct Bridge: Encodable {
        var text = PagePart.bridgeScript.text
        var digest = PagePart.bridgeScript.digest
    }

    /// In milliseconds, as all times but those in seconds of notes and quotations.
    private var duration: Int64
    private var peaks: String
    private var gaps: [[Int64]]
    private var marks: [Int64]
    /// Only where the recording is known, so that corrections can come back.
    private var recording: Known?
    private var markTexts: [String]?
    private var details: Details?
    private var notes: [MarkJSON]?
    private var quotations: [Kept]?
    private var bridge: Bridge?
    /// What people are called who have a name, by their labels.
    private var speakers: [String: String]?
    /// Only where a server takes what a person saves.
    private var server: Server?

    init(_ timeline: Timeline, _ page: RecordingDetails) {
        duration = milliseconds(timeline.length)
        peaks = hexadecimal(page.peaks)
        gaps = timeline.gaps.map { [milliseconds($0.range.start), milliseconds($0.range.end)] }
        let ordered = timeline.marks.enumerated().sorted {
            ($0.element.position, $0.offset) < ($1.element.position, $1.offset)
        }.map(\.element)
        marks = ordered.map { milliseconds($0.position) }
        guard let identity = page.identity else { return }
        recording = Known(id: identity.recording, sound: identity.sound, pass: timeline.pass)
        markTexts = ordered.map { oneLine($0.text) }
        let annotations = timeline.annotations ?? Annotations()
        details = Details(
            title: annotations.title, people: annotations.people, place: annotations.place, note: annotations.note,
            consent: annotations.consent)
        notes = annotations.notes.map(MarkJSON.init)
        quotations = annotations.quotations.map {
            Kept(
                start: $0.range.start.seconds, end: $0.range.end.seconds, text: $0.text, word: $0.word,
                colour: $0.colour)
        }
        bridge = Bridge()
        server = page.served.flatMap { served in
            served.saves.map { Server(save: $0, reading: served.reading, name: served.person, now: served.now) }
        }
        speakers = annotations.speakers
    }
}
