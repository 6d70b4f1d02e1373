import Core

/// A value that `JSONScanner` parses.
protocol ScannedJSON {
    init(scanning scanner: inout JSONScanner) throws(JSONScanner.Unexpected)
}

/// A pull parser for JSON. Skips a value without storing its content.
struct JSONScanner {
    /// The JSON is invalid, or not of the expected form.
    struct Unexpected: Error {
        /// Whether a list has too many elements.
        var isTooLong = false
    }

    private static let maxDepth = 16
    /// The maximum number of digits that a double stores exactly.
    private static let maxExactDigits = 15
    /// Powers of ten, all exact.
    private static let powers: [Double] = [
        1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14,
    ]

    // Safety: valid during the call to `read`; every index is checked against the end.
    private let bytes: UnsafeBufferPointer<UInt8>
    fileprivate let maxElements: Int
    private(set) var offset = 0

    private init(_ bytes: UnsafeBufferPointer<UInt8>, maxElements: Int) {
        self.bytes = bytes
        self.maxElements = maxElements
    }

    /// - Parameters:
    ///   - bytes: JSON with well-formed strings (`JSONStrings`).
    ///   - maxElements: The maximum number of elements in each list that is not skipped.
    static func read<Value>(
        _ bytes: [UInt8], maxElements: Int = .max, _ read: (inout JSONScanner) throws(Unexpected) -> Value
    ) throws(Unexpected) -> Value {
        let result = bytes.withUnsafeBufferPointer { bytes in
            var scanner = JSONScanner(bytes, maxElements: maxElements)
            do throws(Unexpected) { return Result<Value, Unexpected>.success(try read(&scanner)) } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }

    /// Parses a member. Throws if the name is repeated.
    mutating func set<Value: ScannedJSON>(_ value: inout Value?) throws(Unexpected) {
        guard value == nil else { throw Unexpected() }
        value = try Value(scanning: &self)
    }

    /// Parses a member that may be `null`.
    mutating func setUnlessNull<Value: ScannedJSON>(_ value: inout Value?) throws(Unexpected) {
        if !consume("null") { try set(&value) }
    }

    /// The current byte, or 0 at the end; JSON contains no zero bytes.
    private var next: UInt8 { offset < bytes.count ? bytes[offset] : 0 }

    /// Whether only whitespace follows.
    mutating func isAtEnd() -> Bool {
        skipWhitespace()
        return offset == bytes.count
    }

    mutating func skipWhitespace() {
        while next == 0x20 || next == 0x0A || next == 0x0D || next == 0x09 { offset += 1 }
    }

    /// Skips whitespace, and then the byte if it follows. Returns whether it followed.
    private mutating func consume(_ byte: UInt8) -> Bool {
        skipWhitespace()
        guard next == byte else { return false }
        offset += 1
        return true
    }

    mutating func consume(_ word: StaticString) -> Bool {
        skipWhitespace()
        guard bytes[offset...].starts(with: UnsafeBufferPointer(start: word.utf8Start, count: word.utf8CodeUnitCount))
        else { return false }
        offset += word.utf8CodeUnitCount
        return true
    }

    /// A member's name, which has no escapes. Valid during the call to `read`.
    struct Name {
        fileprivate let bytes: Slice<UnsafeBufferPointer<UInt8>>

        fileprivate var text: String { String(decoding: UnsafeBufferPointer(rebasing: bytes), as: UTF8.self) }

        static func ~= (word: StaticString, name: Name) -> Bool {
            name.bytes.elementsEqual(UnsafeBufferPointer(start: word.utf8Start, count: word.utf8CodeUnitCount))
        }
    }

    mutating func object(
        _ member: (inout JSONScanner, Name) throws(Unexpected) -> Void
    ) throws(Unexpected) {
        guard consume(UInt8(ascii: "{")) else { throw Unexpected() }
        if consume(UInt8(ascii: "}")) { return }
        repeat {
            let (name, isPlain) = try quoted()
            guard isPlain, consume(UInt8(ascii: ":")) else { throw Unexpected() }
            skipWhitespace()
            try member(&self, Name(bytes: bytes[name]))
        } while consume(UInt8(ascii: ","))
        guard consume(UInt8(ascii: "}")) else { throw Unexpected() }
    }

    fileprivate mutating func list<Element>(
        maxElements: Int, _ element: (inout JSONScanner) throws(Unexpected) -> Element
    ) throws(Unexpected) -> [Element] {
        guard consume(UInt8(ascii: "[")) else { throw Unexpected() }
        if consume(UInt8(ascii: "]")) { return [] }
        var elements: [Element] = []
        repeat {
            guard elements.count < maxElements else { throw Unexpected(isTooLong: true) }
            elements.append(try element(&self))
        } while consume(UInt8(ascii: ","))
        guard consume(UInt8(ascii: "]")) else { throw Unexpected() }
        return elements
    }

    /// Returns the range between the quotes, and whether it has no escapes.
    private mutating func quoted() throws(Unexpected) -> (Range<Int>, isPlain: Bool) {
        guard consume(UInt8(ascii: "\"")) else { throw Unexpected() }
        let start = offset
        var isPlain = true
        while next != UInt8(ascii: "\"") {
            guard offset < bytes.count else { throw Unexpected() }
            if next == UInt8(ascii: "\\") {
                isPlain = false
                offset += 1
            }
            offset += 1
        }
        offset += 1
        return (start..<offset - 1, isPlain)
    }

    mutating func string() throws(Unexpected) -> String {
        let (range, isPlain) = try quoted()
        if isPlain { return String(decoding: UnsafeBufferPointer(rebasing: bytes[range]), as: UTF8.self) }
        var text: [UInt8] = []
        var index = range.lowerBound
        while index < range.upperBound {
            if bytes[index] == UInt8(ascii: "\\") {
                index += 1
                switch bytes[index] {
                case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(bytes[index])
                case UInt8(ascii: "n"): text.append(0x0A)
                case UInt8(ascii: "t"): text.append(0x09)
                case UInt8(ascii: "r"): text.append(0x0D)
                case UInt8(ascii: "b"): text.append(0x08)
                case UInt8(ascii: "f"): text.append(0x0C)
                default:
                    text += UTF8.encode(try scalar(&index, upTo: range.upperBound)) ?? UTF8.encodedReplacementCharacter
                }
            } else {
                text.append(bytes[index])
            }
            index += 1
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Decodes `\uXXXX`, or a surrogate pair; moves `index` from the `u` to the last digit.
    private func scalar(_ index: inout Int, upTo end: Int) throws(Unexpected) -> Unicode.Scalar {
        guard let first = unit(at: index, upTo: end) else { throw Unexpected() }
        index += 4
        if let scalar = Unicode.Scalar(first) { return scalar }
        guard index + 2 <= end, let second = unit(at: index + 2, upTo: end), UTF16.isLeadSurrogate(first),
            UTF16.isTrailSurrogate(second)
        else { throw Unexpected() }
        index += 6
        let value = 0x10000 + (UInt32(first) & 0x3FF) << 10 + UInt32(second) & 0x3FF
        guard let scalar = Unicode.Scalar(value) else { throw Unexpected() }
        return scalar
    }

    private func unit(at index: Int, upTo end: Int) -> UInt16? {
        guard index + 5 <= end, bytes[index] == UInt8(ascii: "u") else { return nil }
        return JSONStrings.codeUnit(bytes[(index + 1)..<(index + 5)])
    }

    /// Scans a number; `point` is the offset of its decimal point.
    private mutating func digits() throws(Unexpected) -> (range: Range<Int>, point: Int?, hasExponent: Bool) {
        let start = offset
        var (point, hasExponent): (Int?, Bool) = (nil, false)
        if next == UInt8(ascii: "-") { offset += 1 }
        let first = offset
        try skipDigits()
        guard bytes[first] != UInt8(ascii: "0") || offset == first + 1 else { throw Unexpected() }
        if next == UInt8(ascii: ".") {
            point = offset
            offset += 1
            try skipDigits()
        }
        if next == UInt8(ascii: "e") || next == UInt8(ascii: "E") {
            // The standard decoder rejects `0e5`.
            guard offset > first + 1 || bytes[first] != UInt8(ascii: "0") else { throw Unexpected() }
            hasExponent = true
            offset += 1
            if next == UInt8(ascii: "-") || next == UInt8(ascii: "+") { offset += 1 }
            try skipDigits()
        }
        return (start..<offset, point, hasExponent)
    }

    private mutating func skipDigits() throws(Unexpected) {
        let start = offset
        while next >= UInt8(ascii: "0"), next <= UInt8(ascii: "9") { offset += 1 }
        guard offset > start else { throw Unexpected() }
    }

    fileprivate mutating func number() throws(Unexpected) -> Double {
        skipWhitespace()
        let (range, point, hasExponent) = try digits()
        let isNegative = bytes[range.lowerBound] == UInt8(ascii: "-")
        guard range.count <= Self.maxExactDigits, !hasExponent else {
            let text = String(decoding: UnsafeBufferPointer(rebasing: bytes[range]), as: UTF8.self)
            guard let number = Double(text), number.isFinite else { throw Unexpected() }
            return number
        }
        // Both operands are exact, so the quotient is correctly rounded.
        let value = Double(digitsValue(range)) / Self.powers[point.map { range.upperBound - $0 - 1 } ?? 0]
        return isNegative ? -value : value
    }

    fileprivate mutating func integer() throws(Unexpected) -> Int {
        skipWhitespace()
        let (range, point, hasExponent) = try digits()
        guard range.count <= Self.maxExactDigits, point == nil, !hasExponent else { throw Unexpected() }
        return bytes[range.lowerBound] == UInt8(ascii: "-") ? -digitsValue(range) : digitsValue(range)
    }

    /// Returns the number that the digits in a range form, ignoring other characters.
    private func digitsValue(_ range: Range<Int>) -> Int {
        var value = 0
        for index in range where bytes[index] >= UInt8(ascii: "0") {
            value = value * 10 + Int(bytes[index] - UInt8(ascii: "0"))
        }
        return value
    }

    mutating func skip(_ depth: Int = 0) throws(Unexpected) {
        skipWhitespace()
        switch next {
        case UInt8(ascii: "\""): _ = try quoted()
        case UInt8(ascii: "{") where depth < Self.maxDepth:
            try object { (scanner, _) throws(Unexpected) in try scanner.skip(depth + 1) }
        case UInt8(ascii: "[") where depth < Self.maxDepth:
            _ = try list(maxElements: .max) { (scanner) throws(Unexpected) in try scanner.skip(depth + 1) }
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): _ = try digits()
        default: guard consume("true") || consume("false") || consume("null") else { throw Unexpected() }
        }
    }
}

extension String: ScannedJSON {
    init(scanning scanner: inout JSONScanner) throws(JSONScanner.Unexpected) { self = try scanner.string() }
}

extension Double: ScannedJSON {
    init(scanning scanner: inout JSONScanner) throws(JSONScanner.Unexpected) { self = try scanner.number() }
}

extension Int: ScannedJSON {
    init(scanning scanner: inout JSONScanner) throws(JSONScanner.Unexpected) { self = try scanner.integer() }
}

extension Bool: ScannedJSON {
    init(scanning scanner: inout JSONScanner) throws(JSONScanner.Unexpected) {
        self = scanner.consume("true")
        guard self || scanner.consume("false") else { throw JSONScanner.Unexpected() }
    }
}

extension Array: ScannedJSON where Element: ScannedJSON {
    init(scanning scanner: inout JSONScanner) throws(JSONScanner.Unexpected) {
        self = try scanner.list(maxElements: scanner.maxElements) { (scanner) throws(JSONScanner.Unexpected) in
            try Element(scanning: &scanner)
        }
    }
}

extension [String: String]: ScannedJSON {
    init(scanning scanner: inout JSONScanner) throws(JSONScanner.Unexpected) {
        var members: [String: String] = [:]
        let maxElements = scanner.maxElements
        try scanner.object { (scanner, name) throws(JSONScanner.Unexpected) in
            guard members.count < maxElements else { throw JSONScanner.Unexpected() }
            members[name.text] = try scanner.string()
        }
        self = members
    }
}
