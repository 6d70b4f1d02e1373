import Core
import Glibc
import Recognition

/// A user's own program, which speaks the decode-worker protocol. It gets only the arguments in `recognizer.engine`.
struct CommandEngine: EngineEntry {
    private static let prefix = "command:"

    let name = "command"
    let form = "command:PROGRAM"
    let summary = "your own program that speaks the decode-worker protocol"
    let languages = "its own"
    let licence = "its own"
    let needs = ["the program, by its full path"]

    func isNamed(by value: String) -> Bool {
        value.hasPrefix(Self.prefix) && value.utf8.count > Self.prefix.utf8.count
    }

    /// A program has one profile and reports its own engine name, which no other engine has.
    func suffices(_ pass: PassSummary) -> Bool {
        pass.isComplete && EngineRegistry.all.allSatisfy { $0.name == name || $0.name != pass.engine.name }
    }

    func check(_ configuration: Configuration) throws(DeviceError) {
        let program = commandLine(configuration).first ?? ""
        guard program.hasPrefix("/"), access(program, X_OK) == 0 else {
            throw DeviceError(
                .missing, "access", on: program,
                "recognizer.engine names a program that does not exist or may not be run",
                remedy: "use its full path and, for the service, add it to ExecPaths= (systemctl edit fieldscribe), or "
                    + "set recognizer.engine = pocketsphinx")
        }
    }

    func programs(in configuration: Configuration) -> [String] { Array(commandLine(configuration).prefix(1)) }

    func command(_ configuration: Configuration, profile: String) throws(DeviceError) -> WorkerCommand {
        try check(configuration)
        let commandLine = commandLine(configuration)
        return WorkerCommand(
            path: commandLine[0], arguments: Array(commandLine.dropFirst()), model: commandLine[0], profile: profile)
    }

    func provider(_ options: WorkerOptions) throws(DeviceError) -> any RecognizerProvider {
        throw DeviceError(
            .unsupported, "decode-worker", on: name, "is a separate program",
            remedy: "set recognizer.engine to it")
    }

    func modelOrProgram(in configuration: Configuration) -> String { configuration.recognizer.engine }

    private func commandLine(_ configuration: Configuration) -> [String] {
        configuration.recognizer.engine.dropFirst(Self.prefix.count).split(separator: " ").map(String.init)
    }
}
