/// A part of a command's help: a paragraph (`String`), a `Form`, an `Argument` or an `Option`.
package protocol HelpPart: Sendable {}

/// A paragraph. Single line breaks count as spaces; lines that begin with a space are not wrapped.
extension String: HelpPart {}

/// A paragraph that introduces another form of the command line.
package struct Form: HelpPart {
    let text: String

    /// - Parameter text: A description of this form.
    package init(_ text: String) { self.text = text }
}

/// A row in the help that explains an argument or option.
package protocol HelpRow: HelpPart {
    /// The representation in the usage line, such as `[--limit N]`.
    var usage: String { get }
    /// The representation before the explanation, such as `--limit N`.
    var title: String { get }
    /// The meaning and the default.
    var explanation: String { get }
    /// The shell completion.
    var completion: Completion { get }
}

/// The shell completion for an argument or an option's value.
package enum Completion: Sendable {
    case nothing, files, folders, recordings, models, recorders
    case words([String])

    /// The output for the completion script, which replaces lines that begin with a colon.
    var lines: [String] {
        switch self {
        case .nothing: []
        case .words(let words): words
        default: [":\(self)"]
        }
    }
}

/// A positional argument of a command. If it begins with a lowercase word, that word is an action.
package struct Argument: HelpRow {
    package let usage: String
    package let explanation: String
    package let completion: Completion

    /// - Parameters:
    ///   - usage: The representation in the usage line: `ID`, `[FILE...]` or `forget NAME`.
    ///   - explanation: The meaning and the default.
    ///   - completion: The shell completion for the argument, or for the word after an action.
    package init(_ usage: String, _ explanation: String, _ completion: Completion = .nothing) {
        self.usage = usage
        self.explanation = explanation
        self.completion = completion
    }

    package var title: String {
        let isBracketed = usage.hasPrefix("[") && usage.hasSuffix("]")
        let inner = isBracketed ? usage.dropFirst().dropLast() : usage[...]
        return String(inner.hasSuffix("...") && !isAction ? inner.dropLast(3) : inner)
    }

    var isAction: Bool { !action.isEmpty }
    /// The action; empty if there is none.
    var action: String { String(usage.prefix { $0.isLowercase || $0 == "-" }) }
}

/// An option of any type.
protocol AnyOption: HelpRow {
    var name: String { get }
    var valueName: String? { get }

    func check(_ values: [String]) throws(UsageError)
}

/// An option of a command. This single declaration is used for lookup, help, completion and the manual page.
package struct Option<Value: Sendable>: AnyOption {
    let name: String
    /// The name of the value; nil if the option has no value.
    let valueName: String?
    package let explanation: String
    package let completion: Completion
    private let isRequired: Bool
    /// Parses the given values, in order.
    let parse: @Sendable ([String]) throws(UsageError) -> Value

    fileprivate init(
        _ name: String, _ valueName: String?, _ explanation: String, _ completion: Completion = .nothing,
        isRequired: Bool = false, parse: @escaping @Sendable ([String]) throws(UsageError) -> Value
    ) {
        self.name = name
        self.valueName = valueName
        self.explanation = explanation
        self.completion = completion
        self.isRequired = isRequired
        self.parse = parse
    }

    package var title: String { valueName.map { "\(name) \($0)" } ?? name }
    package var usage: String { isRequired ? title : "[\(title)]" }

    func check(_ values: [String]) throws(UsageError) { _ = try parse(values) }

    /// Creates an option that parses its value. If the option is repeated, the last value applies.
    ///
    /// - Parameters:
    ///   - name: The name, including dashes.
    ///   - valueName: The name of the value in the help.
    ///   - explanation: The meaning and the default.
    ///   - expectation: The remedy in errors, such as `give seconds`.
    ///   - completion: The shell completion for the value.
    ///   - parse: Must return nil for invalid text.
    package static func parsed<Parsed>(
        _ name: String, _ valueName: String, _ explanation: String, _ expectation: String,
        _ completion: Completion = .nothing, parse: @escaping @Sendable (String) -> Parsed?
    ) -> Option<Parsed?> where Value == Parsed? {
        Option<Parsed?>(name, valueName, explanation, completion) { texts throws(UsageError) in
            guard let text = texts.last else { return nil }
            guard let value = parse(text) else { throw UsageError(expectation) }
            return value
        }
    }
}

