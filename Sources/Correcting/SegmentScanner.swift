import Core

/// Reads the segments of a transcript as `json` writes them: the decoder of the standard library takes ten times as long for their words,
/// which are most of what an archive reads. What is written in any other way, it leaves to that decoder, so that both always say the same.
struct SegmentScanner {
    /// Something that the decoder is to judge.
    private struct Unusual: Error {}

    private static let deepest = 16
    /// So many digits, with their point and sign, are a number that a double has exactly.
    private static let mostExact = 15
    /// Powers of ten, which are exact, too.
    private static let powers: [Double] = [
        1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14,
    ]

    // Safety: borrowed for the call of `segments`; every place is compared with the end before it is looked at.
    private let bytes: UnsafeBufferPointer<UInt8>
    private var place = 0

    private init(_ bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

    /// The segments of a transcript, and where their list stands in it; nil where that is to be decoded as a whole.
    ///
    /// - Parameter bytes: JSON whose strings are well-formed.
    static func segments(in bytes: [UInt8]) -> (segments: [TranscriptDocument.Part], place: Range<Int>)? {
        bytes.withUnsafeBufferPointer { bytes in
            var scanner = SegmentScanner(bytes)
            var found: (segments: [TranscriptDocument.Part], place: Range<Int>)?
            do throws(Unusual) {
                try scanner.object { (scanner, name) throws(Unusual) in
                    guard scanner.isName(name, "segments") else { return try scanner.skip() }
                    guard found == nil else { throw Unusual() }
                    let start = scanner.place
                    let segments = try scanner.list { (scanner) throws(Unusual) in try scanner.segment() }
                    found = (segments, start..<scanner.place)
                }
            } catch { return nil }
            return found
        }
    }

    // MARK: what a transcript holds

    private mutating func segment() throws(Unusual) -> TranscriptDocument.Part {
        var (id, start, end): (Int?, Double?, Double?) = (nil, nil, nil)
        var reason: EndReason?
        var words: [TranscriptDocument.Piece]?
        var alternatives: [TranscriptDocument.Other]?
        try object { (scanner, name) throws(Unusual) in
            if scanner.isName(name, "id") {
                try scanner.set(&id) { (scanner) throws(Unusual) in try scanner.whole() }
            } else if scanner.isName(name, "start") {
                try scanner.set(&start) { (scanner) throws(Unusual) in try scanner.number() }
            } else if scanner.isName(name, "end") {
                try scanner.set(&end) { (scanner) throws(Unusual) in try scanner.number() }
            } else if scanner.isName(name, "endedBy") {
                try scanner.set(&reason) { (scanner) throws(Unusual) in
                    guard let reason = EndReason(rawValue: try scanner.string()) else { throw Unusual() }
                    return reason
                }
            } else if scanner.isName(name, "words") {
                try scanner.set(&words) { (scanner) throws(Unusual) in
                    try scanner.list { (scanner) throws(Unusual) in try scanner.word() }
                }
            } else if scanner.isName(name, "alternatives") {
                try scanner.set(&alternatives) { (scanner) throws(Unusual) in
                    try scanner.list { (scanner) throws(Unusual) in try scanner.alternative() }
                }
            } else {
                try scanner.skip()
            }
        }
        guard let id, let start, let end else { throw Unusual() }
        return TranscriptDocument.Part(
            id: id, start: start, end: end, endedBy: reason, words: words, alternatives: alternatives)
    }

    private mutating func word() throws(Unusual) -> TranscriptDocument.Piece {
        var (text, speaker): (String?, String?) = (nil, nil)
        var (start, end, confidence): (Double?, Double?, Double?) = (nil, nil, nil)
        var isEstimated: Bool?
        try object { (scanner, name) throws(Unusual) in
            if scanner.isName(name, "text") {
                try scanner.set(&text) { (scanner) throws(Unusual) in try scanner.string() }
            } else if scanner.isName(name, "start") {
                try scanner.set(&start) { (scanner) throws(Unusual) in try scanner.number() }
            } else if scanner.isName(name, "end") {
                try scanner.set(&end) { (scanner) throws(Unusual) in try scanner.number() }
            } else if scanner.isName(name, "confidence") {
                try scanner.set(&confidence) { (scanner) throws(Unusual) in try scanner.number() }
            } else if scanner.isName(name, "speaker") {
                try scanner.set(&speaker) { (scanner) throws(Unusual) in try scanner.string() }
            } else if scanner.isName(name, "timeEstimated") {
                try scanner.set(&isEstimated) { (scanner) throws(Unusual) in
                    if scanner.takes("true") { return true }
                    if scanner.takes("false") { return false }
                    throw Unusual()
                }
            } else {
                try scanner.skip()
            }
        }
        guard let text, let start, let end else { throw Unusual() }
        return TranscriptDocument.Piece(
            text: text, start: start, end: end, confidence: confidence, timeEstimated: isEstimated, speaker: speaker)
    }

    private mutating func alternative() throws(Unusual) -> TranscriptDocument.Other {
        var (text, confidence): (String?, Double?) = (nil, nil)
        try object { (scanner, name) throws(Unusual) in
            if scanner.isName(name, "text") {
                try scanner.set(&text) { (scanner) throws(Unusual) in try scanner.string() }
            } else if scanner.isName(name, "confidence") {
                try scanner.set(&confidence) { (scanner) throws(Unusual) in try scanner.number() }
            } else {
                try scanner.skip()
            }
        }
        guard let text else { throw Unusual() }
        return TranscriptDocument.Other(text: text, confidence: confidence)
    }

    /// Reads what has a name; of a name that comes twice, the decoder is to say which counts.
    private mutating func set<Value>(
        _ value: inout Value?, _ read: (inout SegmentScanner) throws(Unusual) -> Value
    ) throws(Unusual) {
        guard value == nil else { throw Unusual() }
        value = try read(&self)
    }

    // MARK: JSON

    /// The byte here; 0, which stands nowhere in JSON, at the end.
    private var next: UInt8 { place < bytes.count ? bytes[place] : 0 }

    private mutating func pass() {
        while next == 0x20 || next == 0x0A || next == 0x0D || next == 0x09 { place += 1 }
    }

    /// Passes what stands here before the next thing, where it is this.
    private mutating func takes(_ byte: UInt8) -> Bool {
        pass()
        guard next == byte else { return false }
        place += 1
        return true
    }

    private mutating func takes(_ word: StaticString) -> Bool {
        pass()
        let count = word.utf8CodeUnitCount
        guard place + count <= bytes.count, isSame(place, word) else { return false }
        place += count
        return true
    }

    private func isSame(_ start: Int, _ word: StaticString) -> Bool {
        let count = word.utf8CodeUnitCount
        return bytes[start..<start + count].elementsEqual(UnsafeBufferPointer(start: word.utf8Start, count: count))
    }

    private func isName(_ name: Range<Int>, _ word: StaticString) -> Bool {
        name.count == word.utf8CodeUnitCount && isSame(name.lowerBound, word)
    }

    private mutating func object(
        _ member: (inout SegmentScanner, Range<Int>) throws(Unusual) -> Void
    ) throws(Unusual) {
        guard takes(UInt8(ascii: "{")) else { throw Unusual() }
        if takes(UInt8(ascii: "}")) { return }
        repeat {
            let (name, isPlain) = try quoted()
            guard isPlain, takes(UInt8(ascii: ":")) else { throw Unusual() }
            pass()
            try member(&self, name)
        } while takes(UInt8(ascii: ","))
        guard takes(UInt8(ascii: "}")) else { throw Unusual() }
    }

    private mutating func list<Element>(
        _ element: (inout SegmentScanner) throws(Unusual) -> Element
    ) throws(Unusual) -> [Element] {
        guard takes(UInt8(ascii: "[")) else { throw Unusual() }
        if takes(UInt8(ascii: "]")) { return [] }
        var elements: [Element] = []
        repeat { elements.append(try element(&self)) } while takes(UInt8(ascii: ","))
        guard takes(UInt8(ascii: "]")) else { throw Unusual() }
        return elements
    }

    /// Where the text between quotes stands, and whether it says itself what it means.
    private mutating func quoted() throws(Unusual) -> (Range<Int>, isPlain: Bool) {
        guard takes(UInt8(ascii: "\"")) else { throw Unusual() }
        let start = place
        var isPlain = true
        while next != UInt8(ascii: "\"") {
            guard place < bytes.count else { throw Unusual() }
            if next == UInt8(ascii: "\\") {
                isPlain = false
                place += 1
            }
            place += 1
        }
        place += 1
        return (start..<place - 1, isPlain)
    }

    private mutating func string() throws(Unusual) -> String {
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
                default: throw Unusual()
                }
            } else {
                text.append(bytes[index])
            }
            index += 1
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Where a number's digits, point and exponent end.
    private mutating func digits() throws(Unusual) -> (range: Range<Int>, point: Int?, hasExponent: Bool) {
        let start = place
        var (point, hasExponent): (Int?, Bool) = (nil, false)
        if next == UInt8(ascii: "-") { place += 1 }
        let first = place
        try passDigits()
        guard bytes[first] != UInt8(ascii: "0") || place == first + 1 else { throw Unusual() }
        if next == UInt8(ascii: ".") {
            point = place
            place += 1
            try passDigits()
        }
        if next == UInt8(ascii: "e") || next == UInt8(ascii: "E") {
            hasExponent = true
            place += 1
            if next == UInt8(ascii: "-") || next == UInt8(ascii: "+") { place += 1 }
            try passDigits()
        }
        return (start..<place, point, hasExponent)
    }

