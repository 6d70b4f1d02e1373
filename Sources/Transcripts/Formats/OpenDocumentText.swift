import Core

extension TranscriptFormat {
    /// A document for LibreOffice, Word and other word processors (OpenDocument Text 1.2).
    static let odt = TranscriptFormat("odt", isUsual: false, package: openDocument) { timeline, details in
        documentContent(documentParagraphs(timeline, details))
    }
}

private let documentType = "application/vnd.oasis.opendocument.text"

private let xmlStart = #"<?xml version="1.0" encoding="UTF-8"?>"# + "\n"

private func openDocument(title: String, content: String) -> [UInt8] {
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

/// Named styles, so that users can restyle all paragraphs of a kind at once.
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

private func documentContent(_ paragraphs: [DocumentParagraph]) -> String {
    func paragraph(_ style: String, _ content: String) -> String {
        #"<text:p text:style-name="\#(style)">\#(content)</text:p>"# + "\n"
    }
    let body = paragraphs.map { element in
        switch element {
        case .title(let text): return paragraph("Title", markup(text))
        case .fact(let text): return paragraph("Standard", markup(text))
        case .note(let text): return paragraph("Note", markup(text))
        case .turn(let speaker, let start, let text):
            let time = #"<text:span text:style-name="Time">\#(clockTime(start))</text:span> "#
            let name = speaker.map { #"<text:span text:style-name="Speaker">\#(markup($0)):</text:span> "# } ?? ""
            return paragraph("Turn", time + name + markup(text))
        }
    }
    return xmlStart + "<office:document-content \(documentNamespaces)><office:body><office:text>\n" + body.joined()
        + "</office:text></office:body></office:document-content>\n"
}
