extension Terminal {
    /// Returns the lines of a text that is wrapped at spaces to `width` columns; all but the first begin with `hanging` spaces,
    /// but with no more than half a line.
    package static func wrapped(_ text: String, to width: Int, hanging: Int) -> [String] {
        // The last column stays free: terminals differ in when they wrap there.
        let room = max(2, width - 1)
        let hanging = min(hanging, room / 2)
        var lines: [String] = []
        var line = ""
        var length = 0
        for (index, word) in text.split(separator: " ", omittingEmptySubsequences: false).enumerated() {
            var rest = word[...]
            if length > 0, length + 1 + columns(rest) > room {
                lines.append(line)
                line = String(repeating: " ", count: hanging)
                length = hanging
            } else if index > 0 {
                line += " "
                length += 1
            }
            while !rest.isEmpty, length + columns(rest) > room {
                let part = rest.prefix(max(1, (room - length) / 2))
                lines.append(line + part)
                rest = rest.dropFirst(part.count)
                line = String(repeating: " ", count: hanging)
                length = hanging
            }
            line += rest
            length += columns(rest)
        }
        return lines + [line]
    }

    /// The most columns that a text needs: wide East Asian characters take two.
    package static func columns(_ text: Substring) -> Int {
        text.reduce(0) { sum, character in
            sum + ((character.unicodeScalars.first?.value ?? 0) < 0x1100 ? 1 : 2)
        }
    }

    /// Returns the lines of a paragraph; lines that begin with a space stay as they are.
    static func filled(_ text: String, to width: Int) -> [String] {
        var lines: [String] = []
        var isOpen = false
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            let isText = !line.isEmpty && !line.hasPrefix(" ")
            if isText, isOpen { lines[lines.count - 1] += " \(line)" } else { lines.append(String(line)) }
            isOpen = isText
        }
        return lines.flatMap { $0.hasPrefix(" ") ? [$0] : wrapped($0, to: width, hanging: 0) }
    }
}
