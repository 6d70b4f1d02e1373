import Core
import Recognition

/// Describes an engine to the rest of the program, such as configuration, doctor and completion, and starts its
/// workers. To add an engine, add its entry to `EngineRegistry`.
package protocol EngineEntry: Sendable {
    /// The name in `recognizer.engine`, `decode-worker --engine` and `EngineDescription.name`.
    var name: String { get }

    /// The form of the value of `recognizer.engine`, such as `pocketsphinx` or `command:PROGRAM`.
    var form: String { get }

    /// A one-line description.
    var summary: String { get }

    /// The languages in words, such as `English`.
    var languages: String { get }

    /// The SPDX identifier of the license, or a description.
    var licence: String { get }

    /// The required files and programs, in words.
    var needs: [String] { get }

    /// The profiles, beginning with the one for live speech; empty if there is only one.
    var profiles: [String] { get }

    /// Whether a worker that has loaded the model can be forked; see `WorkerCommand.makesCopies`.
    var makesCopies: Bool { get }

    /// Whether the engine outputs capitals and punctuation.
    var writesPunctuation: Bool { get }

    /// The maximum length of a group of utterances in seconds; 0 for no groups.
    var maximumGroupSeconds: Int { get }

    /// Returns the maximum length, in seconds, of a group together with the audio before it. The profile `final`
    /// decodes both together if the group's confidence is low. Returns 0 if the engine does not do this.
    func maximumJoinedSeconds(in configuration: Configuration) -> Int

    /// Whether a second pass gives a better transcript.
    var usesSecondPass: Bool { get }

    /// Whether a value of `recognizer.engine` names this engine.
    func isNamed(by value: String) -> Bool

    /// Checks that all required files and programs exist, without loading them.
    ///
    /// - Throws: `DeviceError` with `missing`, `denied`, `damaged` or `unsupported` that names the file or program,
    ///   with the remedy after the last semicolon of its message.
    func check(_ configuration: Configuration) throws(DeviceError)

    /// Returns the other programs that the engine's workers run, which the service's sandbox must allow.
    func programs(in configuration: Configuration) -> [String]

    /// Returns the command that starts a worker.
    ///
    /// - Parameter profile: One of `profiles`. It is stored with passes even if the engine has no profiles.
    /// - Throws: The errors of `check`.
    func command(_ configuration: Configuration, profile: String) throws(DeviceError) -> WorkerCommand

    /// Returns the engine's provider for a `decode-worker` process.
    ///
    /// - Throws: `DeviceError` with `unsupported` if Fieldscribe's own workers cannot run the engine or this profile.
    func provider(_ options: WorkerOptions) throws(DeviceError) -> any RecognizerProvider

    /// Returns the path of the model or program for display.
    func modelOrProgram(in configuration: Configuration) -> String

    /// Returns the doctor's note about the files of a model that a worker has loaded; empty if there is none.
    func integrity(in configuration: Configuration) -> String

    /// Returns the hardware requirements.
    func cost(in configuration: Configuration) -> EngineCost

    /// Whether a second pass would not give a better transcript than this pass.
    func suffices(_ pass: PassSummary) -> Bool

    /// Whether the engine supports grammars and the hint `confirmation`; if not, PocketSphinx is used for them.
    var supportsGrammars: Bool { get }

    /// Returns the name of the model and vocabulary with which a board's speed is measured; nil if it is not measured.
    func speedName(in configuration: Configuration) -> String?

    /// Returns the engine's installed models.
    func models(in configuration: Configuration) -> [InstalledModel]

    /// Returns the model in a folder; nil if the folder has another engine's model.
    func model(at path: String) -> InstalledModel?
}

extension EngineEntry {
    var form: String { name }
    var profiles: [String] { [] }
    var makesCopies: Bool { false }
    var writesPunctuation: Bool { false }
    var maximumGroupSeconds: Int { 0 }
    var usesSecondPass: Bool { false }

    func isNamed(by value: String) -> Bool { value == name }

    func maximumJoinedSeconds(in configuration: Configuration) -> Int { 0 }

    func programs(in configuration: Configuration) -> [String] { [] }

    func integrity(in configuration: Configuration) -> String { "" }

    func cost(in configuration: Configuration) -> EngineCost { EngineCost() }

    var supportsGrammars: Bool { true }

    func speedName(in configuration: Configuration) -> String? { nil }

    func models(in configuration: Configuration) -> [InstalledModel] { [] }

    func model(at path: String) -> InstalledModel? { nil }
}

/// An engine's hardware requirements for `DecodePlan`. The defaults are those of PocketSphinx.
package struct EngineCost: Hashable, Sendable {
    /// The memory for the first worker with the model.
    var firstMegabytes = 130
    /// The memory for each additional worker that shares the model.
    var additionalMegabytes = 40
    /// The memory for each additional worker that loads the model separately.
    var unsharedMegabytes = 100

    /// The profile for boards that are too slow for `live`; nil if there is none.
    var fasterProfile: String? = "fast"
    /// The usual ratio of the times that `live` and `fasterProfile` take.
    var fasterRatio = 1.3

    /// An upper bound of that ratio. A board returns to `live` only if it would keep up even with this ratio.
    var maxFasterRatio = 2.0

    /// The ratio of the times that `final` and `live` take.
    var finalRatio = 4.0

    /// Whether recordings that were transcribed with `live` get a second pass.
    package var repeatsLive = true

    /// The memory below which a board uses one worker, the faster profile and no second pass; 0 if there is no limit.
    var smallBoardMegabytes = 0
}
