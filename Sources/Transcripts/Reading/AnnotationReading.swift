import Core

/// Parses an ELAN document. Returns its tiers `segments` and `words`, each in chronological order.
func annotationTiers(_ text: String) throws(EditedTranscript.Problem) -> [[EditedTranscript.Entry]] {
    var document = MarkupScanner(text)
    var times: [String: Double] = [:]
    var tiers: [String: [(time: Double, entry: EditedTranscript.Entry)]] = [:]
    var (tier, time) = ("", 0.0)
    var range: SampleRange?
    var value: String?
    var isDocument = false
    while let event = try document.next() {
        switch event {
        case .opening("ANNOTATION_DOCUMENT", _): isDocument = true
        case .opening("TIME_SLOT", let attributes):
            if let id = attributes["TIME_SLOT_ID"], let time = attributes["TIME_VALUE"].flatMap({ Double($0) }) {
                times[id] = time / 1_000
            }
        case .opening("TIER", let attributes): tier = attributes["TIER_ID"] ?? ""
        case .opening("ALIGNABLE_ANNOTATION", let attributes):
            let start = attributes["TIME_SLOT_REF1"].flatMap { times[$0] }
            let end = attributes["TIME_SLOT_REF2"].flatMap { times[$0] }
            // If ELAN removed the annotation's time, it stays after the previous annotation.
            time = start ?? tiers[tier]?.last?.time ?? 0
            range = nil
            if let start, let end { range = SampleRange(SamplePosition(seconds: start), SamplePosition(seconds: end)) }
        case .opening("ANNOTATION_VALUE", _): value = tier == "segments" || tier == "words" ? "" : nil
        case .text(let text): if value != nil { value? += text }
        case .closing("ANNOTATION_VALUE"):
            guard let text = value else { continue }
            value = nil
            guard tiers[tier]?.count ?? 0 < EditedTranscript.maxEntries else { throw .tooLong }
            tiers[tier, default: []].append((time, EditedTranscript.Entry(text, range)))
        default: break
        }
    }
    guard isDocument else { throw EditedTranscript.Problem(line: 1, reason: "is not an ELAN annotation document") }
    var orderedTiers: [[EditedTranscript.Entry]] = []
    for name in ["segments", "words"] {
        guard let annotations = tiers[name] else { continue }
        var entries: [EditedTranscript.Entry] = []
        for annotation in annotations.stablySorted(by: \.time) {
            try entries.add(annotation.entry.text, annotation.entry.range)
        }
        orderedTiers.append(entries)
    }
    guard !orderedTiers.isEmpty else {
        throw EditedTranscript.Problem(line: nil, reason: "has no tier named segments or words")
    }
    return orderedTiers
}

/// A pull parser for the XML that ELAN writes. Rejects document type declarations, because they can make a
/// small file expand to a huge text.
private struct MarkupScanner {
    enum Event {
        case opening(String, [String: String])
        case closing(String)
        case text(String)
    }

    private let bytes: [UInt8]
    private var offset = 0
    private var openElements: [String] = []
    /// The name of an empty element whose closing event comes next.
    private var emptyElement: String?
    private var line = 1
    private static let maxDepth = 64
    private static let maxAttributes = 64

    init(_ text: String) { bytes = Array(text.utf8) }

    mutating func next() throws(EditedTranscript.Problem) -> Event? {
        if let name = emptyElement {
            emptyElement = nil
            return .closing(name)
        }
        while offset < bytes.count {
            guard bytes[offset] == UInt8(ascii: "<") else {
                return .text(try unescaped(scan { $0 != UInt8(ascii: "<") }))
            }
            if starts(with: "<!--") {
                try skip(to: "-->")
            } else if starts(with: "<?") {
                try skip(to: "?>")
            } else if starts(with: "<![CDATA[") {
                offset += 9
                return .text(String(decoding: bytes[try skip(to: "]]>")], as: UTF8.self))
            } else if starts(with: "<!") {
                throw problem("has a document type, which ELAN does not write")
            } else {
                return try scanTag()
            }
        }
        if let name = openElements.last { throw problem("ends within \(name)") }
        return nil
    }

