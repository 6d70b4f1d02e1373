/// Returns the lines of a text file from any system: UTF-8 or UTF-16, with or without a byte order mark, with any line
/// ends.
///
/// - Returns: Each line without its line end; nil for a line that is not text, or for a whole file that is damaged
///   UTF-16. A comment in UTF-8 may contain anything and is returned without its text.
func cardLines(of bytes: [UInt8]) -> [String?] {
    if let isLittleEndian = isLittleEndianUTF16(bytes) {
        guard let text = decodedUTF16(bytes, isLittleEndian: isLittleEndian) else { return [nil] }
        return text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).map { line in
            line.utf8.contains(where: isControl) ? nil : String(line)
        }
    }
    let plain = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes.dropFirst(3) : bytes[...]
    var rows: [ArraySlice<UInt8>] = []
    for row in plain.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
        let line = row.last == UInt8(ascii: "\r") ? row.dropLast() : row
        rows += line.split(separator: UInt8(ascii: "\r"), omittingEmptySubsequences: false)
    }
    return rows.map { row in
        let first = row.first { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") }
        if first == UInt8(ascii: "#") || first == UInt8(ascii: ";") { return "#" }
        return row.contains(where: isControl) ? nil : String(validating: row, as: UTF8.self)
    }
}

private func isControl(_ byte: UInt8) -> Bool { byte < 0x20 && byte != UInt8(ascii: "\t") || byte == 0x7F }

/// Returns the byte order of UTF-16, which begins with a byte order mark or with a letter that has a zero byte. Returns
/// nil for other text.
private func isLittleEndianUTF16(_ bytes: [UInt8]) -> Bool? {
    switch (bytes.first, bytes.dropFirst().first) {
    case (0xFF, 0xFE), (_, 0): true
    case (0xFE, 0xFF), (0, _): false
    default: nil
    }
}

/// Returns nil if the bytes are not UTF-16. Settings in any language consist mostly of ASCII; other text is UTF-16 that
/// has lost or gained a byte.
private func decodedUTF16(_ bytes: [UInt8], isLittleEndian: Bool) -> String? {
    let units = stride(from: 0, to: bytes.count - 1, by: 2).map { index in
        let pair = (UInt16(bytes[index]), UInt16(bytes[index + 1]))
        return isLittleEndian ? pair.0 | pair.1 << 8 : pair.1 | pair.0 << 8
    }
    let text = units.first == 0xFEFF ? units.dropFirst() : units[...]
    guard bytes.count.isMultiple(of: 2), text.count(where: { $0 < 0x80 }) * 2 >= text.count else { return nil }
    return String(validating: text, as: UTF16.self)
}
