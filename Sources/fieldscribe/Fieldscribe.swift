import Core
import Glibc
import Settings
import System

/// The one executable: finds the subcommand and turns what it throws into a line on stderr and an exit status.
@main struct Fieldscribe {
    static var commands: [any Command.Type] {
        [
            RunCommand.self, StartCommand.self, StopCommand.self, ToggleCommand.self, MarkCommand.self,
            PauseCommand.self, ResumeCommand.self, StatusCommand.self, WatchCommand.self,
            TranscribeCommand.self, RecordCommand.self, ListCommand.self, ShowCommand.self, SearchCommand.self,
            ReviewCommand.self, HistoryCommand.self, AccuracyCommand.self,
            ImportCommand.self, ExportCommand.self, DeleteCommand.self, StrikeCommand.self, SealCommand.self,
            SpeakersCommand.self, OpenCommand.self, LockCommand.self, VerifyCommand.self, RecoverCommand.self,
            DemoCommand.self,
            DoctorCommand.self, CalibrateCommand.self, ModelsCommand.self, VocabularyCommand.self,
            RecipientsCommand.self, StickCommand.self,
            LampCommand.self, DriveCommand.self, CardCommand.self, DecodeWorkerCommand.self, AlignWordsCommand.self,
            TellSpeakersCommand.self,
        ]
    }

    static func main() {
        Inheritance.repair()
        // A reader that went away, or a file-size limit, is an error to handle and not a reason to die.
        signal(SIGPIPE, SIG_IGN)
        signal(SIGXFSZ, SIG_IGN)
        let words = Array(CommandLine.arguments.dropFirst())
        if words.first == ConfinedProcess.command { exit(ReadIncoming.run(words.dropFirst())) }
        if words.first == RunCommand.name { Heap.useOneArena() }
        checkThreads(for: words.first)
        ChildProcess.prepare()
        // Once, and not by each worker.
        if let problem = Log.filter.problem, CommandLine.arguments.dropFirst().first != DecodeWorkerCommand.name {
            Terminal.say("fieldscribe: \(problem)")
        }
        Task.detached { exit(await status()) }
        // An asynchronous main would end this thread and keep what is left of it: that no longer follows when the process
        // becomes an archive's owner (setresuid), and would stay root.
        while true { pause() }
    }

    /// Ends the program with a line if the system gives it fewer threads than the command needs.
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
            // Whoever read our output has seen enough.
            if error.status == EPIPE, error.operation == "write" { return 0 }
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
        guard let name = words.first else { throw UsageError("name a command; see fieldscribe --help") }
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
        guard let command = commands.first(where: { $0.name == name || $0.formerNames.contains(name) }) else {
            throw UsageError("\(name): no such command; see fieldscribe --help")
        }
        return command
    }

    private static var help: String {
        let shown = commands.filter { !$0.isHidden }
        let width = shown.map { $0.name.count }.max() ?? 0
        let lines = shown.map {
            "  \($0.name)\(String(repeating: " ", count: width - $0.name.count))  \($0.summary)\n"
        }
        return """
            fieldscribe records speech and transcribes it, on this machine alone.

            usage: fieldscribe COMMAND [--config FILE] ...

            \(lines.joined())
            fieldscribe COMMAND --help explains each of them.

            """
    }
}
