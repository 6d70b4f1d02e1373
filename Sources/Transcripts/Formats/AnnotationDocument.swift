import Core

extension TranscriptFormat {
    /// ELAN annotations.
    package static let eaf = TranscriptFormat("eaf", holdsIdentity: true, renderer: annotationDocument)
}

/// Returns an ELAN annotation document (EAF 3.0) with tiers for segments and their words, for the turns and overlaps of
/// several speakers, for gaps and for marks. Marks last up to 0.1 s because annotations need a duration.
func annotationDocument(_ timeline: Timeline, _ details: RecordingDetails) -> String {
    let tiers = Tiers(timeline, unit: milliseconds)
    var document = AnnotationDocument()
    document.addTier("segments", "utterance", parent: nil, tiers.segments)
    document.addTier("words", "word", parent: "segments", tiers.words.flatMap { $0 })
    for speaker in tiers.speakers {
        document.addTier(speaker.tier, "utterance", parent: nil, speaker.spans, participant: speaker.name)
    }
    if !tiers.overlaps.isEmpty { document.addTier("overlap", "note", parent: nil, tiers.overlaps) }
    document.addTier("gaps", "note", parent: nil, tiers.gaps)
    let marks = tiers.marks.enumerated().map { index, mark in
        let next = index + 1 < tiers.marks.count ? tiers.marks[index + 1].time : .max
        return Tiers.Span(start: mark.time, end: min(mark.time + 100, next), text: mark.text)
    }
    document.addTier("marks", "note", parent: nil, marks)
    return document.text(details)
}

/// Returns ELAN's media type for a file. ELAN uses `unknown` for all other file types.
private func mediaType(_ name: String) -> String {
    switch name.split(separator: ".").last?.lowercased() {
    case "wav": "audio/x-wav"
    case "flac": "audio/flac"
    case "mp3": "audio/mpeg"
    case "mp4", "m4a", "m4v": "video/mp4"
    case "mov": "video/quicktime"
    default: "unknown"
    }
}

/// Collects time slots and tiers. Slots are numbered in chronological order, as in ELAN's own files.
private struct AnnotationDocument {
    private var slots: [(time: Int64, id: Int)] = []
    private var tiers:
        [(
            name: String, type: String, parent: String?, annotations: [(slots: (Int, Int), text: String)],
            participant: String?
        )] =
            []

    mutating func addTier(
        _ name: String, _ type: String, parent: String?, _ spans: [Tiers.Span],
        participant: String? = nil
    ) {
        let annotations = spans.map { span in ((slot(span.start), slot(span.end)), span.text) }
        tiers.append((name, type, parent, annotations, participant))
    }

    private mutating func slot(_ time: Int64) -> Int {
        slots.append((time, slots.count))
        return slots.count - 1
    }

    func text(_ details: RecordingDetails) -> String {
        let ordered = slots.sorted { ($0.time, $0.id) < ($1.time, $1.id) }
        var numbers = [Int](repeating: 0, count: slots.count)
        for (index, slot) in ordered.enumerated() { numbers[slot.id] = index + 1 }
        var lines = [
            #"<?xml version="1.0" encoding="UTF-8"?>"#,
            #"<ANNOTATION_DOCUMENT AUTHOR="fieldscribe" DATE="\#(markup(details.startedAt ?? "1970-01-01T00:00:00Z"))""#
                + #" FORMAT="3.0" VERSION="3.0" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance""#
                + #" xsi:noNamespaceSchemaLocation="http://www.mpi.nl/tools/elan/EAFv3.0.xsd">"#,
            #"    <HEADER MEDIA_FILE="" TIME_UNITS="milliseconds">"#,
            #"        <MEDIA_DESCRIPTOR MEDIA_URL="\#(relativeLink(details.audio))""#
                + #" RELATIVE_MEDIA_URL="\#(relativeLink(details.audio))""#
                + #" MIME_TYPE="\#(mediaType(details.audio))"/>"#,
        ]
        if let identity = details.identity {
            lines.append(#"        <PROPERTY NAME="fieldscribe">\#(identity.text)</PROPERTY>"#)
        }
        lines += ["    </HEADER>", "    <TIME_ORDER>"]
        lines += ordered.enumerated().map { index, slot in
            #"        <TIME_SLOT TIME_SLOT_ID="ts\#(index + 1)" TIME_VALUE="\#(slot.time)"/>"#
        }
        lines.append("    </TIME_ORDER>")
        var count = 0
        for tier in tiers {
            let parent = tier.parent.map { #" PARENT_REF="\#($0)""# } ?? ""
            let participant = tier.participant.map { #" PARTICIPANT="\#(markup($0))""# } ?? ""
            lines.append(
                #"    <TIER LINGUISTIC_TYPE_REF="\#(tier.type)"\#(parent)\#(participant)"#
                    + #" TIER_ID="\#(markup(tier.name))">"#)
            for annotation in tier.annotations {
                count += 1
                lines += [
                    "        <ANNOTATION>",
                    #"            <ALIGNABLE_ANNOTATION ANNOTATION_ID="a\#(count)""#
                        + #" TIME_SLOT_REF1="ts\#(numbers[annotation.slots.0])""#
                        + #" TIME_SLOT_REF2="ts\#(numbers[annotation.slots.1])">"#,
                    "                <ANNOTATION_VALUE>\(markup(annotation.text))</ANNOTATION_VALUE>",
                    "            </ALIGNABLE_ANNOTATION>", "        </ANNOTATION>",
                ]
            }
            lines.append("    </TIER>")
        }
        return lines.map { $0 + "\n" }.joined() + Self.types
    }

    private static let types = """
            <LINGUISTIC_TYPE GRAPHIC_REFERENCES="false" LINGUISTIC_TYPE_ID="utterance" TIME_ALIGNABLE="true"/>
            <LINGUISTIC_TYPE CONSTRAINTS="Included_In" GRAPHIC_REFERENCES="false" LINGUISTIC_TYPE_ID="word" \
        TIME_ALIGNABLE="true"/>
            <LINGUISTIC_TYPE GRAPHIC_REFERENCES="false" LINGUISTIC_TYPE_ID="note" TIME_ALIGNABLE="true"/>
            <CONSTRAINT DESCRIPTION="Time alignable annotations within the parent annotation's time interval, gaps \
        are allowed" STEREOTYPE="Included_In"/>
        </ANNOTATION_DOCUMENT>

        """
}
