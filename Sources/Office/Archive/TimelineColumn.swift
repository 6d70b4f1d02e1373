import Core
import FoundationEssentials

extension Timeline {
    /// The timeline as JSON. Segments are encoded by hand, because `JSONEncoder` takes ten times as long for their
    /// words.
    var column: String {
        get throws(DeviceError) {
            var frame = self
            frame.segments = []
            let bytes = try rethrowing { [frame] in Array(try JSONEncoder().encode(frame)) }
            let placeholder = Array(#""segments":[]"#.utf8)
            guard !segments.isEmpty, let range = bytes.firstRange(of: placeholder) else {
                return String(decoding: bytes, as: UTF8.self)
            }
            var column = ColumnWriter()
            column.bytes.reserveCapacity(bytes.count + segments.reduce(0) { $0 + 160 + $1.words.count * 96 })
            column.bytes += bytes[..<(range.upperBound - 1)]
            column.list(segments) { $0.add($1) }
            column.bytes += bytes[(range.upperBound - 1)...]
            return String(decoding: column.bytes, as: UTF8.self)
        }
    }

    /// Decodes a stored timeline; nil if it is damaged.
    init?(column: String) {
        guard let timeline = try? JSONDecoder().decode(Timeline.self, from: Data(column.utf8)) else { return nil }
        self = timeline
    }
}

/// Writes JSON with the property names that `JSONEncoder` uses.
private struct ColumnWriter {
    private static let digits = Array("0123456789abcdef".utf8)

    var bytes: [UInt8] = []

    private mutating func put(_ text: StaticString) {
        bytes += UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
    }

    /// Writes elements separated by commas.
    mutating func list<Element>(_ elements: [Element], _ write: (inout ColumnWriter, Element) -> Void) {
        for (index, element) in elements.enumerated() {
            if index > 0 { put(",") }
            write(&self, element)
        }
    }

    mutating func add(_ segment: Segment) {
        put(#"{"id":"#)
        add(segment.id)
        put(",")
        add(segment.range)
        put(#","endedBy":"#)
        add(segment.endedBy.rawValue)
        put(#","words":["#)
        list(segment.words) { $0.add($1) }
        put(#"],"alternatives":["#)
        list(segment.alternatives) { $0.add($1) }
        put("]")
        if let voice = segment.voice { add(voice) }
        put("}")
    }

    private mutating func add(_ word: Word) {
        put(#"{"text":"#)
        add(word.text)
        put(",")
        add(word.range)
        put(#","confidence":"#)
        add(word.confidence)
        if word.hasEstimatedTime { put(#","isSpread":true"#) }
        put("}")
    }

    private mutating func add(_ alternative: Alternative) {
        put(#"{"text":"#)
        add(alternative.text)
        put(#","confidence":"#)
        add(alternative.confidence)
        put("}")
    }

    private mutating func add(_ voice: VoiceAnalytics) {
        put(#","voice":{"pitch":"#)
        add(voice.pitch)
        put(#","jitter":"#)
        add(voice.jitter)
        put(#","shimmer":"#)
        add(voice.shimmer)
        put(#","voicing":"#)
        add(voice.voicing)
        if let lowering = voice.finalLowering {
            put(#","finalLowering":"#)
            add(lowering)
        }
        put("}")
    }

    private mutating func add(_ range: SampleRange) {
        put(#""range":{"start":"#)
        add(Int(range.start.samples))
        put(#","end":"#)
        add(Int(range.end.samples))
        put("}")
    }

    private mutating func add(_ number: Int) { bytes += number.description.utf8 }

    /// Appends a number. Stored numbers are finite.
    private mutating func add(_ number: Double) { bytes += number.description.utf8 }

    private mutating func add(_ text: String) {
        put("\"")
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                bytes.append(UInt8(ascii: "\\"))
                bytes.append(byte)
            case ..<0x20:
                put(#"\u00"#)
                bytes.append(Self.digits[Int(byte >> 4)])
                bytes.append(Self.digits[Int(byte & 15)])
            default: bytes.append(byte)
            }
        }
        put("\"")
    }
}
