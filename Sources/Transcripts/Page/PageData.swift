import Core

/// The data for the script on a recording's page. Positions are in milliseconds, except those of notes and quotations,
/// which are in seconds.
struct PageData: Encodable {
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

    private var duration: Int64
    private var peaks: String
    private var gaps: [[Int64]]
    private var marks: [Int64]
    /// Nil if the identity is unknown, because corrections could not be matched to the recording.
    private var recording: IdentityJSON?
    private var markTexts: [String]?
    private var details: DetailsJSON?
    private var notes: [MarkJSON]?
    private var quotations: [QuotationJSON]?
    private var bridge: Bridge?
    private var speakers: [String: String]?
    /// Turns during other speakers' turns: start, end and the speaker's index.
    private var alongside: [[Int64]]?
    /// The recorder's name, for the names of downloaded files.
    private var recorder: String?
    /// Nil unless a server accepts corrections.
    private var server: Server?

    init(_ timeline: Timeline, _ page: RecordingDetails) {
        duration = milliseconds(timeline.length)
        peaks = page.peaks.map { $0.padded(to: 2, radix: 16) }.joined()
        gaps = timeline.gaps.map { [milliseconds($0.range.start), milliseconds($0.range.end)] }
        let ordered = timeline.marks.stablySorted(by: \.position)
        marks = ordered.map { milliseconds($0.position) }
        guard let identity = page.identity else { return }
        recording = IdentityJSON(id: identity.recording, sound: identity.sound, pass: timeline.pass)
        markTexts = ordered.map { oneLine($0.text) }
        let annotations = timeline.annotations ?? Annotations()
        details = DetailsJSON(title: timeline.title ?? "", annotations)
        notes = annotations.notes.map(MarkJSON.init)
        quotations = annotations.quotations.map(QuotationJSON.init)
        bridge = Bridge()
        server = page.served.flatMap { served in
            served.saves.map { Server(save: $0, reading: served.transcriptID, name: served.person, now: served.now) }
        }
        speakers = annotations.speakers
        if timeline.hasSeveralSpeakers, let turns = timeline.speakers?.alongside, !turns.isEmpty {
            alongside = turns.map { [milliseconds($0.range.start), milliseconds($0.range.end), Int64($0.speaker)] }
        }
        recorder = page.device
    }
}
