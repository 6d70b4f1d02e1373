/// Validates the strings of untrusted JSON before it is decoded.
///
/// FoundationEssentials in Swift 6.0 crashes on an ill-formed key: invalid UTF-8, control characters, invalid escapes.
package enum JSONStrings {
    /// Thrown for an ill-formed string.
    package struct IllFormed: Error {}

    /// Returns `bytes` if all strings are well-formed.
    package static func check(_ bytes: [UInt8]) throws(IllFormed) -> [UInt8] {
        guard areWellFormed(in: bytes) else { throw IllFormed() }
        return bytes
    }

    /// Returns whether all strings in JSON are well-formed. The decoder checks the rest.
    static func areWellFormed(in bytes: [UInt8]) -> Bool {
        guard String(validating: bytes, as: UTF8.self) != nil else { return false }
        var index = 0
        var isString = false
        while index < bytes.count {
            let byte = bytes[index]
            index += 1
            if byte == UInt8(ascii: "\"") {
                isString.toggle()
            } else if isString, byte < 0x20 {
                return false
            } else if isString, byte == UInt8(ascii: "\\") {
                guard let length = escapeLength(in: bytes, at: index) else { return false }
                index += length
            }
        }
        return !isString
    }

    /// Returns the length of the escape sequence without its first backslash; nil if it is invalid.
    private static func escapeLength(in bytes: [UInt8], at index: Int) -> Int? {
        guard index < bytes.count else { return nil }
        switch bytes[index] {
        case UInt8(ascii: "u"): break
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            return 1
        default: return nil
        }
        guard let unit = codeUnit(in: bytes, at: index + 1), !UTF16.isTrailSurrogate(unit) else { return nil }
        guard UTF16.isLeadSurrogate(unit) else { return 5 }
        guard bytes[min(index + 5, bytes.count)...].starts(with: "\\u".utf8),
            let second = codeUnit(in: bytes, at: index + 7),
            UTF16.isTrailSurrogate(second)
        else { return nil }
        return 11
    }

    private static func codeUnit(in bytes: [UInt8], at index: Int) -> UInt16? {
        guard index + 4 <= bytes.count else { return nil }
        return codeUnit(bytes[index..<(index + 4)])
    }

    /// Parses at most four hexadecimal digits; returns nil for other characters.
    package static func codeUnit(_ digits: some Sequence<UInt8>) -> UInt16? {
        var unit: UInt16 = 0
        for byte in digits {
            guard let digit = Character(UnicodeScalar(byte)).hexDigitValue else { return nil }
            unit = unit << 4 | UInt16(digit)
        }
        return unit
    }
}
