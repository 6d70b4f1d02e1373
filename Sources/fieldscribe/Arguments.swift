import Equipment
import Configuration
import Core
import Exporting
import Glibc
import Platform

/// A subcommand's words: options first or last, each known to the command, and what is left.
struct Arguments {
    private let command: any Command.Type
    private var values: [String: String] = [:]
    private var flags: Set<String> = []

    /// The words that belong to no option; all after `--`.
    private(set) var rest: [String] = []

    /// - Throws: `UsageError` for an option that the command does not know, or one without its value.
    init(_ words: [String], of command: any Command.Type) throws {
        self.command = command
        let known = (values: command.options.values + ["--config"], flags: command.options.flags)
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
            if known.flags.contains(word) {
                flags.insert(word)
            } else if known.values.contains(parts[0]), let value = parts.count > 1 ? parts[1] : words.popFirst() {
                values[parts[0]] = value
            } else {
                let isKnown = known.values.contains(word)
                throw UsageError(
                    "\(command.name): \(word)\(isKnown ? " needs a value" : " is no option of this command"); "
                        + "see fieldscribe \(command.name) --help")
            }
        }
    }

    func has(_ flag: String) -> Bool { flags.contains(flag) }

    subscript(_ option: String) -> String? { values[option] }

    /// The whole number of an option, or its default.
    func number(_ option: String, in range: ClosedRange<Int>, default usual: Int) throws -> Int {
        guard let text = values[option] else { return usual }
        guard let number = Int(text), range.contains(number) else {
            throw UsageError(
                "\(command.name): \(option) \(text): give a whole number from \(range.lowerBound) to \(range.upperBound)"
            )
        }
        return number
    }

    /// The option's value among those that are allowed.
    func choice<Value>(_ option: String, of all: [Value], named name: (Value) -> String, default usual: Value) throws
        -> Value
    {
        guard let text = values[option] else { return usual }
        guard let value = all.first(where: { name($0) == text }) else {
            throw UsageError(
                "\(command.name): \(option) \(text): choose one of \(all.map(name).joined(separator: ", "))")
        }
        return value
    }

    /// Exactly so many words that belong to no option.
    func expect(_ count: Int, _ what: String) throws {
        guard rest.count == count else {
            let tooMany = rest.count > count
            throw UsageError(
                "\(command.name): \(tooMany ? "\(rest[count]) is one word too many" : "\(what) is missing"); "
                    + "see fieldscribe \(command.name) --help")
        }
    }

    /// The settings; `--engine` of a command that knows it takes the place of theirs.
    func configuration() throws -> Configuration {
        let engine = values["--engine"]
        if let engine, !EngineRegistry.isName(engine) {
            throw UsageError("\(command.name): --engine \(engine): choose one of \(EngineRegistry.forms)")
        }
        return try Configuration.load(explicitPath: values["--config"], environment: Self.environment).with(
            engine: engine)
    }

    /// The settings of the machine alone, without those that a stick brought.
    func ownConfiguration() throws -> Configuration {
        try Configuration.loadOwn(explicitPath: values["--config"], environment: Self.environment)
    }

    /// The settings, with `--model` as a recording takes it.
    func demoConfiguration() throws -> Configuration { try configuration().with(model: values["--model"]) }

    /// The settings with what the words say of this recording alone.
    func recordingConfiguration() throws -> Configuration {
        let configuration = try configuration()
        if let file = values["--vocabulary"], access(file, R_OK) != 0 {
            throw DeviceError.system("access", on: "--vocabulary \(file)")
        }
        let hint = try choice(
            "--hint", of: Configuration.Recognizer.Hint.allCases, named: \.rawValue,
            default: configuration.recognizer.hint)
        return configuration.with(model: values["--model"], vocabulary: values["--vocabulary"], hint: hint)
    }

    /// The settings with the microphone that `--microphone` names, where it does.
    ///
    /// - Throws: `UsageError` where that is none; whether it is there is found when it is opened.
    func microphone(in configuration: Configuration) throws -> Configuration {
        guard let name = values["--microphone"] else { return configuration }
        var configuration = configuration
        configuration.capture.device = name
        do throws(DeviceError) { _ = try configuration.microphone() } catch {
            guard error.code == .unsupported else { throw error }
            throw UsageError("\(command.name): --microphone \(error.message)")
        }
        return configuration
    }

    /// What puts marks into the transcripts that a command shows.
    func punctuator(_ configuration: Configuration) throws -> Punctuator {
        var configuration = configuration
        configuration.recognizer.punctuation = try choice(
            "--punctuation", of: Punctuation.allCases, named: \.rawValue,
            default: configuration.recognizer.punctuation)
        return configuration.punctuator()
    }

    private static var environment: [String: String] {
        guard let value = getenv("FIELDSCRIBE_CONFIG") else { return [:] }
        return ["FIELDSCRIBE_CONFIG": String(cString: value)]
    }
}
