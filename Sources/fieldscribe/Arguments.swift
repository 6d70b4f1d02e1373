import Core
import Glibc
import Settings
import System
import Transcripts

/// The parsed words of a subcommand: options and arguments.
struct Arguments {
    private let command: any Command.Type
    private let words: OptionWords

    /// The arguments: words that belong to no option, and all after `--`.
    var rest: [String] { words.rest }

    /// - Throws: `UsageError` for an unknown option, or one without its value.
    init(_ words: [String], of command: any Command.Type) throws {
        self.command = command
        let options = (values: command.options.values + ["--config"], flags: command.options.flags)
        self.words = try OptionWords(words, of: command.name, in: "fieldscribe", options: options)
    }

    func has(_ flag: String) -> Bool { words.has(flag) }

    subscript(_ option: String) -> String? { words[option] }

    /// The whole number of an option, or its default.
    func number(_ option: String, in range: ClosedRange<Int>, default usual: Int) throws -> Int {
        try words.number(option, in: range, default: usual)
    }

    /// The option's value among the allowed ones.
    func choice<Value>(
        _ option: String, of all: [Value], named name: (Value) -> String, default usual: Value
    ) throws -> Value {
        try words.choice(option, of: all, named: name, default: usual)
    }

    /// Requires exactly `count` arguments.
    func expect(_ count: Int, _ what: String) throws { try words.expect(count, what) }

    /// The settings, with the engine of `--engine`.
    func configuration() throws -> Configuration {
        let engine = words["--engine"]
        if let engine, !EngineRegistry.isName(engine) {
            throw UsageError("\(command.name): --engine \(engine): choose one of \(EngineRegistry.forms)")
        }
        return try Configuration.load(explicitPath: words["--config"], environment: Self.environment).with(
            engine: engine)
    }

    /// The settings without those that a stick brought.
    func ownConfiguration() throws -> Configuration {
        try Configuration.loadOwn(explicitPath: words["--config"], environment: Self.environment)
    }

    /// The settings, with the model of `--model`.
    func demoConfiguration() throws -> Configuration { try configuration().with(model: words["--model"]) }

    /// The settings with `--model`, `--vocabulary` and `--hint`.
    func recordingConfiguration() throws -> Configuration {
        let configuration = try configuration()
        if let file = words["--vocabulary"], access(file, R_OK) != 0 {
            throw DeviceError.system("access", on: "--vocabulary \(file)")
        }
        let hint = try choice(
            "--hint", of: Configuration.Recognizer.Hint.allCases, named: \.rawValue,
            default: configuration.recognizer.hint)
        return configuration.with(model: words["--model"], vocabulary: words["--vocabulary"], hint: hint)
    }

    /// The settings with the microphone of `--microphone`.
    ///
    /// - Throws: `UsageError` if the name is invalid. A missing device is found when it is opened.
    func microphone(in configuration: Configuration) throws -> Configuration {
        guard let name = words["--microphone"] else { return configuration }
        var configuration = configuration
        configuration.capture.device = name
        do throws(DeviceError) { _ = try configuration.microphone() } catch {
            guard error.code == .unsupported else { throw error }
            throw UsageError("\(command.name): --microphone \(error.message)")
        }
        return configuration
    }

    /// The punctuator for transcripts that a command prints.
    func punctuator(_ configuration: Configuration) throws -> Punctuator {
        var configuration = configuration
        configuration.recognizer.punctuation = try choice(
            "--punctuation", of: Punctuation.allCases, named: \.rawValue,
            default: configuration.recognizer.punctuation)
        return configuration.punctuator()
    }

    static var environment: [String: String] {
        guard let value = getenv("FIELDSCRIBE_CONFIG") else { return [:] }
        return ["FIELDSCRIBE_CONFIG": String(cString: value)]
    }
}