extension Option where Value == Bool {
    /// Creates an option without a value.
    package static func flag(_ name: String, _ explanation: String) -> Self {
        Option(name, nil, explanation) { !$0.isEmpty }
    }

    /// Creates the `--json` option.
    package static func json(_ explanation: String) -> Self { flag("--json", explanation) }
    package static var json: Self { json("print one JSON array") }
}

extension Option where Value == String? {
    /// Creates an option with a text value. If the option is repeated, the last value applies.
    ///
    /// - Parameter isRequired: Whether the usage line shows the option without brackets.
    package init(
        _ name: String, _ valueName: String, _ explanation: String, _ completion: Completion = .nothing,
        isRequired: Bool = false
    ) {
        self.init(name, valueName, explanation, completion, isRequired: isRequired) { $0.last }
    }

    /// The name of the file that a sandboxed process reads, for its errors.
    package static var incomingName: Self { Self("--name", "NAME", "the file's name") }
}

extension Option where Value == [String] {
    /// Creates an option that may be repeated.
    package init(repeated name: String, _ valueName: String, _ explanation: String) {
        self.init(name, valueName, explanation) { $0 }
    }
}

extension Option where Value == Int? {
    /// Creates an option with a whole number.
    package static func number(_ name: String, _ explanation: String, in range: ClosedRange<Int>) -> Self {
        parsed(name, "N", explanation, numberExpectation(range)) { Int($0).flatMap { range.contains($0) ? $0 : nil } }
    }
}

extension Option where Value == Int {
    /// Creates an option with a whole number and a default, which the help shows.
    package static func number(
        _ name: String, _ explanation: String, in range: ClosedRange<Int>, default defaultValue: Int,
        as valueName: String = "N"
    ) -> Self {
        Option(name, valueName, "\(explanation); default \(defaultValue)") { values throws(UsageError) in
            guard let text = values.last else { return defaultValue }
            guard let number = Int(text), range.contains(number) else { throw UsageError(numberExpectation(range)) }
            return number
        }
    }
}

extension Option {
    /// Creates an option with one of several values.
    ///
    /// - Parameters:
    ///   - word: Returns the word for a value.
    ///   - explanation: The meaning; nil to list the words and the default.
    package static func choice(
        _ name: String, _ valueName: String, of all: [Value], named word: @escaping @Sendable (Value) -> String,
        default defaultValue: Value, explanation: String? = nil
    ) -> Self {
        let words = all.map(word)
        let list = "\(words.joined(separator: ", ")); default \(word(defaultValue))"
        return Option(name, valueName, explanation ?? list, .words(words)) { values throws(UsageError) in
            guard let text = values.last else { return defaultValue }
            guard let index = words.firstIndex(of: text) else { throw UsageError(choiceExpectation(words)) }
            return all[index]
        }
    }

    /// Creates an option with a case of an enumeration; nil by default.
    package static func choice<Case: CaseIterable & RawRepresentable<String>>(
        _ name: String, _ valueName: String, _ explanation: String
    ) -> Self where Value == Case? {
        let words = Case.allCases.map(\.rawValue)
        return parsed(name, valueName, explanation, choiceExpectation(words), .words(words)) { Case(rawValue: $0) }
    }
}

private func numberExpectation(_ range: ClosedRange<Int>) -> String {
    "give a whole number from \(range.lowerBound) to \(range.upperBound)"
}

private func choiceExpectation(_ words: [String]) -> String { "choose one of \(words.joined(separator: ", "))" }
