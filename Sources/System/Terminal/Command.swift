/// A command of a program.
package protocol Command {
    /// Its name on the command line.
    static var name: String { get }
    /// Aliases, which no list shows.
    static var aliases: [String] { get }
    /// An imperative of at most nine words for the list of commands.
    static var summary: String { get }
    /// Paragraphs, arguments and options, in the order of the help.
    static var help: [any HelpPart] { get }
    /// The threads that it needs at a time; nil for a worker, whose parent has checked the system.
    static var threads: Int? { get }

    /// Runs the command.
    ///
    /// - Throws: `ExitError`, `UsageProblem` or `DeviceError`, which become the exit status.
    static func run(_ arguments: Arguments) async throws
}

extension Command {
    package static var aliases: [String] { [] }
    package static var help: [any HelpPart] { [] }
    package static var threads: Int? { 5 }

    static var rows: [any HelpRow] { help.compactMap { $0 as? any HelpRow } }

    /// The words that follow the name, for each form of the command line. Actions are alternatives.
    static var forms: [[String]] {
        var forms: [[String]] = [[]]
        var isAfterAction = false
        for part in help {
            if part is Form { forms.append([]) }
            guard let row = part as? any HelpRow else { continue }
            let isAction = (row as? Argument)?.isAction ?? false
            forms[forms.count - 1] += isAction && isAfterAction ? ["|", row.usage] : [row.usage]
            isAfterAction = isAction
        }
        return forms
    }

    /// The output of `--help`.
    static func helpText(in program: Program, width: Int) -> String {
        let usage = forms.enumerated().flatMap { index, words in
            let start = "\(index == 0 ? "usage:" : "      ") \(program.name) \(name)"
            // The line is not broken within a group such as `[--limit N]`.
            let line = ([start] + words).map { $0.replacing(" ", with: "\u{A0}") }.joined(separator: " ")
            return Terminal.wrapped(line, to: width, hanging: 11).map { $0.replacing("\u{A0}", with: " ") }
        }
        var parts = help
        parts.insert(contentsOf: program.common, at: (parts.lastIndex { $0 is any HelpRow } ?? parts.count - 1) + 1)
        let column = 4 + (parts.compactMap { ($0 as? any HelpRow)?.title.count }.max() ?? 0)
        var blocks = [[summary], usage]
        var isAfterRow = false
        for part in parts {
            if let row = part as? any HelpRow {
                let head = "  \(row.title)".padded(to: column)
                let lines = Terminal.wrapped(head + row.explanation, to: width, hanging: column)
                if isAfterRow { blocks[blocks.count - 1] += lines } else { blocks.append(lines) }
            } else if let text = part as? String ?? (part as? Form)?.text {
                blocks.append(Terminal.filled(text, to: width))
            }
            isAfterRow = part is any HelpRow
        }
        return blocks.map { $0.map { "\($0)\n" }.joined() }.joined(separator: "\n")
    }
}

extension String {
    /// Appends spaces up to a number of characters.
    package func padded(to count: Int) -> String { self + String(repeating: " ", count: max(0, count - self.count)) }
}
