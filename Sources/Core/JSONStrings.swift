/// Checks the strings of JSON that somebody else wrote, before it is decoded.
///
/// FoundationEssentials of Swift 6.0 ends the program where a key is ill-formed: invalid UTF-8, a control character, a wrong
/// escape.
package enum JSONStrings {
    /// A string is not well-formed.
    package struct IllFormed: Error {}

    /// Returns `bytes` where each of its strings is well-formed.
    package static func check(_ bytes: [UInt8]) throws(IllFormed) -> [UInt8] {
        guard areWellFormed(in: bytes) else { throw IllFormed() }
        return bytes
    }

    /// Whether each string in `bytes` is well-formed; the rest is for the decoder to judge.
    package static func areWellFormed(in bytes: [UInt8]) -> Bool {
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
                guard let length = escape(in: bytes, at: index) else { return false }
                index += length
            }
        }
        return !isString
    }

    /// The length of what follows a backslash; nil where that is no escape.
    private static func escape(in bytes: [UInt8], at index: Int) -> Int? {
        guard index < bytes.count else { return nil }
        guard bytes[index] == UInt8(ascii: "u") else {
            return Array("\"\\/bfnrt".utf8).contains(bytes[index]) ? 1 : nil
        }
        guard let unit = codeUnit(in: bytes, at: index + 1), !UTF16.isTrailSurrogate(unit) else { return nil }
        guard UTF16.isLeadSurrogate(unit) else { return 5 }
        guard bytes.dropFirst(index + 5).starts(with: "\\u".utf8), let second = codeUnit(in: bytes, at: index + 7),
            UTF16.isTrailSurrogate(second)
        else { return nil }
        return 11
    }

    private static func codeUnit(in bytes: [UInt8], at index: Int) -> UInt16? {
        guard index + 4 <= bytes.count else { return nil }
        var unit: UInt16 = 0
        for byte in bytes[index..<(index + 4)] {
            guard let digit = Character(UnicodeScalar(byte)).hexDigitValue else { return nil }
            unit = unit << 4 | UInt16(digit)
        }
        return unit
    }
}
