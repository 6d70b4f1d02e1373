/// What stands on the tiers `segments` and `words` of an annotation document of ELAN, in the order of time.
func annotationReadings(_ text: String) throws(WrittenText.Problem) -> [[String]] {
    var document = MarkupScanner(text)
    var times: [String: Double] = [:]
    var tiers: [String: [(time: Double, text: String)]] = [:]
    var (tier, time) = ("", 0.0)
    var value: String?
    var isDocument = false
    while let event = try document.next() {
        switch event {
        case .opening("ANNOTATION_DOCUMENT", _): isDocument = true
        case .opening("TIME_SLOT", let attributes):
            if let id = attributes["TIME_SLOT_ID"], let time = attributes["TIME_VALUE"].flatMap({ Double($0) }) {
                times[id] = time
            }
        case .opening("TIER", let attributes): tier = attributes["TIER_ID"] ?? ""
        case .opening("ALIGNABLE_ANNOTATION", let attributes):
            // Where ELAN has taken the time away, the annotation stays behind the one before it.
            time = attributes["TIME_SLOT_REF1"].flatMap { times[$0] } ?? tiers[tier]?.last?.time ?? 0
        case .opening("ANNOTATION_VALUE", _): value = ""
        case .text(let text): if value != nil { value? += text }
        case .closing("ANNOTATION_VALUE"):
            tiers[tier, default: []].append((time, value ?? ""))
            value = nil
        default: break
        }
    }
    guard isDocument else { throw WrittenText.Problem(line: 1, reason: "is no annotation document of ELAN") }
    let readings = ["segments", "words"].compactMap { name in
        tiers[name]?.enumerated().sorted { ($0.element.time, $0.offset) < ($1.element.time, $1.offset) }
            .map(\.element.text)
    }
    guard !readings.isEmpty else {
        throw WrittenText.Problem(line: nil, reason: "has neither a tier segments nor a tier words")
    }
    return readings
}

/// XML as ELAN writes it, a piece at a time. What could make a small file large, a document type, is refused.
private struct MarkupScanner {
    enum Event {
        case opening(String, [String: String])
        case closing(String)
        case text(String)
    }

    private var rest: Substring.UTF8View
    private var open: [String] = []
    /// Of an element without content.
    private var closing: String?
    private var line = 1
    private static let deepest = 64

    init(_ text: String) { rest = text[...].utf8 }

    mutating func next() throws(WrittenText.Problem) -> Event? {
        if let name = closing {
            closing = nil
            return .closing(name)
        }
        while let byte = rest.first {
            guard byte == UInt8(ascii: "<") else {
                return .text(try plain(take { $0 != UInt8(ascii: "<") }))
            }
            if rest.starts(with: "<!--".utf8) {
                try skip(to: "-->")
            } else if rest.starts(with: "<?".utf8) {
                try skip(to: "?>")
            } else if rest.starts(with: "<![CDATA[".utf8) {
                rest = rest.dropFirst(9)
                return .text(try skip(to: "]]>"))
            } else if rest.starts(with: "<!".utf8) {
                throw problem("has a document type, which ELAN does not write")
            } else {
                return try tag()
            }
        }
        guard open.isEmpty else { throw problem("ends within \(open.last ?? "")") }
        return nil
    }

    private mutating func tag() throws(WrittenText.Problem) -> Event {
        rest = rest.dropFirst()
        if rest.first == UInt8(ascii: "/") {
            rest = rest.dropFirst()
            let name = take(Self.isName)
            _ = take { $0 == 0x20 || $0 == 0x0A || $0 == 0x0D || $0 == 0x09 }
            guard rest.first == UInt8(ascii: ">"), open.popLast() == name else {
                throw problem("</\(name)> closes nothing")
            }
            rest = rest.dropFirst()
            return .closing(name)
        }
        let name = take(Self.isName)
        guard !name.isEmpty, open.count < Self.deepest else { throw problem("is not well-formed") }
        var attributes: [String: String] = [:]
        while true {
            _ = take { $0 == 0x20 || $0 == 0x0A || $0 == 0x0D || $0 == 0x09 }
            if rest.starts(with: "/>".utf8) {
                rest = rest.dropFirst(2)
                closing = name
                return .opening(name, attributes)
            }
            if rest.first == UInt8(ascii: ">") {
                rest = rest.dropFirst()
                open.append(name)
                return .opening(name, attributes)
            }
            let attribute = take(Self.isName)
            guard !attribute.isEmpty, rest.popFirst() == UInt8(ascii: "="), let quote = rest.popFirst(),
                quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'")
            else { throw problem("is not well-formed") }
            attributes[attribute] = try plain(take { $0 != quote })
            guard rest.popFirst() != nil else { throw problem("ends within quotes") }
        }
    }

    private static func isName(_ byte: UInt8) -> Bool {
        !Array(" \t\r\n=/<>\"'".utf8).contains(byte)
    }

    private mutating func take(_ belongs: (UInt8) -> Bool) -> String {
        let taken = rest.prefix(while: belongs)
        rest = rest[taken.endIndex...]
        line += taken.count { $0 == 0x0A }
        return String(Substring(taken))
    }

    @discardableResult
    private mutating func skip(to end: String) throws(WrittenText.Problem) -> String {
        var taken: [UInt8] = []
        while let byte = rest.first {
            if byte == end.utf8.first, rest.starts(with: end.utf8) {
                rest = rest.dropFirst(end.utf8.count)
                return String(decoding: taken, as: UTF8.self)
            }
            if byte == 0x0A { line += 1 }
            taken.append(byte)
            rest.removeFirst()
        }
        throw problem("ends too early")
    }

    /// Text with its entities resolved: the five that XML knows, and numbers.
    private func plain(_ text: String) throws(WrittenText.Problem) -> String {
        guard text.contains("&") else { return text }
        var parts = text.split(separator: "&", omittingEmptySubsequences: false)[...]
        var plain = String(parts.popFirst() ?? "")
        let known = ["lt": "<", "gt": ">", "amp": "&", "quot": "\"", "apos": "'"]
        for part in parts {
            guard let end = part.firstIndex(of: ";") else { throw problem("a lone & is not well-formed") }
            let name = String(part[..<end])
            if let character = known[name] {
                plain += character
            } else if let scalar = Self.scalar(name) {
                plain.unicodeScalars.append(scalar)
            } else {
                throw problem("&\(name.prefix(20)); is not known")
            }
            plain += part[part.index(after: end)...]
        }
        return plain
    }

    private static func scalar(_ name: String) -> Unicode.Scalar? {
        guard name.hasPrefix("#") else { return nil }
        let number =
            name.hasPrefix("#x") ? UInt32(name.dropFirst(2), radix: 16) : UInt32(name.dropFirst())
        return number.flatMap { Unicode.Scalar($0) }
    }

    private func problem(_ reason: String) -> WrittenText.Problem { WrittenText.Problem(line: line, reason: reason) }
}
