import Core

extension TranscriptFormat {
    /// A document for word processors (OpenDocument Text 1.2): LibreOffice, Word, and whatever else opens it.
    package static let odt = TranscriptFormat(
        "odt", isUsual: false,
        package: { details, content in openDocument(content: content, title: oneLine(details.title)) }
    ) { timeline, details in documentContent(timeline, details) }
}

private let documentType = "application/vnd.oasis.opendocument.text"

private let xmlStart = #"<?xml version="1.0" encoding="UTF-8"?>"# + "\n"

/// The package around a document's content.
private func openDocument(content: String, title: String) -> [UInt8] {
    let namespace = "urn:oasis:names:tc:opendocument:xmlns"
    let manifest =
        xmlStart
        + #"<manifest:manifest xmlns:manifest="\#(namespace):manifest:1.0" manifest:version="1.2">"#
        + [("/", documentType), ("content.xml", "text/xml"), ("styles.xml", "text/xml"), ("meta.xml", "text/xml")].map {
            #"<manifest:file-entry manifest:full-path="\#($0)" manifest:media-type="\#($1)"/>"#
        }.joined() + "</manifest:manifest>\n"
    let meta =
        xmlStart
        + #"<office:document-meta xmlns:office="\#(namespace):office:1.0" xmlns:meta="\#(namespace):meta:1.0""#
        + #" xmlns:dc="http://purl.org/dc/elements/1.1/" office:version="1.2"><office:meta>"#
        + "<meta:generator>Fieldscribe</meta:generator><dc:title>\(markup(title))</dc:title>"
        + "</office:meta></office:document-meta>\n"
    return ZipPackage.stored([
        ("mimetype", Array(documentType.utf8)), ("content.xml", Array(content.utf8)),
        ("styles.xml", Array(documentStyles.utf8)), ("meta.xml", Array(meta.utf8)),
        ("META-INF/manifest.xml", Array(manifest.utf8)),
    ])
}

private let documentNamespaces =
    ["office", "style", "text"].map { #"xmlns:\#($0)="urn:oasis:names:tc:opendocument:xmlns:\#($0):1.0""# }
    .joined(separator: " ")
    + #" xmlns:fo="urn:oasis:names:tc:opendocument:xmlns:xsl-fo-compatible:1.0" office:version="1.2""#

/// Styles by the names that word processors know, so that a person can change all of one kind at once.
private let documentStyles =
    xmlStart + "<office:document-styles \(documentNamespaces)><office:styles>"
    + #"<style:default-style style:family="paragraph"><style:text-properties fo:font-size="11pt"/></style:default-style>"#
    + #"<style:style style:name="Standard" style:family="paragraph"><style:paragraph-properties"#
    + #" fo:margin-bottom="0.2cm"/></style:style>"#
    + #"<style:style style:name="Title" style:family="paragraph" style:parent-style-name="Standard">"#
    + #"<style:text-properties fo:font-size="16pt" fo:font-weight="bold"/></style:style>"#
    + #"<style:style style:name="Turn" style:family="paragraph" style:parent-style-name="Standard">"#
    + #"<style:paragraph-properties fo:orphans="2" fo:widows="2"/></style:style>"#
    + #"<style:style style:name="Note" style:family="paragraph" style:parent-style-name="Standard">"#
    + #"<style:text-properties fo:font-style="italic"/></style:style>"#
    + #"<style:style style:name="Speaker" style:family="text"><style:text-properties fo:font-weight="bold"/>"#
    + #"</style:style><style:style style:name="Time" style:family="text"><style:text-properties"#
    + ##" fo:color="#666666" fo:font-size="9pt"/></style:style>"##
    + "</office:styles></office:document-styles>\n"

/// Title, what is known of the recording, who speaks and for how long, and then a paragraph a turn, or a segment where several
/// people are not told apart, with its time in front.
private func documentContent(_ timeline: Timeline, _ details: RecordingDetails) -> String {
    func paragraph(_ style: String, _ content: String) -> String {
        #"<text:p text:style-name="\#(style)">\#(content)</text:p>"# + "\n"
    }
    var body = paragraph("Title", markup(oneLine(details.title)))
    let facts = [details.started.map(oneLine), clockTime(timeline.length), details.device.map(oneLine)]
    body += paragraph("Standard", markup(facts.compactMap { $0 }.joined(separator: ", ")))
    if timeline.tellsSpeakers, let seconds = timeline.speakers?.seconds {
        let people = seconds.enumerated().map { speaker, seconds in
            "\(oneLine(timeline.name(ofSpeaker: speaker))) (\(clockTime(SamplePosition(seconds: seconds))))"
        }
        body += paragraph("Standard", markup("Speakers: \(people.joined(separator: ", "))"))
    }

    var notes = tellingMarks(of: timeline)
    notes += timeline.gaps.map { ($0.range.start, description(of: $0)) }
    notes.sort { $0.time < $1.time }
    var left = notes[...]
    var open: (speaker: Int?, start: SamplePosition, words: [String])?
    func close() {
        guard let turn = open else { return }
        open = nil
        let name = turn.speaker.map { speaker in
            let name = markup(oneLine(timeline.name(ofSpeaker: speaker)))
            return #"<text:span text:style-name="Speaker">\#(name):</text:span> "#
        }
        let time = #"<text:span text:style-name="Time">\#(clockTime(turn.start))</text:span> "#
        body += paragraph("Turn", time + (name ?? "") + markup(turn.words.joined(separator: " ")))
    }
    for segment in timeline.segments {
        for turn in timeline.turns(of: segment) {
            for word in turn.words {
                let text = oneLine(word.text)
                guard !text.isEmpty else { continue }
                while let note = left.first, note.time <= word.range.start {
                    close()
                    body += paragraph("Note", markup(note.line))
                    left = left.dropFirst()
                }
                let isNew = turn.speaker == nil ? word == segment.words.first : turn.speaker != open?.speaker
                if isNew { close() }
                open = open ?? (turn.speaker, word.range.start, [])
                open?.words.append(text)
            }
        }
    }
    close()
    for rest in left { body += paragraph("Note", markup(rest.line)) }
    if let rest = unwrittenText(timeline) { body += paragraph("Note", "[\(markup(rest))]") }
    return xmlStart + "<office:document-content \(documentNamespaces)><office:body><office:text>\n" + body
        + "</office:text></office:body></office:document-content>\n"
}
