/// A part of a command's help, in its order: a paragraph (`String`), a `Form`, an `Argument` or an `Option`.
package protocol HelpPart: Sendable {}

/// Single line breaks are spaces; lines that begin with a space are kept.
extension String: HelpPart {}

/// A paragraph that begins another form of the command line.
package struct Form: HelpPart {
    let text: String

    /// - Parameter text: What this form does.
    package init(_ text: String) { self.text = text }
}

/// A line of help that explains a word of the command line.
package protocol HelpRow: HelpPart {
    /// In the usage line, as `[--limit N]`.
    var usage: String { get }
    /// Before the explanation, as `--limit N`.
    var title: String { get }
    /// The meaning and the default.
    var explanation: String { get }
    /// Its shell completion.
    var completion: Completion { get }
}

/// The shell completion of an argument or an option's value.
package enum Completion: Sendable {
    case nothing, files, folders, recordings, models, recorders
    case words([String])

    /// For the shell's script, which replaces a line that begins with a colon.
    var lines: [String] {
        switch self {
        case .nothing: []
        case .words(let words): words
        default: [":\(self)"]
        }
    }
}

/// An argument of a command. In lower case it begins with an action.
package struct Argument: HelpRow {
    package let usage: String
    package let explanation: String
    package let completion: Completion

    /// - Parameters:
    ///   - usage: As in the usage line: `ID`, `[FILE...]` or `forget NAME`.
    ///   - explanation: The meaning and the default.
    ///   - completion: Its shell completion, or that of the word after an action.
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
    /// The action; empty without one.
    var action: String { String(usage.prefix { $0.isLowercase || $0 == "-" }) }
}

/// An option of any type.
protocol AnyOption: HelpRow {
    var name: String { get }
    var valueName: String? { get }

    func check(_ texts: [String]) throws(UsageError)
}

/// An option of a command, declared once: look-up, help, completion and manual page follow from it.
package struct Option<Value: Sendable>: AnyOption {
    let name: String
    /// Nil for an option without a value.
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

    func check(_ texts: [String]) throws(UsageError) { _ = try parse(texts) }

    /// Parses an option's last text.
    ///
    /// - Parameters:
    ///   - name: With its dashes.
    ///   - valueName: The value in the help.
    ///   - explanation: The meaning and the default.
    ///   - expectation: The remedy in errors, such as `give seconds`.
    ///   - completion: The shell completion of the value.
    ///   - parse: Returns nil for invalid text.
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
    /// An option without a value.
    package static func flag(_ name: String, _ explanation: String) -> Self {
        Option(name, nil, explanation) { !$0.isEmpty }
    }

    /// Output for programs.
    package static func json(_ explanation: String) -> Self { flag("--json", explanation) }
    package static var json: Self { json("print one JSON array") }
}

extension Option where Value == String? {
    /// An option with any text; the last one applies.
    ///
    /// - Parameter isRequired: Whether the usage line shows it without brackets.
    package init(
        _ name: String, _ valueName: String, _ explanation: String, _ completion: Completion = .nothing,
        isRequired: Bool = false
    ) {
        self.init(name, valueName, explanation, completion, isRequired: isRequired) { $0.last }
    }

    /// The name of a file that a confined process reads, for its errors.
    package static var incomingName: Self { Self("--name", "NAME", "the file's name") }
}

extension Option where Value == [String] {
    /// An option that may be repeated.
    package init(repeated name: String, _ valueName: String, _ explanation: String) {
        self.init(name, valueName, explanation) { $0 }
    }
}

extension Option where Value == Int? {
    /// A whole number.
    package static func number(_ name: String, _ explanation: String, in range: ClosedRange<Int>) -> Self {
        parsed(name, "N", explanation, numberExpectation(range)) { Int($0).flatMap { range.contains($0) ? $0 : nil } }
    }
}

extension Option where Value == Int {
    /// A whole number with a default, which the help shows.
    package static func number(
        _ name: String, _ explanation: String, in range: ClosedRange<Int>, default usual: Int,
        as valueName: String = "N"
    ) -> Self {
        Option(name, valueName, "\(explanation); default \(usual)") { texts throws(UsageError) in
            guard let text = texts.last else { return usual }
            guard let number = Int(text), range.contains(number) else { throw UsageError(numberExpectation(range)) }
            return number
        }
    }
}

extension Option {
    /// One of several values.
    ///
    /// - Parameters:
    ///   - word: The word for a value.
    ///   - explanation: Nil to list the words and the default.
    package static func choice(
        _ name: String, _ valueName: String, of all: [Value], named word: @escaping @Sendable (Value) -> String,
        default usual: Value, explanation: String? = nil
    ) -> Self {
        let words = all.map(word)
        let list = "\(words.joined(separator: ", ")); default \(word(usual))"
        return Option(name, valueName, explanation ?? list, .words(words)) { texts throws(UsageError) in
            guard let text = texts.last else { return usual }
            guard let index = words.firstIndex(of: text) else { throw UsageError(choiceExpectation(words)) }
            return all[index]
        }
    }

    /// A case of an enumeration; nil by default.
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
