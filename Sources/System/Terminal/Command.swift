/// A command of a program.
package protocol Command {
    /// The command's name on the command line.
    static var name: String { get }
    /// Aliases, which are not listed in the help.
    static var aliases: [String] { get }
    /// The summary in the list of commands: an imperative of at most nine words.
    static var summary: String { get }
    /// The paragraphs, arguments and options, in the order in which the help shows them.
    static var help: [any HelpPart] { get }
    /// The number of threads that the command needs at the same time; nil for a worker, whose parent has checked this.
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

    /// The arguments after the name, for each form of the command line. Actions are alternatives.
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

    /// Returns the output of the command's `--help`.
    static func helpText(in program: Program, width: Int) -> String {
        let usage = forms.enumerated().flatMap { index, arguments in
            let start = "\(index == 0 ? "usage:" : "      ") \(program.name) \(name)"
            // Nonbreaking spaces prevent line breaks within groups such as `[--limit N]`.
            let line = ([start] + arguments).map { $0.replacing(" ", with: "\u{A0}") }.joined(separator: " ")
            return Terminal.wrapped(line, to: width, hanging: 11).map { $0.replacing("\u{A0}", with: " ") }
        }
        var parts = help
        let lastRow = parts.lastIndex { $0 is any HelpRow } ?? parts.count - 1
        parts.insert(contentsOf: program.commonOptions, at: lastRow + 1)
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
    /// Returns the string padded with spaces to `count` characters.
    package func padded(to count: Int) -> String { self + String(repeating: " ", count: max(0, count - self.count)) }
}
