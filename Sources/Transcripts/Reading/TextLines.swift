/// The lines of a text, one after the other, each without its end: a line feed, a carriage return, or both.
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
    /// Whether there is nothing in it but spaces, tabs and other control characters of ASCII.
    var isBlank: Bool { utf8.allSatisfy { $0 <= 0x20 } }

    /// Where a text in ASCII stands in it first; nil where it does not.
    func place(of text: StaticString) -> Range<Index>? {
        let sought = UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
        var place = utf8.startIndex
        while let found = utf8[place...].firstIndex(of: sought[0]) {
            let rest = utf8[found...]
            if rest.starts(with: sought) { return found..<utf8.index(found, offsetBy: sought.count) }
            place = utf8.index(after: found)
        }
        return nil
    }
}
