/// Returns the command-line arguments after the program's name.
///
/// - Throws: `UsageError` for an argument that is not UTF-8. Replacing its invalid bytes could name another file.
func commandLineArguments() throws -> [String] {
    let arguments = Array(CommandLine.arguments.dropFirst())
    for (index, argument) in arguments.enumerated() {
        // Safety: valid as long as the process lives.
        guard let bytes = CommandLine.unsafeArgv[index + 1], String(validatingCString: bytes) == nil else { continue }
        throw UsageError(
            "\(argument): is not UTF-8; rename the file (for example with convmv -f latin1 -t utf8 --notest), or "
                + "pass the argument in UTF-8"
        )
    }
    return arguments
}

/// The parsed arguments of a command: its options and positional arguments.
package struct Arguments: Sendable {
    package let command: String
    private let program: String
    private var values: [String: [String]] = [:]
    /// The positional arguments, including everything after `--`.
    package private(set) var rest: [String] = []

    /// - Parameter rows: The arguments and options that the command accepts. If there is no `Argument`, positional
    ///   arguments are rejected.
    /// - Throws: `UsageError` for an unknown option or argument, or a missing or invalid value.
    init(_ arguments: [String], of command: String, in program: String, rows: [any HelpRow]) throws(UsageError) {
        (self.program, self.command) = (program, command)
        let options = rows.compactMap { $0 as? any AnyOption }
        var arguments = arguments[...]
        while let argument = arguments.popFirst() {
            if argument == "--" {
                rest += arguments
                break
            }
            guard argument.hasPrefix("-"), argument != "-" else {
                rest.append(argument)
                continue
            }
            let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard let option = options.first(where: { $0.name == parts[0] }) else {
                throw unknownOption(parts[0], among: options.map(\.name))
            }
            if option.valueName == nil {
                guard parts.count == 1 else { throw usage("\(parts[0]) takes no value") }
                values[option.name, default: []].append("")
            } else if let value = parts.count > 1 ? parts[1] : arguments.popFirst() {
                values[option.name, default: []].append(value)
            } else {
                throw usage("\(argument) needs a value")
            }
        }
        for option in options {
            let optionValues = values[option.name] ?? []
            do throws(UsageError) { try option.check(optionValues) } catch {
                throw UsageError("\(command): \(option.name) \(optionValues.last ?? ""): \(error.message)")
            }
        }
        if !rows.contains(where: { $0 is Argument }) { try expect(0, "") }
    }

    /// The value of an option, or its default if it was not given or the command does not declare it.
    package subscript<Value>(option: Option<Value>) -> Value {
        do throws(UsageError) { return try option.parse(values[option.name] ?? []) } catch {
            preconditionFailure("\(command) looks up \(option.name) with another declaration: \(error.message)")
        }
    }

    /// Checks the number of positional arguments.
    ///
    /// - Parameter missingName: The name of the argument that is missing if there are too few.
    /// - Throws: `UsageError` if there are more or fewer.
    package func expect(_ count: Int, _ missingName: String) throws(UsageError) {
        guard rest.count == count else {
            throw usage(rest.count > count ? "unexpected argument \(rest[count])" : "\(missingName) is missing")
        }
    }

    private func unknownOption(_ option: String, among names: [String]) -> UsageError {
        guard let nearest = nearestName(to: [option], among: names) else {
            return usage("unknown option \(option)")
        }
        return UsageError("\(command): unknown option \(option); did you mean \(nearest)?")
    }

    /// Returns an error with a problem and a hint to `--help`.
    package func usage(_ problem: String) -> UsageError {
        UsageError("\(command): \(problem); see \(program) \(command) --help")
    }
}
