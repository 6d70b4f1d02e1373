import Core
import Glibc
import System

/// Returns a configuration file's text with one setting changed and all other bytes unchanged.
///
/// - Parameter text: The content of a file that the parser accepts.
func configurationText(_ text: String, setting name: String, in section: String, to value: String) -> String {
    // Splits bytes, not characters, because "\r\n" is one Character in Swift.
    var lines = text.utf8.split(separator: newline, omittingEmptySubsequences: false).map { Substring($0) }
    let ending = lines.first?.utf8.last == carriageReturn ? "\r" : ""
    let setting = "\(name) = \(value)"
    var current = ""
    var header: Int?
    var sample: Int?
    for (index, line) in lines.enumerated() {
        let trimmedLine = line.trimmed
        if trimmedLine.hasPrefix("[") {
            current = String(trimmedLine.dropFirst().prefix { $0 != "]" })
            if current == section { header = index }
        } else if current == section, trimmedLine.isSetting(of: name) {
            lines[index] = line.replacingValue(with: value)
            return lines.joined(separator: "\n")
        } else if current == section, trimmedLine.hasPrefix("#"), trimmedLine.dropFirst().trimmed.isSetting(of: name) {
            sample = index
        }
    }
    if let index = sample ?? header {
        lines.insert("\(setting)\(ending)", at: index + 1)
        // If the last line had no newline, it still has none.
        return lines.joined(separator: "\n")
    }
    let separation = text.isEmpty ? "" : text.utf8.last == newline ? "\(ending)\n" : "\(ending)\n\(ending)\n"
    return "\(text)\(separation)[\(section)]\(ending)\n\(setting)\(ending)\n"
}

extension Configuration {
    /// Saves one setting in the configuration's file, which is created if necessary, and returns the file's path. Keeps
    /// the mode and, if possible, the owner of an existing file.
    ///
    /// - Throws: `DeviceError`, such as `denied`. The file is then unchanged.
    package func save(_ name: String, in section: String, value: String) throws(DeviceError) -> String {
        let givenPath = file ?? Self.systemPath
        // Replaces the target of a link, not the link.
        let path = (try? realPath(givenPath)) ?? givenPath
        var status = stat()
        let exists = stat(path, &status) == 0
        let text = exists ? String(decoding: try Self.read(path), as: UTF8.self) : ""
        if !exists { try makeFolder(folder(of: path), mode: 0o755) }
        let newText = configurationText(text, setting: name, in: section, to: value)
        try durableReplace(path: path, with: newText, mode: exists ? status.st_mode & 0o777 : 0o644)
        if exists, status.st_uid != geteuid() || status.st_gid != getegid() {
            _ = chown(path, status.st_uid, status.st_gid)
        }
        return path
    }
}

private let newline = UInt8(ascii: "\n")
private let carriageReturn = UInt8(ascii: "\r")

extension Substring {
    /// The text without a byte order mark at its start, a carriage return at its end, and surrounding blanks.
    fileprivate var trimmed: Substring {
        var rest = drop { $0 == " " || $0 == "\t" || $0 == "\u{FEFF}" }
        while let last = rest.last, last == " " || last == "\t" || last == "\r" { rest.removeLast() }
        return rest
    }

    fileprivate func isSetting(of name: String) -> Bool {
        guard let separator = firstIndex(where: { $0 == "=" || $0 == ":" }) else { return false }
        return self[..<separator].trimmed == name
    }

    /// Returns the line with another value but the same indentation, spacing and comment.
    fileprivate func replacingValue(with value: String) -> Substring {
        guard let separator = firstIndex(where: { $0 == "=" || $0 == ":" }) else { return self }
        let after = self[index(after: separator)...]
        let start = after.firstIndex { $0 != " " && $0 != "\t" } ?? after.endIndex
        var end = after.endIndex
        var previous: Character = " "
        for index in after.indices[start...] {
            if after[index] == ";", previous == " " || previous == "\t" {
                end = index
                break
            }
            previous = after[index]
        }
        // Blanks before a comment or the line's end do not belong to the value.
        while end > start, " \t\r".contains(after[after.index(before: end)]) { end = after.index(before: end) }
        return Substring("\(self[..<start])\(value)\(self[end...])")
    }
}
