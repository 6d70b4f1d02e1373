import Core

/// Parses the tar archive of an encrypted copy, which contains a folder and its files, from consecutive blocks of
/// bytes. The content is untrusted.
package struct TarParser {
    /// A parsed part of the archive.
    package enum Event {
        /// A file begins; its name has no `/`.
        case file(String, bytes: Int64)
        /// The file's next bytes, valid only during the call.
        case bytes(UnsafeRawBufferPointer)
        case end
    }

    private enum State {
        case header
        /// Inside a file: its remaining bytes, and the padding bytes after it.
        case content(remaining: Int64, padding: Int64)
        /// The same inside a pax extended header for the next file.
        case record(remaining: Int64, padding: Int64)
        case padding(remaining: Int64)
        case finished
    }

    private static let block = 512
    private static let maximumRecordBytes: Int64 = 65_536
    private static let maximumFileBytes: Int64 = 1 << 46

    private var state = State.header
    /// The bytes of an incomplete header or pax extended header.
    private var buffer: [UInt8] = []
    /// The length of the next file, from a pax extended header.
    private var recordedLength: Int64?

    package init() {}

    /// Whether the end of the archive was reached.
    package var isWhole: Bool {
        if case .finished = state { return true }
        return false
    }

    /// Parses the next bytes.
    ///
    /// - Throws: `DeviceError` with `damaged` if the bytes are not a copy's tar archive, or the error from `event`.
    package mutating func parse(
        _ bytes: UnsafeRawBufferPointer, _ event: (Event) throws(DeviceError) -> Void
    ) throws(DeviceError) {
        var index = 0
        /// Consumes and returns at most `limit` bytes.
        func next(_ limit: Int64) -> UnsafeRawBufferPointer {
            let count = Int(min(limit, Int64(bytes.count - index)))
            defer { index += count }
            return UnsafeRawBufferPointer(rebasing: bytes[index..<index + count])
        }
        while index < bytes.count {
            switch state {
            case .finished: return
            case .header:
                buffer += next(Int64(Self.block - buffer.count))
                if buffer.count == Self.block { try readHeader(event) }
            case .content(let remaining, let padding):
                let block = next(remaining)
                try event(.bytes(block))
                let rest = remaining - Int64(block.count)
                state = .content(remaining: rest, padding: padding)
                if rest == 0 {
                    try event(.end)
                    state = padding > 0 ? .padding(remaining: padding) : .header
                }
            case .record(let remaining, let padding):
                let block = next(remaining)
                buffer += block
                let rest = remaining - Int64(block.count)
                state = .record(remaining: rest, padding: padding)
                if rest == 0 {
                    try readRecord()
                    state = padding > 0 ? .padding(remaining: padding) : .header
                }
            case .padding(let remaining):
                let rest = remaining - Int64(next(remaining).count)
                state = rest == 0 ? .header : .padding(remaining: rest)
            }
        }
    }

    private mutating func readHeader(_ event: (Event) throws(DeviceError) -> Void) throws(DeviceError) {
        let header = buffer
        buffer = []
        if header.allSatisfy({ $0 == 0 }) { return state = .finished }
        let sum = header.enumerated().reduce(Int64(0)) { sum, byte in
            sum + Int64((148..<156).contains(byte.offset) ? 0x20 : byte.element)
        }
        guard Self.octal(header[148..<156]) == sum, var length = Self.octal(header[124..<136]) else {
            throw Self.refusal("is not a tar archive of a recording")
        }
        let kind = header[156]
        let name = String(decoding: header[0..<100].prefix { $0 != 0 }, as: UTF8.self)
        if kind == UInt8(ascii: "0"), let recordedLength { (length, self.recordedLength) = (recordedLength, nil) }
        guard (0...Self.maximumFileBytes).contains(length) else {
            throw Self.refusal("contains a file that is too large")
        }
        let padding = (Int64(Self.block) - length % Int64(Self.block)) % Int64(Self.block)
        switch kind {
        case UInt8(ascii: "5"): state = .header
        case UInt8(ascii: "x"):
            guard length > 0, length <= Self.maximumRecordBytes else {
                throw Self.refusal("is not a tar archive of a recording")
            }
            state = .record(remaining: length, padding: padding)
        case UInt8(ascii: "0"):
            let components = name.split(separator: "/", omittingEmptySubsequences: false)
            guard components.count == 2, let file = components.last, !file.isEmpty, file != ".", file != "..",
                !components[0].isEmpty, components[0] != ".."
            else { throw Self.refusal("contains a file outside a recording's folder") }
            try event(.file(String(file), bytes: length))
            guard length > 0 else { return try event(.end) }
            state = .content(remaining: length, padding: padding)
        default: throw Self.refusal("contains an entry that is not a file")
        }
    }

    /// Reads the length of the next file from the records of a pax extended header, such as `19 size=8589934592`.
    private mutating func readRecord() throws(DeviceError) {
        let text = String(decoding: buffer, as: UTF8.self)
        buffer = []
        for line in text.split(separator: "\n") {
            let fields = line.split(separator: " ", maxSplits: 1)
            guard fields.count == 2, fields[1].hasPrefix("size=") else { continue }
            guard let size = Int64(fields[1].dropFirst(5)) else {
                throw Self.refusal("is not a tar archive of a recording")
            }
            recordedLength = size
        }
    }

    private static func octal(_ field: ArraySlice<UInt8>) -> Int64? {
        let digits = field.drop { $0 == 0x20 }.prefix { $0 != 0 && $0 != 0x20 }
        return digits.isEmpty ? nil : Int64(String(decoding: digits, as: UTF8.self), radix: 8)
    }

    private static func refusal(_ reason: String) -> DeviceError { DeviceError(.damaged, "tar", cause: .tar, reason) }
}
