import Core
import Glibc
import Settings
import System

/// Runs a subcommand. Prints its error as one line on stderr and returns an exit status.
@main struct Fieldscribe {
    typealias Group = (title: String, commands: [any Command.Type])

    /// The commands that the help lists.
    static var groups: [Group] {
        [
            (
                "Record",
                [
                    RecordCommand.self, StartCommand.self, StopCommand.self, ToggleCommand.self, PauseCommand.self,
                    ResumeCommand.self, MarkCommand.self, StatusCommand.self, WatchCommand.self, TranscribeCommand.self,
                ]
            ),
            (
                "Read",
                [
                    ListCommand.self, ShowCommand.self, SearchCommand.self, ReviewCommand.self, SpeakersCommand.self,
                    AccuracyCommand.self, HistoryCommand.self,
                ]
            ),
            ("Share", [ExportCommand.self, ImportCommand.self]),
            (
                "Protect",
                [
                    RedactCommand.self, DeleteCommand.self, VerifyCommand.self, RecoverCommand.self, SealCommand.self,
                    OpenCommand.self, LockCommand.self, RecipientsCommand.self, StickCommand.self,
                ]
            ),
            (
                "Set up",
                [
                    DemoCommand.self, DoctorCommand.self, CalibrateCommand.self, ModelsCommand.self,
                    VocabularyCommand.self, RunCommand.self,
                ]
            ),
        ]
    }

    /// The commands that only services and other commands start.
    private static var internalCommands: [any Command.Type] {
        [
            LampCommand.self, DriveCommand.self, CardCommand.self, DecodeWorkerCommand.self, AlignWordsCommand.self,
            TellSpeakersCommand.self,
        ]
    }

    private static var listedCommands: [any Command.Type] { groups.flatMap(\.commands) }

    static func main() {
        Inheritance.repair()
        // A closed pipe and a file-size limit are errors to handle, not reasons to end.
        signal(SIGPIPE, SIG_IGN)
        signal(SIGXFSZ, SIG_IGN)
        let words = Array(CommandLine.arguments.dropFirst())
        if words.first == ConfinedProcess.command { exit(ReadIncoming.run(words.dropFirst())) }
        if words.first == RunCommand.name { Heap.useOneArena() }
        checkThreads(for: words.first)
        ChildProcess.prepare()
        // Workers would repeat it.
        if let problem = Log.filter.problem, CommandLine.arguments.dropFirst().first != DecodeWorkerCommand.name {
            Terminal.say("fieldscribe: \(problem)")
        }
        Task.detached { exit(await status()) }
        // An asynchronous main would end this thread but keep its kernel task, which setresuid would not reach: it would
        // stay root when the process becomes an archive's owner.
        while true { pause() }
    }

    /// Ends the program if the system allows fewer threads than the command needs.
    private static func checkThreads(for command: String?) {
        if command == DecodeWorkerCommand.name { return }
        do throws(DeviceError) {
            try Inheritance.checkThreads([RunCommand.name, TranscribeCommand.name].contains(command) ? 11 : 5)
        } catch {
            Terminal.say("fieldscribe: \(error.message)")
            exit(error.exitStatus)
        }
    }

    private static func status() async -> Int32 {
        do {
            try await run(commandLineWords())
            return 0
        } catch let ending as Ending {
            return ending.status
        } catch let error as UsageError {
            Terminal.say("fieldscribe: \(error.message)")
            return 2
        } catch let error as ConfigurationError {
            Terminal.say("fieldscribe: \(error)")
            return 2
        } catch let error as DeviceError {
            // The reader of our output has closed it.
            if error.cause == .closedOutput { return 0 }
            Terminal.say("fieldscribe: \(error.message)")
            return error.exitStatus
        } catch is CancellationError {
            return 130
        } catch {
            Terminal.say("fieldscribe: \(error)")
            return 1
        }
    }

    private static func run(_ words: [String]) async throws {
        guard let name = words.first else { return try Terminal.print(help) }
        if name == "--version" { return try Terminal.print("\(ProgramVersion.text(of: "fieldscribe"))\n") }
        if ["--help", "-h", "help"].contains(name) {
            guard let asked = words.dropFirst().first else { return try Terminal.print(help) }
            return try Terminal.print(command(named: asked).help)
        }
        let command = try command(named: name)
        if words.dropFirst().prefix(while: { $0 != "--" }).contains(where: { $0 == "--help" || $0 == "-h" }) {
            return try Terminal.print(command.help)
        }
        try await command.run(Arguments(Array(words.dropFirst()), of: command))
    }

    private static func command(named name: String) throws -> any Command.Type {
        let commands = listedCommands + internalCommands
        if let command = commands.first(where: { $0.name == name || $0.aliases.contains(name) }) { return command }
        let known = listedCommands.flatMap { [$0.name] + $0.aliases } + ["--help", "--version"]
        let nearest = nearestName(to: [name.lowercased()], among: known)
        throw UsageError(
            "\(name): no such command; \(nearest.map { "did you mean \($0)?" } ?? "see fieldscribe --help")")
    }

    private static var help: String {
        let width = listedCommands.map { $0.name.count }.max() ?? 0
        let sections = groups.map { group in
            let lines = group.commands.map {
                "  \($0.name)\(String(repeating: " ", count: width - $0.name.count))  \($0.summary)\n"
            }
            return "\(group.title)\n\(lines.joined())\n"
        }
        return """
            fieldscribe records speech and transcribes it, on this machine alone.

            usage: fieldscribe COMMAND [ARGUMENT...] [--config FILE]

            \(sections.joined())fieldscribe COMMAND --help explains a command; fieldscribe doctor checks this machine.

            """
    }
}
