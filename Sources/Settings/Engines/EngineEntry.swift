import Core
import Recognition

/// What the appliance knows of an engine, before any is opened: everything that configuration, doctor, models, completion and
/// manual say of it, and how its workers are started. One more engine is one more entry in `EngineRegistry`.
package protocol EngineEntry: Sendable {
    /// As `recognizer.engine`, `decode-worker --engine` and `EngineDescription.name` tell it.
    var name: String { get }

    /// How `recognizer.engine` names it: `pocketsphinx`, `command:PROGRAM`.
    var form: String { get }

    /// One line: what it is.
    var summary: String { get }

    /// In words: `English`, `whatever its model knows`.
    var languages: String { get }

    /// By its SPDX name, or in words.
    var licence: String { get }

    /// Files and programs that it needs, in words.
    var needs: [String] { get }

    /// The profiles that it knows, the one for speech that is still going on first; none where it has one way of reading.
    var profiles: [String] { get }

    /// Whether its workers can be copied by fork once one has loaded the model, as `WorkerCommand.makesCopies`.
    var makesCopies: Bool { get }

    /// Whether it writes capitals and punctuation itself.
    var writesPunctuation: Bool { get }

    /// Utterances are merged for it up to so many seconds; 0: it reads each alone.
    var longestGroupSeconds: Int { get }

    /// Whether it reads otherwise, and better, in a second pass.
    var readsTwice: Bool { get }

    /// Whether a value of `recognizer.engine` names it.
    func isNamed(by value: String) -> Bool

    /// Looks whether everything it needs is there, without loading it.
    ///
    /// - Throws: `DeviceError` with `missing`, `denied`, `damaged` or `unsupported`, naming file or program, with the remedy
    ///   behind the last semicolon of its message.
    func check(_ configuration: Configuration) throws(DeviceError)

    /// Programs other than Fieldscribe's own that its workers run, which the service's sandbox has to let run.
    func programs(in configuration: Configuration) -> [String]

    /// How to start a worker of it.
    ///
    /// - Parameter profile: one of `profiles`; told to passes also where it knows none.
    /// - Throws: as `check`.
    func command(_ configuration: Configuration, profile: String) throws(DeviceError) -> WorkerCommand

    /// Opens it in the process of `decode-worker`.
    ///
    /// - Throws: `DeviceError` with `unsupported` where it is no engine of Fieldscribe's own workers, or not with this profile.
    func provider(_ options: WorkerOptions) throws(DeviceError) -> any RecognizerProvider

    /// The model or program that reads, as the doctor tells it.
    func reader(in configuration: Configuration) -> String

    /// What was found of the model besides that it loads, as the doctor tells it: `its files are those of SHA256SUMS`; empty
    /// where there is nothing to tell. Asked only once a worker has loaded it.
    func integrity(in configuration: Configuration) -> String

    /// What it takes of a board.
    func cost(in configuration: Configuration) -> EngineCost

    /// Whether a second pass would read no better than this one has.
    func suffices(_ pass: PassSummary) -> Bool

    /// Whether it understands grammars, and a hint that says yes or no is awaited; where not, PocketSphinx reads these.
    var readsGrammars: Bool { get }

    /// Names what a board's speed was measured with; nil where it is not measured.
    func speedName(in configuration: Configuration) -> String?

    /// The models that are installed for it.
    func models(in configuration: Configuration) -> [InstalledModel]

    /// The model in a folder; nil where that has another engine's form.
    func model(at path: String) -> InstalledModel?
}

extension EngineEntry {
    package var form: String { name }
    var profiles: [String] { [] }
    var makesCopies: Bool { false }
    package var writesPunctuation: Bool { false }
    package var longestGroupSeconds: Int { 0 }
    var readsTwice: Bool { false }

    /// Whether it has more than one way of reading.
    package var knowsProfiles: Bool { !profiles.isEmpty }

    package func isNamed(by value: String) -> Bool { value == name }

    package func programs(in configuration: Configuration) -> [String] { [] }

    package func integrity(in configuration: Configuration) -> String { "" }

    func cost(in configuration: Configuration) -> EngineCost { EngineCost() }

    func suffices(_ pass: PassSummary) -> Bool { pass.isComplete && pass.profile == SecondPass.profile }

    package var readsGrammars: Bool { true }

    func speedName(in configuration: Configuration) -> String? { nil }

    func models(in configuration: Configuration) -> [InstalledModel] { [] }

    func model(at path: String) -> InstalledModel? { nil }
}
