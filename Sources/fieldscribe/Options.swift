import Appliance
import Core
import Glibc
import Recognition
import Settings
import System
import Transcripts

extension Argument {
    static func recordings(_ defaultSelection: String = "all") -> Argument {
        Argument("[ID...]", "recording numbers, as shown by fieldscribe list; default \(defaultSelection)", .recordings)
    }
}

extension Option where Value == String? {
    static var config: Self {
        Self(
            "--config", "FILE", "configuration file; default $FIELDSCRIBE_CONFIG or /etc/fieldscribe/fieldscribe.conf",
            .files)
    }

    static var directory: Self { directory("the archive's folder; default storage.directory") }

    static func directory(_ explanation: String) -> Self { Self("--directory", "DIR", explanation, .folders) }

    static var engine: Self {
        let names = [EngineRegistry.automaticName] + EngineRegistry.all.map(\.form)
        return parsed(
            "--engine", "E", "\(EngineRegistry.forms); default recognizer.engine",
            "choose one of \(EngineRegistry.forms)",
            .words(names.map { $0.replacing("PROGRAM", with: "") })
        ) { EngineRegistry.isName($0) ? $0 : nil }
    }

    static var model: Self {
        Self(
            "--model", "NAME|DIR", "a model that fieldscribe models lists, or its folder; default recognizer.model",
            .models)
    }

    static var vocabulary: Self {
        Self(
            "--vocabulary", "FILE", "words and phrases to prefer, or a grammar; default recognizer.vocabulary", .files)
    }

    static var microphone: Self {
        Self(
            "--microphone", "M", "alsa:NAME, file:PATH, file+fast:PATH or tone:HZ; default capture.device",
            .words(["alsa:", "file:", "file+fast:", "tone:"]))
    }
}

extension Option where Value == RecognitionHint? {
    static var hint: Self {
        choice(
            "--hint", "H",
            "dictation, search (a few words) or confirmation (yes, no, numbers); default recognizer.hint")
    }
}

extension Option where Value == Punctuation? {
    static var punctuation: Self {
        choice(
            "--punctuation", "P",
            "engine (as the engine writes it), none, automatic (sentences), spoken (as dictated) or both; default recognizer.punctuation"
        )
    }
}

extension Option where Value == Bool {
    static var yes: Self { flag("--yes", "do not ask; required without a terminal") }
}

extension ConfigurationError: UsageProblem {
    package var message: String { description }
}

extension Arguments {
    /// Loads the settings and applies the engine, model, vocabulary, hint and microphone from the command line.
    ///
    /// - Throws: `UsageError` if the microphone name is invalid. A missing device is reported when it is opened.
    func configuration() throws -> Configuration {
        if let file = self[.vocabulary], access(file, R_OK) != 0 {
            throw DeviceError.system("access", on: "--vocabulary \(file)")
        }
        var configuration = try Configuration.load(explicitPath: self[.config], environment: Self.environment)
            .with(engine: self[.engine])
            .with(model: self[.model], vocabulary: self[.vocabulary], hint: self[.hint])
        guard let name = self[.microphone] else { return configuration }
        configuration.capture.device = name
        do throws(DeviceError) { _ = try configuration.microphone() } catch {
            guard error.code == .unsupported else { throw error }
            throw UsageError("\(command): --microphone \(error.message)")
        }
        return configuration
    }

    /// Loads the settings and applies the archive folder from `--directory`.
    func archiveConfiguration() throws -> Configuration { try configuration().with(directory: self[.directory]) }

    /// Loads the settings, but not those from a stick.
    func ownConfiguration() throws -> Configuration {
        try Configuration.loadOwn(explicitPath: self[.config], environment: Self.environment)
    }

    func punctuator(_ configuration: Configuration) -> Punctuator {
        var configuration = configuration
        if let punctuation = self[.punctuation] { configuration.recognizer.punctuation = punctuation }
        return configuration.punctuator()
    }

    static var environment: [String: String] {
        let name = "FIELDSCRIBE_CONFIG"
        return environmentVariable(name).map { [name: $0] } ?? [:]
    }

    var recordings: [Int] { get throws { try rest.map(recording) } }

    func recording(_ text: String) throws(UsageError) -> Int {
        guard let id = Int(text), (1...(1 << 53)).contains(id) else {
            let ends = text.split(separator: text.contains("-") ? "-" : "..")
            let isRange = ends.count == 2 && ends.allSatisfy { Int($0) != nil }
            throw UsageError(
                isRange
                    ? "\(command): \(text): ranges are not supported; list the recording numbers one by one"
                    : "\(command): \(text): not a recording number; fieldscribe list shows the numbers")
        }
        return id
    }

    /// Throws an error if `--yes` was not given and there is no terminal on which to ask the user.
    func checkTerminal(toConfirm action: String) throws(UsageError) {
        guard self[.yes] || isatty(STDIN_FILENO) == 1 && Terminal.showsErrors else {
            throw UsageError(
                "\(command): cannot ask for confirmation without a terminal; use --yes to \(action) without asking")
        }
    }

    /// Asks a yes-or-no question. Returns true if the user agrees, or if `--yes` was given.
    func confirms(_ question: @autoclosure () -> String) -> Bool {
        if self[.yes] { return true }
        Terminal.prompt("\(question()) [y/N] ")
        return ["y", "yes"].contains(readLine(strippingNewline: true)?.lowercased())
    }

    /// Connects to the appliance. Throws `ExitError` with status 5 if it is not running.
    func appliance() throws -> ControlClient {
        let configuration = try configuration()
        if let client = try ControlClient(configuration) { return client }
        Terminal.say(
            "fieldscribe: the appliance is not running (nothing is listening at \(configuration.control.socket)); start "
                + "it: systemctl start fieldscribe, or fieldscribe run")
        throw ExitError(status: 5)
    }
}

extension ControlClient {
    func status() throws -> ApplianceStatus {
        guard let status = try ask(.status).status else {
            throw DeviceError(.failed, "status", "the appliance is running a different version; restart it")
        }
        return status
    }
}