    private mutating func passDigits() throws(Unusual) {
        let start = place
        while next >= UInt8(ascii: "0"), next <= UInt8(ascii: "9") { place += 1 }
        guard place > start else { throw Unusual() }
    }

    private mutating func number() throws(Unusual) -> Double {
        pass()
        let (range, point, hasExponent) = try digits()
        let isNegative = bytes[range.lowerBound] == UInt8(ascii: "-")
        guard range.count <= Self.mostExact, !hasExponent else {
            let text = String(decoding: UnsafeBufferPointer(rebasing: bytes[range]), as: UTF8.self)
            guard let number = Double(text), number.isFinite else { throw Unusual() }
            return number
        }
        // Both are exact, so that the quotient is the number that is nearest.
        let value = Double(count(range)) / Self.powers[point.map { range.upperBound - $0 - 1 } ?? 0]
        return isNegative ? -value : value
    }

    private mutating func whole() throws(Unusual) -> Int {
        pass()
        let (range, point, hasExponent) = try digits()
        guard range.count <= Self.mostExact, point == nil, !hasExponent else { throw Unusual() }
        return bytes[range.lowerBound] == UInt8(ascii: "-") ? -count(range) : count(range)
    }

    /// What the digits in a place say, whatever stands between them.
    private func count(_ range: Range<Int>) -> Int {
        var count = 0
        for index in range where bytes[index] >= UInt8(ascii: "0") {
            count = count * 10 + Int(bytes[index] - UInt8(ascii: "0"))
        }
        return count
    }

    /// Passes any value.
    private mutating func skip(_ depth: Int = 0) throws(Unusual) {
        pass()
        switch next {
        case UInt8(ascii: "\""): _ = try quoted()
        case UInt8(ascii: "{") where depth < Self.deepest:
            try object { (scanner, _) throws(Unusual) in try scanner.skip(depth + 1) }
        case UInt8(ascii: "[") where depth < Self.deepest:
            _ = try list { (scanner) throws(Unusual) in try scanner.skip(depth + 1) }
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): _ = try digits()
        default: guard takes("true") || takes("false") || takes("null") else { throw Unusual() }
        }
    }
}
