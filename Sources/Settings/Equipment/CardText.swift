/// Returns the lines of a text file from any system: UTF-8 or UTF-16, with or without a byte order mark, with any line
/// ends.
///
/// - Returns: Each line without its line end; nil for a line that is not text. A comment may be in any encoding and is
///   returned without its text.
func cardLines(of bytes: [UInt8]) -> [String?] {
    if let text = decodedUTF16(bytes) {
        return text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).map(String.init)
    }
    let plain = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes.dropFirst(3) : bytes[...]
    var rows: [ArraySlice<UInt8>] = []
    for row in plain.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
        let line = row.last == UInt8(ascii: "\r") ? row.dropLast() : row
        rows += line.split(separator: UInt8(ascii: "\r"), omittingEmptySubsequences: false)
    }
    return rows.map { row in
        if row.contains(where: { $0 < 0x20 && $0 != 0x09 || $0 == 0x7F }) { return nil }
        return row.first == UInt8(ascii: "#") ? "#" : String(validating: row, as: UTF8.self)
    }
}

/// Decodes UTF-16. Returns nil if the bytes are not UTF-16, which begins with a byte order mark or with a letter that
/// has a zero byte.
private func decodedUTF16(_ bytes: [UInt8]) -> String? {
    let isLittleEndian: Bool
    switch (bytes.first, bytes.dropFirst().first) {
    case (0xFF, 0xFE), (_, 0): isLittleEndian = true
    case (0xFE, 0xFF), (0, _): isLittleEndian = false
    default: return nil
    }
    let units = stride(from: 0, to: bytes.count - 1, by: 2).map { index in
        let pair = (UInt16(bytes[index]), UInt16(bytes[index + 1]))
        return isLittleEndian ? pair.0 | pair.1 << 8 : pair.1 | pair.0 << 8
    }
    return String(decoding: units.first == 0xFEFF ? units.dropFirst() : units[...], as: UTF16.self)
}