    private mutating func scanTag() throws(EditedTranscript.Problem) -> Event {
        offset += 1
        if starts(with: "/") {
            offset += 1
            let name = scanName()
            skipSpaces()
            guard starts(with: ">"), openElements.popLast() == name else {
                throw problem("</\(name)> does not match an opening tag")
            }
            offset += 1
            return .closing(name)
        }
        let name = scanName()
        guard !name.isEmpty, openElements.count < Self.maxDepth else { throw problem("is not well-formed") }
        var attributes: [String: String] = [:]
        while true {
            skipSpaces()
            if starts(with: "/>") {
                offset += 2
                emptyElement = name
                return .opening(name, attributes)
            }
            if starts(with: ">") {
                offset += 1
                openElements.append(name)
                return .opening(name, attributes)
            }
            let attribute = scanName()
            guard !attribute.isEmpty, attributes.count < Self.maxAttributes, starts(with: "=\"") || starts(with: "='")
            else { throw problem("is not well-formed") }
            let quote = bytes[offset + 1]
            offset += 2
            attributes[attribute] = try unescaped(scan { $0 != quote })
            guard offset < bytes.count else { throw problem("ends within quotes") }
            offset += 1
        }
    }

    private func starts(with text: StaticString) -> Bool {
        let pattern = UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
        return offset + pattern.count <= bytes.count && bytes[offset..<offset + pattern.count].elementsEqual(pattern)
    }

    /// Truncates the name to 80 bytes for error messages. Fieldscribe never writes a longer name.
    private mutating func scanName() -> String {
        String(
            decoding: scan { byte in
                switch byte {
                case 0x20, 0x09, 0x0D, 0x0A, UInt8(ascii: "="), UInt8(ascii: "/"), UInt8(ascii: "<"),
                    UInt8(ascii: ">"), UInt8(ascii: "\""), UInt8(ascii: "'"):
                    false
                default: true
                }
            }.prefix(80), as: UTF8.self)
    }

    private mutating func skipSpaces() { _ = scan { $0 == 0x20 || $0 == 0x0A || $0 == 0x0D || $0 == 0x09 } }

    private mutating func scan(_ isIncluded: (UInt8) -> Bool) -> ArraySlice<UInt8> {
        let start = offset
        while offset < bytes.count, isIncluded(bytes[offset]) {
            if bytes[offset] == 0x0A { line += 1 }
            offset += 1
        }
        return bytes[start..<offset]
    }

    /// Skips past the next occurrence of `end`; returns the range before it.
    @discardableResult
    private mutating func skip(to end: StaticString) throws(EditedTranscript.Problem) -> Range<Int> {
        let start = offset
        while offset < bytes.count {
            if starts(with: end) {
                offset += end.utf8CodeUnitCount
                return start..<offset - end.utf8CodeUnitCount
            }
            if bytes[offset] == 0x0A { line += 1 }
            offset += 1
        }
        throw problem("is truncated")
    }

    /// Resolves XML's five named entities and numeric character references.
    private func unescaped(_ text: ArraySlice<UInt8>) throws(EditedTranscript.Problem) -> String {
        guard text.contains(UInt8(ascii: "&")) else { return String(decoding: text, as: UTF8.self) }
        var unescaped: [UInt8] = []
        var index = text.startIndex
        while index < text.endIndex {
            guard text[index] == UInt8(ascii: "&") else {
                unescaped.append(text[index])
                index += 1
                continue
            }
            let name = text[(index + 1)...].prefix(20).prefix { $0 != UInt8(ascii: ";") }
            guard name.endIndex < text.endIndex, text[name.endIndex] == UInt8(ascii: ";") else {
                throw problem("has an & that does not begin an entity")
            }
            unescaped += try entity(String(decoding: name, as: UTF8.self)).utf8
            index = name.endIndex + 1
        }
        return String(decoding: unescaped, as: UTF8.self)
    }

    private func entity(_ name: String) throws(EditedTranscript.Problem) -> String {
        switch name {
        case "lt": return "<"
        case "gt": return ">"
        case "amp": return "&"
        case "quot": return "\""
        case "apos": return "'"
        default: break
        }
        let number =
            name.hasPrefix("#x")
            ? UInt32(name.dropFirst(2), radix: 16) : name.hasPrefix("#") ? UInt32(name.dropFirst()) : nil
        guard let scalar = number.flatMap({ Unicode.Scalar($0) }) else {
            throw problem("&\(name); is not an XML entity")
        }
        return String(Character(scalar))
    }

    private func problem(_ reason: String) -> EditedTranscript.Problem {
        EditedTranscript.Problem(line: line, reason: reason)
    }
}
