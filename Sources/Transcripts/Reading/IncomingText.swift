import Core

/// The text of a file that somebody has saved, in UTF-8 or, with a mark at its beginning, in UTF-16, as Praat and spreadsheets do.
///
/// - Parameter name: the file's, for the error.
/// - Throws: `DeviceError` with `damaged` where it is neither.
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
        .damaged, "import", on: name, "is no text in UTF-8 or UTF-16", remedy: "save it as UTF-8; nothing was changed")
}
