import Core

/// A key of the configuration file: its name, how to parse its value, and where to store it.
struct ConfigurationKey: Sendable {
    /// Why a value is refused.
    struct Refusal: Error { var reason: String }

    /// Where a value is stored in the configuration.
    typealias Place<Value> = WritableKeyPath<Configuration, Value> & Sendable

    /// The section's name, without brackets.
    let section: String
    /// Within its section.
    let name: String
    /// The allowed values, in words.
    let allowed: String
    /// Whether the value may be empty.
    let isOptional: Bool
    private let read: @Sendable (String, inout Configuration) throws(Refusal) -> Void
    private let show: @Sendable (Configuration) -> String

    /// The name in messages and manuals: `capture.rate`.
    var path: String { "\(section).\(name)" }

    /// The value as written in the file.
    func value(in configuration: Configuration) -> String { show(configuration) }

    /// Parses a value and stores it.
    func set(_ value: String, in configuration: inout Configuration) throws(Refusal) {
        if value.isEmpty, !isOptional {
            throw Refusal(reason: "has no value; delete the line for the default, or give \(allowed)")
        }
        try read(value, &configuration)
    }

    private init(
        _ path: String, allowed: String, isOptional: Bool = false,
        read: @escaping @Sendable (String, inout Configuration) throws(Refusal) -> Void,
        show: @escaping @Sendable (Configuration) -> String
    ) {
        let parts = path.split(separator: ".", maxSplits: 1).map(String.init)
        section = parts.first ?? ""
        name = parts.last ?? ""
        self.allowed = allowed
        self.isOptional = isOptional
        self.read = read
        self.show = show
    }
}

// The kinds of values.
extension ConfigurationKey {
    static func whole(
        _ path: String, _ place: Place<Int>, _ range: ClosedRange<Int>
    ) -> ConfigurationKey {
        let allowed = "\(range.lowerBound) to \(range.upperBound)"
        return ConfigurationKey(path, allowed: allowed) { (value, configuration) throws(Refusal) in
            guard value.allSatisfy({ $0.isASCII && ($0.isNumber || $0 == "-") }), let number = Int(value) else {
                throw Refusal(reason: "\"\(value)\" is not a whole number; allowed: \(allowed)")
            }
            guard range.contains(number) else {
                throw Refusal(reason: "\(value) is out of range; allowed: \(allowed)")
            }
            configuration[keyPath: place] = number
        } show: {
            "\($0[keyPath: place])"
        }
    }

    static func number(_ path: String, _ place: Place<Double>, _ range: ClosedRange<Double>) -> ConfigurationKey {
        let allowed = "\(plain(range.lowerBound)) to \(plain(range.upperBound))"
        return ConfigurationKey(path, allowed: allowed) { (value, configuration) throws(Refusal) in
            configuration[keyPath: place] = try decimal(value, range, allowed: allowed)
        } show: {
            plain($0[keyPath: place])
        }
    }

    static func flag(_ path: String, _ place: Place<Bool>) -> ConfigurationKey {
        ConfigurationKey(path, allowed: "yes or no") { (value, configuration) throws(Refusal) in
            switch value {
            case "yes", "true", "on", "1": configuration[keyPath: place] = true
            case "no", "false", "off", "0": configuration[keyPath: place] = false
            default: throw Refusal(reason: "\"\(value)\" is neither; allowed: yes or no")
            }
        } show: {
            $0[keyPath: place] ? "yes" : "no"
        }
    }

    static func choice<Value: RawRepresentable<String> & CaseIterable & Sendable>(
        _ path: String, _ place: Place<Value>
    ) -> ConfigurationKey {
        parsed(
            path, place, allowed: Value.allCases.map(\.rawValue).joined(separator: ", "), fault: "known",
            show: { $0.rawValue }, parse: { Value(rawValue: $0) })
    }

