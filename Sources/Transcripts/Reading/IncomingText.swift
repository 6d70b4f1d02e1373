import Core

/// Decodes a text file in UTF-8 or, with a byte order mark, UTF-16, as Praat and spreadsheets save it.
///
/// - Parameter name: The file's name for errors.
/// - Throws: `DeviceError` with `damaged` if it is neither.
package func incomingText(_ bytes: [UInt8], name: String) throws(DeviceError) -> String {
    let isBigEndian = bytes.starts(with: [0xFE, 0xFF])
    if isBigEndian || bytes.starts(with: [0xFF, 0xFE]) {
        let pairs = stride(from: 2, to: bytes.count - 1, by: 2).map { index in
            let (first, second) = (UInt16(bytes[index]), UInt16(bytes[index + 1]))
            return isBigEndian ? first << 8 | second : second << 8 | first
        }
        if let text = String(validating: pairs, as: UTF16.self) { return text }
    } else if let text = String(
        validating: bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(bytes.dropFirst(3)) : bytes, as: UTF8.self)
    {
        return text
    }
    throw DeviceError(
        .damaged, "import", on: name, "is not text in UTF-8 or UTF-16", remedy: "save it as UTF-8; nothing was changed")
}
