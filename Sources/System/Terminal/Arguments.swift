/// Returns the command line's words after the program's name.
///
/// - Throws: `UsageError` for a word that is not UTF-8: as a file name it would change.
func commandLineWords() throws -> [String] {
    let words = Array(CommandLine.arguments.dropFirst())
    for (index, word) in words.enumerated() {
        // Safety: valid as long as the process lives.
        guard let bytes = CommandLine.unsafeArgv[index + 1], String(validatingCString: bytes) == nil else { continue }
        throw UsageError(
            "\(word): is not UTF-8; rename the file, as with convmv -f latin1 -t utf8 --notest, or write the word in UTF-8"
        )
    }
    return words
}

/// The parsed words of a command: its options, and the other arguments.
package struct Arguments: Sendable {
    package let command: String
    private let program: String
    private var texts: [String: [String]] = [:]
    /// The words that belong to no option; all words after `--`.
    package private(set) var rest: [String] = []

    /// - Parameter rows: What the command accepts. Without an `Argument` it accepts none.
    /// - Throws: `UsageError` for an unknown option or argument, and a missing or wrong value.
    init(_ words: [String], of command: String, in program: String, rows: [any HelpRow]) throws(UsageError) {
        (self.program, self.command) = (program, command)
        let options = rows.compactMap { $0 as? any AnyOption }
        var words = words[...]
        while let word = words.popFirst() {
            if word == "--" {
                rest += words
                break
            }
            guard word.hasPrefix("-"), word != "-" else {
                rest.append(word)
                continue
            }
            let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard let option = options.first(where: { $0.name == parts[0] }) else {
                throw unknown(parts[0], among: options.map(\.name))
            }
            if option.valueName == nil {
                guard parts.count == 1 else { throw usage("\(parts[0]) takes no value") }
                texts[option.name, default: []].append("")
            } else if let text = parts.count > 1 ? parts[1] : words.popFirst() {
                texts[option.name, default: []].append(text)
            } else {
                throw usage("\(word) needs a value")
            }
        }
        for option in options {
            let given = texts[option.name] ?? []
            do throws(UsageError) { try option.check(given) } catch {
                throw UsageError("\(command): \(option.name) \(given.last ?? ""): \(error.message)")
            }
        }
        if !rows.contains(where: { $0 is Argument }) { try expect(0, "") }
    }

    /// The value of an option; its default if the command does not declare it.
    package subscript<Value>(option: Option<Value>) -> Value {
        do throws(UsageError) { return try option.parse(texts[option.name] ?? []) } catch {
            preconditionFailure("\(command) looks up \(option.name) with another declaration: \(error.message)")
        }
    }

    /// Checks the number of arguments.
    ///
    /// - Parameter what: The name of a missing one.
    /// - Throws: `UsageError` for any other number.
    package func expect(_ count: Int, _ what: String) throws(UsageError) {
        guard rest.count == count else {
            throw usage(rest.count > count ? "unexpected argument \(rest[count])" : "\(what) is missing")
        }
    }

    private func unknown(_ option: String, among known: [String]) -> UsageError {
        guard let nearest = nearestName(to: [option], among: known) else {
            return usage("\(option) is not an option of this command")
        }
        return UsageError("\(command): \(option) is not an option of this command; did you mean \(nearest)?")
    }

    /// The problem, and where to find help.
    package func usage(_ problem: String) -> UsageError {
        UsageError("\(command): \(problem); see \(program) \(command) --help")
    }
}
