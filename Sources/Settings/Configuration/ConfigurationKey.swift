import Core

/// A key in the configuration file: its name, how to parse its value, and where to store the value.
struct ConfigurationKey: Sendable {
    struct Refusal: Error { var reason: String }

    typealias Target<Value> = WritableKeyPath<Configuration, Value> & Sendable

    /// The section's name, without brackets.
    let section: String
    let name: String
    let allowed: String
    let isOptional: Bool
    private let parse: @Sendable (String, inout Configuration) throws(Refusal) -> Void
    private let format: @Sendable (Configuration) -> String

    /// The name in messages and manuals, such as `capture.rate`.
    var path: String { "\(section).\(name)" }

    /// Returns the value in the file's format.
    func value(in configuration: Configuration) -> String { format(configuration) }

    func set(_ value: String, in configuration: inout Configuration) throws(Refusal) {
        if value.isEmpty, !isOptional {
            throw Refusal(reason: "has no value; delete the line for the default, or set it to \(allowed)")
        }
        try parse(value, &configuration)
    }

    private init(
        _ path: String, allowed: String, isOptional: Bool = false,
        parse: @escaping @Sendable (String, inout Configuration) throws(Refusal) -> Void,
        format: @escaping @Sendable (Configuration) -> String
    ) {
        let parts = path.split(separator: ".", maxSplits: 1).map(String.init)
        section = parts.first ?? ""
        name = parts.last ?? ""
        self.allowed = allowed
        self.isOptional = isOptional
        self.parse = parse
        self.format = format
    }
}

// The types of values.
extension ConfigurationKey {
    static func integer(
        _ path: String, _ target: Target<Int>, _ range: ClosedRange<Int>
    ) -> ConfigurationKey {
        let allowed = "\(range.lowerBound) to \(range.upperBound)"
        return ConfigurationKey(path, allowed: allowed) { (value, configuration) throws(Refusal) in
            guard value.allSatisfy({ $0.isASCII && ($0.isNumber || $0 == "-") }), let number = Int(value) else {
                throw Refusal(reason: "\"\(value)\" is not a whole number; allowed: \(allowed)")
            }
            guard range.contains(number) else {
                throw Refusal(reason: "\(value) is out of range; allowed: \(allowed)")
            }
            configuration[keyPath: target] = number
        } format: {
            "\($0[keyPath: target])"
        }
    }

    static func number(_ path: String, _ target: Target<Double>, _ range: ClosedRange<Double>) -> ConfigurationKey {
        let allowed = "\(formatted(range.lowerBound)) to \(formatted(range.upperBound))"
        return ConfigurationKey(path, allowed: allowed) { (value, configuration) throws(Refusal) in
            configuration[keyPath: target] = try decimal(value, range, allowed: allowed)
        } format: {
            formatted($0[keyPath: target])
        }
    }

    static func flag(_ path: String, _ target: Target<Bool>) -> ConfigurationKey {
        ConfigurationKey(path, allowed: "yes or no") { (value, configuration) throws(Refusal) in
            switch value {
            case "yes", "true", "on", "1": configuration[keyPath: target] = true
            case "no", "false", "off", "0": configuration[keyPath: target] = false
            default: throw Refusal(reason: "\"\(value)\" is not valid; allowed: yes or no")
            }
        } format: {
            $0[keyPath: target] ? "yes" : "no"
        }
    }

    static func choice<Value: RawRepresentable<String> & CaseIterable & Sendable>(
        _ path: String, _ target: Target<Value>
    ) -> ConfigurationKey {
        parsed(
            path, target, allowed: Value.allCases.map(\.rawValue).joined(separator: ", "), kind: "a known value",
            format: { $0.rawValue }, parse: { Value(rawValue: $0) })
    }

    /// A list of one or more values, separated by blanks or commas. Duplicates are dropped.
    static func choices<Value: RawRepresentable<String> & CaseIterable & Equatable & Sendable>(
        _ path: String, _ target: Target<[Value]>
    ) -> ConfigurationKey {
        let allowed = "one or more of " + Value.allCases.map(\.rawValue).joined(separator: ", ")
        return ConfigurationKey(path, allowed: allowed) { (value, configuration) throws(Refusal) in
            var choices: [Value] = []
            for name in value.split(whereSeparator: { $0 == "," || $0.isWhitespace }) {
                guard let choice = Value(rawValue: String(name)) else {
                    throw Refusal(reason: "\"\(name)\" is not a known value; allowed: \(allowed)")
                }
                if !choices.contains(choice) { choices.append(choice) }
            }
            if choices.isEmpty { throw Refusal(reason: "\"\(value)\" is an empty list; allowed: \(allowed)") }
            configuration[keyPath: target] = choices
        } format: {
            $0[keyPath: target].map(\.rawValue).joined(separator: " ")
        }
    }

