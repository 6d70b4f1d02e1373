import Core
import FoundationEssentials

extension Timeline {
    /// The timeline as JSON. Encodes segments by hand, because `JSONEncoder` takes ten times as long.
    var column: String {
        get throws(DeviceError) {
            var withoutSegments = self
            withoutSegments.segments = []
            let bytes = try rethrowing { [withoutSegments] in Array(try JSONEncoder().encode(withoutSegments)) }
            let placeholder = Array(#""segments":[]"#.utf8)
            guard !segments.isEmpty, let range = bytes.firstRange(of: placeholder) else {
                return String(decoding: bytes, as: UTF8.self)
            }
            var column = ColumnWriter()
            column.bytes.reserveCapacity(bytes.count + segments.reduce(0) { $0 + 160 + $1.words.count * 96 })
            column.bytes += bytes[..<(range.upperBound - 1)]
            column.addList(segments) { $0.add($1) }
            column.bytes += bytes[(range.upperBound - 1)...]
            return String(decoding: column.bytes, as: UTF8.self)
        }
    }

    init?(column: String) {
        guard let timeline = try? JSONDecoder().decode(Timeline.self, from: Data(column.utf8)) else { return nil }
        self = timeline
    }
}

/// Writes JSON that is equivalent to the output of `JSONEncoder`.
private struct ColumnWriter {
    private static let digits = Array("0123456789abcdef".utf8)

    var bytes: [UInt8] = []

    private mutating func addSyntax(_ text: StaticString) {
        bytes += UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
    }

    mutating func addList<Element>(_ elements: [Element], _ write: (inout ColumnWriter, Element) -> Void) {
        for (index, element) in elements.enumerated() {
            if index > 0 { addSyntax(",") }
            write(&self, element)
        }
    }

    mutating func add(_ segment: Segment) {
        addSyntax(#"{"id":"#)
        add(segment.id)
        addSyntax(",")
        add(segment.range)
        addSyntax(#","endedBy":"#)
        add(segment.endedBy.rawValue)
        addSyntax(#","words":["#)
        addList(segment.words) { $0.add($1) }
        addSyntax(#"],"alternatives":["#)
        addList(segment.alternatives) { $0.add($1) }
        addSyntax("]")
        if let voice = segment.voice { add(voice) }
        addSyntax("}")
    }

    private mutating func add(_ word: Word) {
        addSyntax(#"{"text":"#)
        add(word.text)
        addSyntax(",")
        add(word.range)
        addSyntax(#","confidence":"#)
        add(word.confidence)
        if word.hasEstimatedTime { addSyntax(#","isSpread":true"#) }
        addSyntax("}")
    }

    private mutating func add(_ alternative: Alternative) {
        addSyntax(#"{"text":"#)
        add(alternative.text)
        addSyntax(#","confidence":"#)
        add(alternative.confidence)
        addSyntax("}")
    }

    private mutating func add(_ voice: VoiceAnalytics) {
        addSyntax(#","voice":{"pitch":"#)
        add(voice.pitch)
        addSyntax(#","jitter":"#)
        add(voice.jitter)
        addSyntax(#","shimmer":"#)
        add(voice.shimmer)
        addSyntax(#","voicing":"#)
        add(voice.voicing)
        if let lowering = voice.finalLowering {
            addSyntax(#","finalLowering":"#)
            add(lowering)
        }
        addSyntax("}")
    }

    private mutating func add(_ range: SampleRange) {
        addSyntax(#""range":{"start":"#)
        add(Int(range.start.samples))
        addSyntax(#","end":"#)
        add(Int(range.end.samples))
        addSyntax("}")
    }

    private mutating func add(_ number: Int) { bytes += number.description.utf8 }

    /// Adds a number, which must be finite.
    private mutating func add(_ number: Double) { bytes += number.description.utf8 }

    private mutating func add(_ text: String) {
        addSyntax("\"")
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                bytes.append(UInt8(ascii: "\\"))
                bytes.append(byte)
            case ..<0x20:
                addSyntax(#"\u00"#)
                bytes.append(Self.digits[Int(byte >> 4)])
                bytes.append(Self.digits[Int(byte & 15)])
            default: bytes.append(byte)
            }
        }
        addSyntax("\"")
    }
}
