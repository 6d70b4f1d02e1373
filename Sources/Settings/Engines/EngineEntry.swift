import Core
import Recognition

/// Describes an engine for configuration, doctor, models, completion and manual, and starts its workers. To add an
/// engine, add its entry to `EngineRegistry`.
package protocol EngineEntry: Sendable {
    /// The name in `recognizer.engine`, `decode-worker --engine` and `EngineDescription.name`.
    var name: String { get }

    /// The form of `recognizer.engine`: `pocketsphinx`, `command:PROGRAM`.
    var form: String { get }

    /// A description in one line.
    var summary: String { get }

    /// In words: `English`, `whatever its model knows`.
    var languages: String { get }

    /// An SPDX name, or words.
    var licence: String { get }

    /// The files and programs that it needs, in words.
    var needs: [String] { get }

    /// Its profiles, the one for live speech first; empty if it has only one.
    var profiles: [String] { get }

    /// Whether a worker that has loaded the model can be forked, as `WorkerCommand.makesCopies`.
    var makesCopies: Bool { get }

    /// Whether it writes capitals and punctuation itself.
    var writesPunctuation: Bool { get }

    /// The maximum length of merged utterances in seconds; 0 to not merge.
    var longestGroupSeconds: Int { get }

    /// Whether a second pass gives a better text.
    var readsTwice: Bool { get }

    /// Whether a value of `recognizer.engine` names it.
    func isNamed(by value: String) -> Bool

    /// Checks that everything it needs exists, without loading it.
    ///
    /// - Throws: `DeviceError` with `missing`, `denied`, `damaged` or `unsupported`, naming the file or program, with the
    ///   remedy after the last semicolon of its message.
    func check(_ configuration: Configuration) throws(DeviceError)

    /// The other programs that its workers run, which the service's sandbox must allow.
    func programs(in configuration: Configuration) -> [String]

    /// Returns how to start a worker.
    ///
    /// - Parameter profile: one of `profiles`; stored with passes even if it has none.
    /// - Throws: as `check`.
    func command(_ configuration: Configuration, profile: String) throws(DeviceError) -> WorkerCommand

    /// Opens it in the process of `decode-worker`.
    ///
    /// - Throws: `DeviceError` with `unsupported` if Fieldscribe's own workers cannot run it, or not with this profile.
    func provider(_ options: WorkerOptions) throws(DeviceError) -> any RecognizerProvider

    /// The model or program, as the doctor shows it.
    func reader(in configuration: Configuration) -> String

    /// What the doctor adds about a model that a worker has loaded: `its files are those of SHA256SUMS`; empty for nothing.
    func integrity(in configuration: Configuration) -> String

    /// Its hardware requirements.
    func cost(in configuration: Configuration) -> EngineCost

    /// Whether a second pass would give no better text than this pass has.
    func suffices(_ pass: PassSummary) -> Bool

    /// Whether it supports grammars and yes-or-no hints; if not, PocketSphinx transcribes those.
    var readsGrammars: Bool { get }

    /// Identifies what a board's speed was measured with; nil if it is not measured.
    func speedName(in configuration: Configuration) -> String?

    /// The models that are installed for it.
    func models(in configuration: Configuration) -> [InstalledModel]

    /// The model in a folder; nil if the folder has another engine's form.
    func model(at path: String) -> InstalledModel?
}

extension EngineEntry {
    var form: String { name }
    var profiles: [String] { [] }
    var makesCopies: Bool { false }
    var writesPunctuation: Bool { false }
    var longestGroupSeconds: Int { 0 }
    var readsTwice: Bool { false }

    func isNamed(by value: String) -> Bool { value == name }

    func programs(in configuration: Configuration) -> [String] { [] }

    func integrity(in configuration: Configuration) -> String { "" }

    func cost(in configuration: Configuration) -> EngineCost { EngineCost() }

    var readsGrammars: Bool { true }

    func speedName(in configuration: Configuration) -> String? { nil }

    func models(in configuration: Configuration) -> [InstalledModel] { [] }

    func model(at path: String) -> InstalledModel? { nil }
}

/// What an engine needs, for `DecodePlan`. The defaults are PocketSphinx's.
package struct EngineCost: Hashable, Sendable {
    /// The memory of the first worker, with the model.
    var firstMegabytes = 130
    /// The memory of each further worker that shares the model.
    var furtherMegabytes = 40
    /// The memory of each further worker with a model of its own.
    var aloneMegabytes = 100

    /// The profile for boards that are too slow for `live`; nil for none.
    var faster: String? = "fast"
    var fasterRatio = 1.3

    /// The highest measured speedup: a board returns to `live` only if that certainly keeps up.
    var maxFasterRatio = 2.0

    /// How much longer `final` takes than `live`.
    var finalRatio = 4.0

    /// Whether `final` searches differently from `live`.
    package var finalReadsBetter = true

    /// A board with less memory uses one worker, the faster profile and no second pass. 0 for no limit.
    var smallBoardMegabytes = 0
}
