extension Terminal {
    /// Wraps text at spaces to `width` columns and returns the lines. All lines but the first are indented by `hanging`
    /// spaces, but by at most half a line.
    package static func wrapped(_ text: String, to width: Int, hanging: Int) -> [String] {
        // The last column stays empty, because terminals differ in whether they wrap there.
        let available = max(2, width - 1)
        let hanging = min(hanging, available / 2)
        var lines: [String] = []
        var line = ""
        var length = 0
        for (index, word) in text.split(separator: " ", omittingEmptySubsequences: false).enumerated() {
            var rest = word[...]
            if length > 0, length + 1 + columns(rest) > available {
                lines.append(line)
                line = String(repeating: " ", count: hanging)
                length = hanging
            } else if index > 0 {
                line += " "
                length += 1
            }
            while !rest.isEmpty, length + columns(rest) > available {
                let part = rest.prefix(max(1, (available - length) / 2))
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

    /// Returns the maximum number of columns that text occupies. Characters from U+1100 on count as two,
    /// because some of them are wide.
    package static func columns(_ text: Substring) -> Int {
        text.reduce(0) { sum, character in
            sum + ((character.unicodeScalars.first?.value ?? 0) < 0x1100 ? 1 : 2)
        }
    }

    /// Joins the lines of each paragraph and wraps the paragraphs. Lines that begin with a space stay as they are.
    static func filled(_ text: String, to width: Int) -> [String] {
        var lines: [String] = []
        var continuesParagraph = false
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            let isText = !line.isEmpty && !line.hasPrefix(" ")
            if isText, continuesParagraph { lines[lines.count - 1] += " \(line)" } else { lines.append(String(line)) }
            continuesParagraph = isText
        }
        return lines.flatMap { $0.hasPrefix(" ") ? [$0] : wrapped($0, to: width, hanging: 0) }
    }
}
