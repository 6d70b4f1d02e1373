import Core

/// Returns the tiers `segments` and `words` of an ELAN document, in chronological order.
func annotationReadings(_ text: String) throws(WrittenText.Problem) -> [[WrittenText.Piece]] {
    var document = MarkupScanner(text)
    var times: [String: Double] = [:]
    var tiers: [String: [(time: Double, piece: WrittenText.Piece)]] = [:]
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
            // If ELAN removed the time, the annotation stays after the previous one.
            time = start ?? tiers[tier]?.last?.time ?? 0
            range = nil
            if let start, let end { range = SampleRange(SamplePosition(seconds: start), SamplePosition(seconds: end)) }
        case .opening("ANNOTATION_VALUE", _): value = tier == "segments" || tier == "words" ? "" : nil
        case .text(let text): if value != nil { value? += text }
        case .closing("ANNOTATION_VALUE"):
            guard let text = value else { continue }
            value = nil
            guard tiers[tier]?.count ?? 0 < WrittenText.maxPieces else { throw .tooLong }
            tiers[tier, default: []].append((time, WrittenText.Piece(text, range)))
        default: break
        }
    }
    guard isDocument else { throw WrittenText.Problem(line: 1, reason: "is not an ELAN annotation document") }
    var readings: [[WrittenText.Piece]] = []
    for name in ["segments", "words"] {
        guard let annotations = tiers[name] else { continue }
        var pieces: [WrittenText.Piece] = []
        for annotation in annotations.stablySorted(by: \.time) {
            try pieces.add(annotation.piece.text, annotation.piece.range)
        }
        readings.append(pieces)
    }
    guard !readings.isEmpty else {
        throw WrittenText.Problem(line: nil, reason: "has no tier named segments or words")
    }
    return readings
}

/// A pull parser for XML as ELAN writes it. Rejects document types, which can make a small file expand.
private struct MarkupScanner {
    enum Event {
        case opening(String, [String: String])
        case closing(String)
        case text(String)
    }

    private let bytes: [UInt8]
    private var place = 0
    private var open: [String] = []
    /// The name of an empty element to close next.
    private var closing: String?
    private var line = 1
    private static let deepest = 64
    private static let maxAttributes = 64

    init(_ text: String) { bytes = Array(text.utf8) }

    mutating func next() throws(WrittenText.Problem) -> Event? {
        if let name = closing {
            closing = nil
            return .closing(name)
        }
        while place < bytes.count {
            guard bytes[place] == UInt8(ascii: "<") else {
                return .text(try plain(scan { $0 != UInt8(ascii: "<") }))
            }
            if starts(with: "<!--") {
                try skip(to: "-->")
            } else if starts(with: "<?") {
                try skip(to: "?>")
            } else if starts(with: "<![CDATA[") {
                place += 9
                return .text(String(decoding: bytes[try skip(to: "]]>")], as: UTF8.self))
            } else if starts(with: "<!") {
                throw problem("has a document type, which ELAN does not write")
            } else {
                return try tag()
            }
        }
        guard open.isEmpty else { throw problem("ends within \(open.last ?? "")") }
        return nil
    }

    private mutating func tag() throws(WrittenText.Problem) -> Event {
        place += 1
        if starts(with: "/") {
            place += 1
            let name = self.name()
            skipSpaces()
            guard starts(with: ">"), open.popLast() == name else { throw problem("</\(name)> closes nothing") }
            place += 1
            return .closing(name)
        }
        let name = self.name()
        guard !name.isEmpty, open.count < Self.deepest else { throw problem("is not well-formed") }
        var attributes: [String: String] = [:]
        while true {
            skipSpaces()
            if starts(with: "/>") {
                place += 2
                closing = name
                return .opening(name, attributes)
            }
            if starts(with: ">") {
                place += 1
                open.append(name)
                return .opening(name, attributes)
            }
            let attribute = self.name()
            guard !attribute.isEmpty, attributes.count < Self.maxAttributes, starts(with: "=\"") || starts(with: "='")
            else { throw problem("is not well-formed") }
            let quote = bytes[place + 1]
            place += 2
            attributes[attribute] = try plain(scan { $0 != quote })
            guard place < bytes.count else { throw problem("ends within quotes") }
            place += 1
        }
    }

    private func starts(with text: StaticString) -> Bool {
        let sought = UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
        return place + sought.count <= bytes.count && bytes[place..<place + sought.count].elementsEqual(sought)
    }

    /// Truncated for messages; a longer one is not ours.
    private mutating func name() -> String {
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

    private mutating func scan(_ belongs: (UInt8) -> Bool) -> ArraySlice<UInt8> {
        let start = place
        while place < bytes.count, belongs(bytes[place]) {
            if bytes[place] == 0x0A { line += 1 }
            place += 1
        }
        return bytes[start..<place]
    }

    /// Skips to the end of a text; returns the range before it.
    @discardableResult
    private mutating func skip(to end: StaticString) throws(WrittenText.Problem) -> Range<Int> {
        let start = place
        while place < bytes.count {
            if starts(with: end) {
                place += end.utf8CodeUnitCount
                return start..<place - end.utf8CodeUnitCount
            }
            if bytes[place] == 0x0A { line += 1 }
            place += 1
        }
        throw problem("is truncated")
    }

    /// Resolves XML's five entities and numeric ones.
    private func plain(_ text: ArraySlice<UInt8>) throws(WrittenText.Problem) -> String {
        guard text.contains(UInt8(ascii: "&")) else { return String(decoding: text, as: UTF8.self) }
        var plain: [UInt8] = []
        var index = text.startIndex
        while index < text.endIndex {
            guard text[index] == UInt8(ascii: "&") else {
                plain.append(text[index])
                index += 1
                continue
            }
            let name = text[(index + 1)...].prefix(20).prefix { $0 != UInt8(ascii: ";") }
            guard name.endIndex < text.endIndex, text[name.endIndex] == UInt8(ascii: ";") else {
                throw problem("a lone & is not well-formed")
            }
            plain += try entity(String(decoding: name, as: UTF8.self)).utf8
            index = name.endIndex + 1
        }
        return String(decoding: plain, as: UTF8.self)
    }

    private func entity(_ name: String) throws(WrittenText.Problem) -> String {
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
        guard let scalar = number.flatMap({ Unicode.Scalar($0) }) else { throw problem("&\(name); is not known") }
        return String(Character(scalar))
    }

    private func problem(_ reason: String) -> WrittenText.Problem { WrittenText.Problem(line: line, reason: reason) }
}
