/// Returns the command line's words after the program's name.
///
/// - Throws: `UsageError` for a word that is not UTF-8: as a file name it would change.
package func commandLineWords() throws -> [String] {
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

/// A subcommand's options and arguments.
package struct OptionWords {
    /// For errors.
    private let (program, command): (String, String)
    private var values: [String: [String]] = [:]
    private var flags: Set<String> = []
    /// The arguments; after `--` every word is one.
    package private(set) var rest: [String] = []

    /// - Parameter options: The options with a value, and those without.
    /// - Throws: `UsageError` for an unknown option, or one without its value.
    package init(
        _ words: [String], of command: String, in program: String, options: (values: [String], flags: [String])
    ) throws {
        (self.program, self.command) = (program, command)
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
            if options.flags.contains(word) {
                flags.insert(word)
            } else if options.values.contains(parts[0]), let value = parts.count > 1 ? parts[1] : words.popFirst() {
                values[parts[0], default: []].append(value)
            } else {
                throw options.values.contains(word)
                    ? usage("\(word) needs a value") : unknown(parts[0], among: options.values + options.flags)
            }
        }
    }

    /// Whether an option without a value was given.
    package func has(_ flag: String) -> Bool { flags.contains(flag) }

    /// The option's values, in order.
    package func all(_ option: String) -> [String] { values[option] ?? [] }

    /// The option's last value.
    package subscript(_ option: String) -> String? { values[option]?.last }

    /// The integer value of an option, or its default.
    ///
    /// - Throws: `UsageError` for other values.
    package func number(_ option: String, in range: ClosedRange<Int>, default usual: Int) throws -> Int {
        guard let text = self[option] else { return usual }
        guard let number = Int(text), range.contains(number) else {
            throw UsageError(
                "\(command): \(option) \(text): give a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    /// The option's value among the permitted ones.
    ///
    /// - Throws: `UsageError` for any other.
    package func choice<Value>(
        _ option: String, of all: [Value], named name: (Value) -> String, default usual: Value
    ) throws -> Value {
        guard let text = self[option] else { return usual }
        guard let value = all.first(where: { name($0) == text }) else {
            throw UsageError("\(command): \(option) \(text): choose one of \(all.map(name).joined(separator: ", "))")
        }
        return value
    }

    /// Checks the number of arguments.
    ///
    /// - Parameter what: The name of a missing one.
    /// - Throws: `UsageError` for any other number.
    package func expect(_ count: Int, _ what: String) throws {
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

    /// What is wrong, with where it is explained.
    package func usage(_ problem: String) -> UsageError {
        UsageError("\(command): \(problem); see \(program) \(command) --help")
    }
}
