import Core
import Glibc
import Recognition

/// A user's own program. It gets settings only from its environment.
struct CommandEngine: EngineEntry {
    private static let prefix = "command:"

    let name = "command"
    let form = "command:PROGRAM"
    let summary = "your own program that speaks the decode workers' protocol"
    let languages = "its own"
    let licence = "its own"
    let needs = ["the program, by its full path"]

    func isNamed(by value: String) -> Bool {
        value.hasPrefix(Self.prefix) && value.utf8.count > Self.prefix.utf8.count
    }

    /// It has one profile, and reports its own name.
    func suffices(_ pass: PassSummary) -> Bool {
        pass.isComplete && EngineRegistry.all.allSatisfy { $0.name == name || $0.name != pass.engine.name }
    }

    func check(_ configuration: Configuration) throws(DeviceError) {
        let program = words(configuration).first ?? ""
        guard program.hasPrefix("/"), access(program, X_OK) == 0 else {
            throw DeviceError(
                .missing, "access", status: errno, on: program,
                "recognizer.engine names a program that does not exist or must not run here",
                remedy: "give its full path, for the service also in ExecPaths= (systemctl edit fieldscribe), or set "
                    + "recognizer.engine = pocketsphinx")
        }
    }

    func programs(in configuration: Configuration) -> [String] { Array(words(configuration).prefix(1)) }

    func command(_ configuration: Configuration, profile: String) throws(DeviceError) -> WorkerCommand {
        try check(configuration)
        let words = words(configuration)
        return WorkerCommand(
            path: words[0], arguments: Array(words.dropFirst()), model: words[0], profile: profile)
    }

    func provider(_ options: WorkerOptions) throws(DeviceError) -> any RecognizerProvider {
        throw DeviceError(
            .unsupported, "decode-worker", on: name, "is a separate program",
            remedy: "name it with recognizer.engine")
    }

    func reader(in configuration: Configuration) -> String { configuration.recognizer.engine }

    /// The program and its arguments.
    private func words(_ configuration: Configuration) -> [String] {
        configuration.recognizer.engine.dropFirst(Self.prefix.count).split(separator: " ").map(String.init)
    }
}
