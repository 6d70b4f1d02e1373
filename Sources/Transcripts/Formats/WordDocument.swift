import Core

extension TranscriptFormat {
    /// A document for Word (Office Open XML, ECMA-376, transitional). LibreOffice and Pages open it, too.
    package static let docx = TranscriptFormat("docx", package: wordPackage) { timeline, details in
        wordContent(documentParagraphs(timeline, details))
    }
}

private let xmlStart = #"<?xml version="1.0" encoding="UTF-8" standalone="yes"?>"# + "\n"
private let wordNamespace = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
private let packageNamespace = "http://schemas.openxmlformats.org/package/2006"
private let relationships = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"

private func wordPackage(title: String, content: String) -> [UInt8] {
    let types = "application/vnd.openxmlformats"
    let parts = [
        ("/word/document.xml", "officedocument.wordprocessingml.document.main"),
        ("/word/styles.xml", "officedocument.wordprocessingml.styles"),
        ("/word/settings.xml", "officedocument.wordprocessingml.settings"),
        ("/docProps/core.xml", "package.core-properties"),
    ]
    let contentTypes =
        xmlStart + #"<Types xmlns="\#(packageNamespace)/content-types">"#
        + #"<Default Extension="rels" ContentType="\#(types)-package.relationships+xml"/>"#
        + #"<Default Extension="xml" ContentType="application/xml"/>"#
        + parts.map { #"<Override PartName="\#($0)" ContentType="\#(types)-\#($1)+xml"/>"# }.joined() + "</Types>\n"
    let core =
        xmlStart + #"<cp:coreProperties xmlns:cp="\#(packageNamespace)/metadata/core-properties""#
        + #" xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>\#(markup(title))</dc:title></cp:coreProperties>"#
        + "\n"
    let links = relationshipList([
        ("\(relationships)/officeDocument", "word/document.xml"),
        ("\(packageNamespace)/relationships/metadata/core-properties", "docProps/core.xml"),
    ])
    let documentLinks = relationshipList([
        ("\(relationships)/styles", "styles.xml"), ("\(relationships)/settings", "settings.xml"),
    ])
    // The content types come first because file(1) looks for them there.
    return ZipPackage.stored(
        [
            ("[Content_Types].xml", contentTypes), ("_rels/.rels", links), ("word/document.xml", content),
            ("word/_rels/document.xml.rels", documentLinks), ("word/styles.xml", wordStyles),
            ("word/settings.xml", wordSettings), ("docProps/core.xml", core),
        ].map { ($0.0, Array($0.1.utf8)) })
}

private func relationshipList(_ links: [(type: String, target: String)]) -> String {
    xmlStart + #"<Relationships xmlns="\#(packageNamespace)/relationships">"#
        + links.enumerated().map { #"<Relationship Id="rId\#($0 + 1)" Type="\#($1.type)" Target="\#($1.target)"/>"# }
        .joined() + "</Relationships>\n"
}

/// Selects the mode of Word 2013 and later. Otherwise, Word would open the document in its compatibility mode.
private let wordSettings =
    xmlStart + #"<w:settings xmlns:w="\#(wordNamespace)"><w:compat><w:compatSetting w:name="compatibilityMode""#
    + #" w:uri="http://schemas.microsoft.com/office/word" w:val="15"/></w:compat></w:settings>"# + "\n"

/// The same styles as in `odt`, with the same sizes.
private let wordStyles: String = {
    func style(_ type: String, _ name: String, isDefault: Bool = false, _ properties: String) -> String {
        let attributes = isDefault ? #" w:default="1""# : name == "Title" ? "" : #" w:customStyle="1""#
        let base = type == "paragraph" ? "Normal" : "DefaultParagraphFont"
        return #"<w:style w:type="\#(type)"\#(attributes) w:styleId="\#(name)"><w:name w:val="\#(name)"/>"#
            + (isDefault ? "" : #"<w:basedOn w:val="\#(base)"/>"#) + "<w:qFormat/>\(properties)</w:style>"
    }
    return xmlStart + #"<w:styles xmlns:w="\#(wordNamespace)"><w:docDefaults><w:rPrDefault><w:rPr>"#
        + #"<w:rFonts w:ascii="Calibri" w:hAnsi="Calibri" w:cs="Calibri"/><w:sz w:val="22"/><w:szCs w:val="22"/>"#
        + "</w:rPr></w:rPrDefault></w:docDefaults>"
        // 0.2 cm, in twentieths of a point.
        + style("paragraph", "Normal", isDefault: true, #"<w:pPr><w:spacing w:after="113"/></w:pPr>"#)
        + #"<w:style w:type="character" w:default="1" w:styleId="DefaultParagraphFont">"#
        + #"<w:name w:val="Default Paragraph Font"/><w:uiPriority w:val="1"/><w:semiHidden/></w:style>"#
        + style("paragraph", "Title", #"<w:rPr><w:b/><w:bCs/><w:sz w:val="32"/><w:szCs w:val="32"/></w:rPr>"#)
        + style("paragraph", "Turn", "<w:pPr><w:widowControl/></w:pPr>")
        + style("paragraph", "Note", "<w:rPr><w:i/><w:iCs/></w:rPr>")
        + style("character", "Speaker", "<w:rPr><w:b/><w:bCs/></w:rPr>")
        + style(
            "character", "Time", #"<w:rPr><w:color w:val="666666"/><w:sz w:val="18"/><w:szCs w:val="18"/></w:rPr>"#)
        + "</w:styles>\n"
}()

private func wordContent(_ paragraphs: [DocumentParagraph]) -> String {
    func run(_ text: String, _ style: String? = nil) -> String {
        let properties = style.map { #"<w:rPr><w:rStyle w:val="\#($0)"/></w:rPr>"# } ?? ""
        return #"<w:r>\#(properties)<w:t xml:space="preserve">\#(markup(text))</w:t></w:r>"#
    }
    func paragraph(_ style: String, _ runs: String) -> String {
        #"<w:p><w:pPr><w:pStyle w:val="\#(style)"/></w:pPr>\#(runs)</w:p>"# + "\n"
    }
    let body = paragraphs.map { element in
        switch element {
        case .title(let text): return paragraph("Title", run(text))
        case .fact(let text): return paragraph("Normal", run(text))
        case .note(let text): return paragraph("Note", run(text))
        case .turn(let speaker, let start, let text):
            let name = speaker.map { run("\($0):", "Speaker") + run(" ") } ?? ""
            return paragraph("Turn", run(clockTime(start), "Time") + run(" ") + name + run(text))
        }
    }
    // A4 with margins of 2 cm, in twentieths of a point.
    let page =
        #"<w:sectPr><w:pgSz w:w="11906" w:h="16838"/><w:pgMar w:top="1134" w:right="1134" w:bottom="1134""#
        + #" w:left="1134" w:header="709" w:footer="709" w:gutter="0"/></w:sectPr>"#
    return xmlStart + #"<w:document xmlns:w="\#(wordNamespace)"><w:body>"# + "\n" + body.joined() + page
        + "</w:body></w:document>\n"
}