    /// A list, separated by blanks or commas, without duplicates, with at least one value.
    static func choices<Value: RawRepresentable<String> & CaseIterable & Equatable & Sendable>(
        _ path: String, _ place: Place<[Value]>
    ) -> ConfigurationKey {
        let allowed = "one or more of " + Value.allCases.map(\.rawValue).joined(separator: ", ")
        return ConfigurationKey(path, allowed: allowed) { (value, configuration) throws(Refusal) in
            var chosen: [Value] = []
            for name in value.split(whereSeparator: { $0 == "," || $0.isWhitespace }) {
                guard let choice = Value(rawValue: String(name)) else {
                    throw Refusal(reason: "\"\(name)\" is not known; allowed: \(allowed)")
                }
                if !chosen.contains(choice) { chosen.append(choice) }
            }
            if chosen.isEmpty { throw Refusal(reason: "\"\(value)\" is an empty list; allowed: \(allowed)") }
            configuration[keyPath: place] = chosen
        } show: {
            $0[keyPath: place].map(\.rawValue).joined(separator: " ")
        }
    }

    /// A list, separated by commas, possibly empty.
    ///
    /// - Parameter fault: returns why an entry is invalid, or nil. Messages do not show the entry.
    static func list(
        _ path: String, _ place: Place<[String]>, allowed: String, fault: @escaping @Sendable (String) -> String?
    ) -> ConfigurationKey {
        ConfigurationKey(path, allowed: allowed, isOptional: true) { (value, configuration) throws(Refusal) in
            var entries: [String] = []
            for (index, part) in value.split(separator: ",").enumerated() {
                let entry = part.split(whereSeparator: \.isWhitespace).joined(separator: " ")
                if entry.isEmpty { continue }
                if let reason = fault(entry) {
                    throw Refusal(reason: "entry \(index + 1) \(reason); allowed: \(allowed)")
                }
                if !entries.contains(entry) { entries.append(entry) }
            }
            guard value.isEmpty || !entries.isEmpty else {
                throw Refusal(reason: "\"\(value)\" is an empty list; allowed: \(allowed)")
            }
            configuration[keyPath: place] = entries
        } show: {
            $0[keyPath: place].joined(separator: ", ")
        }
    }

    /// A value that `parse` understands; `fault` names the expected kind, as in `is not a port`.
    static func parsed<Value: Sendable>(
        _ path: String, _ place: Place<Value>, allowed: String, fault: String, isOptional: Bool = false,
        show: @escaping @Sendable (Value) -> String, parse: @escaping @Sendable (String) -> Value?
    ) -> ConfigurationKey {
        ConfigurationKey(path, allowed: allowed, isOptional: isOptional) { (value, configuration) throws(Refusal) in
            guard let parsed = parse(value) else {
                throw Refusal(reason: "\"\(value)\" is not \(fault); allowed: \(allowed)")
            }
            configuration[keyPath: place] = parsed
        } show: {
            show($0[keyPath: place])
        }
    }

    /// An absolute path.
    static func path(_ path: String, _ place: Place<String>, upTo limit: Int = 4_095) -> ConfigurationKey {
        let bound = limit < 4_095 ? " and has at most \(limit) bytes" : ""
        return parsed(
            path, place, allowed: "a path that begins with /\(bound)", fault: "an absolute path", show: { $0 },
            parse: { $0.hasPrefix("/") && $0.utf8.count <= limit ? $0 : nil })
    }

    /// An absolute path, or nothing.
    static func optionalPath(_ path: String, _ place: Place<String?>) -> ConfigurationKey {
        let allowed = "a path that begins with /, or nothing"
        return ConfigurationKey(path, allowed: allowed, isOptional: true) { (value, configuration) throws(Refusal) in
            guard value.isEmpty || value.hasPrefix("/") else {
                throw Refusal(reason: "\"\(value)\" is not an absolute path; allowed: \(allowed)")
            }
            configuration[keyPath: place] = value.isEmpty ? nil : value
        } show: {
            $0[keyPath: place] ?? ""
        }
    }

    /// A level in dBFS, or `auto` for one above the measured floor.
    static func threshold(
        _ path: String, _ place: Place<SpeechSettings.Threshold>, _ range: ClosedRange<Double>
    ) -> ConfigurationKey {
        let allowed = "auto, or \(plain(range.lowerBound)) to \(plain(range.upperBound))"
        return ConfigurationKey(path, allowed: allowed) { (value, configuration) throws(Refusal) in
            configuration[keyPath: place] =
                value == "auto"
                ? SpeechSettings().threshold : .fixed(decibels: try decimal(value, range, allowed: allowed))
        } show: {
            let threshold = $0[keyPath: place]
            if case .fixed(let decibels) = threshold { return plain(decibels) }
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

    private static func plain(_ number: Double) -> String {
        number == number.rounded() ? "\(Int(number))" : "\(number)"
    }
}
