/// The lines of a text without their terminators: LF, CR or CRLF.
struct TextLines: Sequence, IteratorProtocol {
    private var rest: Substring.UTF8View
    private var isAtEnd = false

    init(_ text: String) { rest = text[...].utf8 }

    mutating func next() -> Substring? {
        guard !isAtEnd else { return nil }
        let line = rest.prefix { $0 != 0x0A && $0 != 0x0D }
        rest = rest[line.endIndex...]
        guard let end = rest.popFirst() else {
            isAtEnd = true
            return Substring(line)
        }
        if end == 0x0D, rest.first == 0x0A { rest.removeFirst() }
        return Substring(line)
    }
}

extension Substring {
    /// Whether the line has only spaces and ASCII control characters.
    var isBlank: Bool { utf8.allSatisfy { $0 <= 0x20 } }
}
