import Core
import Glibc
import System
import Transcripts

/// The program for the office: one archive for the recordings of many recorders.
@main struct FieldscribeOffice {
    static var commands: [any OfficeCommand.Type] {
        [
            GatherCommand.self, ListCommand.self, ShowCommand.self, SearchCommand.self, HistoryCommand.self,
            ReviewCommand.self, AccuracyCommand.self, ImportCommand.self, ExportCommand.self, WorkCommand.self,
            ServeCommand.self,
        ]
    }

    static func main() {
        Inheritance.repair()
        // A reader that went away, or a file-size limit, is an error to handle and not a reason to die.
        signal(SIGPIPE, SIG_IGN)
        signal(SIGXFSZ, SIG_IGN)
        let words = Array(CommandLine.arguments.dropFirst())
        if words.first == ConfinedProcess.command { exit(readIncoming(words.dropFirst())) }
        ChildProcess.prepare()
        exit(status())
    }

    /// Runs the confined process that parses untrusted files; returns the exit status.
    private static func readIncoming(_ words: ArraySlice<String>) -> Int32 {
        do {
            let words = try OptionWords(
                Array(words), of: ConfinedProcess.command, in: "fieldscribe-office", options: (["--name"], []))
            guard let kind = words.rest.first.flatMap({ IncomingFile.Kind(rawValue: $0) }) else {
                throw words.usage("name a kind of file")
            }
            try ConfinedProcess.serve { IncomingFile.answer(to: $0, as: kind, name: words["--name"] ?? "") }
            return 0
        } catch {
            Terminal.say("fieldscribe-office: \(error)")
            return 1
        }
    }

    private static func status() -> Int32 {
        do {
            try run(commandLineWords())
            return 0
        } catch let ending as Ending {
            return ending.status
        } catch let error as UsageError {
            Terminal.say("fieldscribe-office: \(error.message)")
            return 2
        } catch let error as DeviceError {
            // The reader of our output, such as head, has closed its end.
            if error.cause == .closedOutput { return 0 }
            Terminal.say("fieldscribe-office: \(error.message)")
            return error.exitStatus
        } catch {
            Terminal.say("fieldscribe-office: \(error)")
            return 1
        }
    }

    private static func run(_ words: [String]) throws {
        guard let name = words.first else {
            try Terminal.print(help)
            throw Ending(status: 2)
        }
        if name == "--version" { return try Terminal.print("\(ProgramVersion.text(of: "fieldscribe-office"))\n") }
        if ["--help", "-h", "help"].contains(name) {
            guard let asked = words.dropFirst().first else { return try Terminal.print(help) }
            return try Terminal.print(command(named: asked).help)
        }
        let command = try command(named: name)
        if words.dropFirst().prefix(while: { $0 != "--" }).contains(where: { $0 == "--help" || $0 == "-h" }) {
            return try Terminal.print(command.help)
        }
        try command.run(
            OptionWords(Array(words.dropFirst()), of: command.name, in: "fieldscribe-office", options: command.options))
    }

    private static func command(named name: String) throws -> any OfficeCommand.Type {
        guard let command = commands.first(where: { $0.name == name }) else {
            throw UsageError("\(name): unknown command; see fieldscribe-office --help")
        }
        return command
    }

    private static var help: String {
        let width = commands.map { $0.name.count }.max() ?? 0
        let lines = commands.map {
            "  \($0.name)\(String(repeating: " ", count: width - $0.name.count))  \($0.summary)\n"
        }
        return """
            fieldscribe-office collects, searches and corrects the recordings of many recorders.

            usage: fieldscribe-office COMMAND ...

            \(lines.joined())
            fieldscribe-office COMMAND --help explains a command.

            """
    }
}