    /// A list of entries, separated by commas; may be empty. Duplicates are dropped.
    ///
    /// - Parameter problem: Returns why an entry is invalid; nil if it is valid. Messages do not show the entry.
    static func list(
        _ path: String, _ target: Target<[String]>, allowed: String, problem: @escaping @Sendable (String) -> String?
    ) -> ConfigurationKey {
        ConfigurationKey(path, allowed: allowed, isOptional: true) { (value, configuration) throws(Refusal) in
            var entries: [String] = []
            for (index, part) in value.split(separator: ",").enumerated() {
                let entry = part.split(whereSeparator: \.isWhitespace).joined(separator: " ")
                if entry.isEmpty { continue }
                if let reason = problem(entry) {
                    throw Refusal(reason: "entry \(index + 1) \(reason); allowed: \(allowed)")
                }
                if !entries.contains(entry) { entries.append(entry) }
            }
            guard value.isEmpty || !entries.isEmpty else {
                throw Refusal(reason: "\"\(value)\" is an empty list; allowed: \(allowed)")
            }
            configuration[keyPath: target] = entries
        } format: {
            $0[keyPath: target].joined(separator: ", ")
        }
    }

    /// A value that `parse` accepts.
    ///
    /// - Parameter kind: The expected kind of value for messages, such as `a port` for `is not a port`.
    static func parsed<Value: Sendable>(
        _ path: String, _ target: Target<Value>, allowed: String, kind: String, isOptional: Bool = false,
        format: @escaping @Sendable (Value) -> String, parse: @escaping @Sendable (String) -> Value?
    ) -> ConfigurationKey {
        ConfigurationKey(path, allowed: allowed, isOptional: isOptional) { (value, configuration) throws(Refusal) in
            guard let parsed = parse(value) else {
                throw Refusal(reason: "\"\(value)\" is not \(kind); allowed: \(allowed)")
            }
            configuration[keyPath: target] = parsed
        } format: {
            format($0[keyPath: target])
        }
    }

    static func path(_ path: String, _ target: Target<String>, upTo limit: Int = 4_095) -> ConfigurationKey {
        let bound = limit < 4_095 ? " and has at most \(limit) bytes" : ""
        return parsed(
            path, target, allowed: "a path that begins with /\(bound)", kind: "an absolute path", format: { $0 },
            parse: { $0.hasPrefix("/") && $0.utf8.count <= limit ? $0 : nil })
    }

    static func optionalPath(_ path: String, _ target: Target<String?>) -> ConfigurationKey {
        let allowed = "a path that begins with /, or nothing"
        return ConfigurationKey(path, allowed: allowed, isOptional: true) { (value, configuration) throws(Refusal) in
            guard value.isEmpty || value.hasPrefix("/") else {
                throw Refusal(reason: "\"\(value)\" is not an absolute path; allowed: \(allowed)")
            }
            configuration[keyPath: target] = value.isEmpty ? nil : value
        } format: {
            $0[keyPath: target] ?? ""
        }
    }

    /// A level in dBFS, or `auto` for a level above the measured noise floor.
    static func threshold(
        _ path: String, _ target: Target<SpeechSettings.Threshold>, _ range: ClosedRange<Double>
    ) -> ConfigurationKey {
        let allowed = "auto, or \(formatted(range.lowerBound)) to \(formatted(range.upperBound))"
        return ConfigurationKey(path, allowed: allowed) { (value, configuration) throws(Refusal) in
            configuration[keyPath: target] =
                value == "auto"
                ? SpeechSettings().threshold : .fixed(decibels: try decimal(value, range, allowed: allowed))
        } format: {
            let threshold = $0[keyPath: target]
            if case .fixed(let decibels) = threshold { return formatted(decibels) }
            return "auto"
        }
    }

    private static func decimal(
        _ value: String, _ range: ClosedRange<Double>, allowed: String
    ) throws(Refusal) -> Double {
        // Double(_:) also accepts hexadecimal, infinity and NaN.
        guard value.allSatisfy({ $0.isASCII && ($0.isNumber || $0 == "-" || $0 == ".") }), let number = Double(value)
        else { throw Refusal(reason: "\"\(value)\" is not a number; allowed: \(allowed)") }
        guard range.contains(number) else { throw Refusal(reason: "\(value) is out of range; allowed: \(allowed)") }
        return number
    }

    private static func formatted(_ number: Double) -> String {
        number == number.rounded() ? "\(Int(number))" : "\(number)"
    }
}
