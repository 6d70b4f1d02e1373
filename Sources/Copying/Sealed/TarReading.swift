import Core

/// Parses the tar of an encrypted copy in pieces: a folder and its files. Its content is untrusted. Pure.
package struct TarReading {
    /// A part of the tar.
    package enum Event {
        /// A file begins; its name has no `/`.
        case file(String, bytes: Int64)
        /// The file's next bytes, valid only during the call.
        case bytes(UnsafeRawBufferPointer)
        /// The file ends.
        case end
    }

    private enum State {
        case header
        /// The remaining bytes of a file, and the padding after it.
        case content(left: Int64, padding: Int64)
        /// The same for a pax record about the next file.
        case record(left: Int64, padding: Int64)
        case padding(left: Int64)
        case over
    }

    private static let block = 512
    private static let longestRecord: Int64 = 65_536
    private static let longestFile: Int64 = 1 << 46

    private var state = State.header
    private var gathered: [UInt8] = []
    /// The next file's length from a pax record.
    private var recordedLength: Int64?

    package init() {}

    /// Whether the end was reached; false for a truncated tar.
    package var isWhole: Bool {
        if case .over = state { return true }
        return false
    }

    /// Parses the next bytes.
    ///
    /// - Throws: `DeviceError` with `damaged` if it is not a tar archive of a copy, or the error of `event`.
    package mutating func take(
        _ bytes: UnsafeRawBufferPointer, _ event: (Event) throws(DeviceError) -> Void
    ) throws(DeviceError) {
        var index = 0
        /// The next bytes, `most` of them or as many as there are.
        func next(_ most: Int64) -> UnsafeRawBufferPointer {
            let count = Int(min(most, Int64(bytes.count - index)))
            defer { index += count }
            return UnsafeRawBufferPointer(rebasing: bytes[index..<index + count])
        }
        while index < bytes.count {
            switch state {
            case .over: return
            case .header:
                gathered += next(Int64(Self.block - gathered.count))
                if gathered.count == Self.block { try readHeader(event) }
            case .content(let left, let padding):
                let piece = next(left)
                try event(.bytes(piece))
                let rest = left - Int64(piece.count)
                state = .content(left: rest, padding: padding)
                if rest == 0 {
                    try event(.end)
                    state = padding > 0 ? .padding(left: padding) : .header
                }
            case .record(let left, let padding):
                let piece = next(left)
                gathered += piece
                let rest = left - Int64(piece.count)
                state = .record(left: rest, padding: padding)
                if rest == 0 {
                    try readRecord()
                    state = padding > 0 ? .padding(left: padding) : .header
                }
            case .padding(let left):
                let rest = left - Int64(next(left).count)
                state = rest == 0 ? .header : .padding(left: rest)
            }
        }
    }

    private mutating func readHeader(_ event: (Event) throws(DeviceError) -> Void) throws(DeviceError) {
        let header = gathered
        gathered = []
        if header.allSatisfy({ $0 == 0 }) { return state = .over }
        let sum = header.enumerated().reduce(Int64(0)) { sum, byte in
            sum + Int64((148..<156).contains(byte.offset) ? 0x20 : byte.element)
        }
        guard Self.octal(header[148..<156]) == sum, var length = Self.octal(header[124..<136]) else {
            throw Self.refusal("is not a tar archive of a recording")
        }
        let kind = header[156]
        let name = String(decoding: header[0..<100].prefix { $0 != 0 }, as: UTF8.self)
        if kind == UInt8(ascii: "0"), let recordedLength { (length, self.recordedLength) = (recordedLength, nil) }
        guard (0...Self.longestFile).contains(length) else { throw Self.refusal("holds a file that is too long") }
        let padding = (Int64(Self.block) - length % Int64(Self.block)) % Int64(Self.block)
        switch kind {
        case UInt8(ascii: "5"): state = .header
        case UInt8(ascii: "x"):
            guard length > 0, length <= Self.longestRecord else {
                throw Self.refusal("is not a tar archive of a recording")
            }
            state = .record(left: length, padding: padding)
        case UInt8(ascii: "0"):
            let parts = name.split(separator: "/", omittingEmptySubsequences: false)
            guard parts.count == 2, let file = parts.last, !file.isEmpty, file != ".", file != "..",
                !parts[0].isEmpty, parts[0] != ".."
            else { throw Self.refusal("holds a file outside of a recording's folder") }
            try event(.file(String(file), bytes: length))
            guard length > 0 else { return try event(.end) }
            state = .content(left: length, padding: padding)
        default: throw Self.refusal("holds something that is not a file")
        }
    }

    /// `27 size=8589934592`, one per line.
    private mutating func readRecord() throws(DeviceError) {
        let text = String(decoding: gathered, as: UTF8.self)
        gathered = []
        for line in text.split(separator: "\n") {
            let parts = line.split(separator: " ", maxSplits: 1)
            guard parts.count == 2, parts[1].hasPrefix("size=") else { continue }
            guard let size = Int64(parts[1].dropFirst(5)) else {
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
