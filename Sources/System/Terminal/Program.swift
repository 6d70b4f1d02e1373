import Core
import Glibc

/// A program with several commands.
package struct Program {
    package let name: String
    private let summary: String
    private let groups: [(title: String, commands: [any Command.Type])]
    private let hiddenCommands: [any Command.Type]
    let commonOptions: [any HelpRow]
    private let hint: String

    /// - Parameters:
    ///   - summary: The first sentence of the help.
    ///   - groups: The commands that the help lists.
    ///   - hidden: Commands that only services and other commands start.
    ///   - common: The options that every command has.
    ///   - hint: Text to append to the help's last line.
    package init(
        _ name: String, _ summary: String, groups: [(title: String, commands: [any Command.Type])],
        hidden: [any Command.Type] = [], common: [any HelpRow] = [], hint: String = ""
    ) {
        (self.name, self.summary, self.groups) = (name, summary, groups)
        (hiddenCommands, commonOptions, self.hint) = (hidden, common, hint)
    }

    private var listedCommands: [any Command.Type] { groups.flatMap(\.commands) }

    private func find(_ name: String?) -> (any Command.Type)? {
        (listedCommands + hiddenCommands).first { $0.name == name || name.map($0.aliases.contains) ?? false }
    }

    /// Runs the command given on the command line. If it fails, prints the error in one line. Exits with the command's
    /// status.
    ///
    /// - Parameter readIncoming: Reads an untrusted file; called while the process has only one thread.
    package static func main(
        _ program: @escaping @Sendable () -> Program, readIncoming: (Arguments) throws -> Void
    ) -> Never {
        InheritedState.repair()
        // A closed pipe or an exceeded file size limit is reported as an error instead of killing the process.
        signal(SIGPIPE, SIG_IGN)
        signal(SIGXFSZ, SIG_IGN)
        let arguments = Array(CommandLine.arguments.dropFirst())
        let current = program()
        if arguments.first == SandboxedProcess.command {
            exit(current.readInSandbox(Array(arguments.dropFirst()), readIncoming))
        }
        current.checkSystem(for: current.find(arguments.first))
        // The spawn thread must inherit the main thread's niceness, not a background thread's.
        try? SpawnThread.prepare()
        Task.detached { exit(await program().status()) }
        // An asynchronous main would exit this thread but keep its kernel task as root, since setresuid does not affect
        // that task.
        while true { pause() }
    }

    private func checkSystem(for command: (any Command.Type)?) {
        if let command, command.threads == nil { return }
        do throws(DeviceError) { try InheritedState.checkThreads(command?.threads ?? 5) } catch {
            Terminal.say("\(name): \(error.message)")
            exit(error.exitStatus)
        }
        if let problem = Log.filter.problem { Terminal.say("\(name): \(problem)") }
    }

    private func readInSandbox(_ commandLine: [String], _ body: (Arguments) throws -> Void) -> Int32 {
        do {
            let rows: [any HelpRow] = [Argument("KIND", "the kind of file"), Option.incomingName]
            let arguments = try Arguments(
                commandLine, of: SandboxedProcess.command, in: name, rows: rows + commonOptions)
            try arguments.expect(1, "the kind of file")
            try body(arguments)
            return 0
        } catch {
            Terminal.say("\(name): \(error)")
            return 1
        }
    }

    private func status() async -> Int32 {
        do {
            try await run(commandLineArguments())
            return 0
        } catch let exit as ExitError {
            return exit.status
        } catch let error as any UsageProblem {
            Terminal.say("\(name): \(error.message)")
            return 2
        } catch let error as DeviceError {
            // The program that reads the output has closed it.
            if error.cause == .closedOutput { return 0 }
            Terminal.say("\(name): \(error.message)")
            return error.exitStatus
        } catch is CancellationError {
            return 130
        } catch {
            Terminal.say("\(name): \(error)")
            return 1
        }
    }

    private func run(_ arguments: [String]) async throws {
        let rest = Array(arguments.dropFirst())
        switch arguments.first {
        case nil: return try Terminal.print(help)
        case "--help", "-h", "help":
            return try Terminal.print(rest.first.map { try command($0).helpText(in: self, width: width) } ?? help)
        case "--version": return try Terminal.print("\(ProgramVersion.text(of: name))\n")
        // For shell completion and the manual pages.
        case "complete": return try Terminal.print(completions(of: rest).map { "\($0)\n" }.joined())
        case "manual": return try Terminal.print(jsonText(description, isIndented: true))
        case let name?:
            let command = try command(name)
            if rest.prefix(while: { $0 != "--" }).contains(where: { $0 == "--help" || $0 == "-h" }) {
                return try Terminal.print(command.helpText(in: self, width: width))
            }
            let rows = command.rows + commonOptions
            try await command.run(Arguments(rest, of: command.name, in: self.name, rows: rows))
        }
    }

    private func command(_ name: String) throws(UsageError) -> any Command.Type {
        if let command = find(name) { return command }
        let names = listedCommands.flatMap { [$0.name] + $0.aliases } + ["--help", "--version"]
        let nearest = nearestName(to: [name.lowercased()], among: names)
        throw UsageError(
            "\(name): no such command; \(nearest.map { "did you mean \($0)?" } ?? "see \(self.name) --help")")
    }

    private var width: Int { min(Terminal.outputWidth, 100) }

    private var help: String {
        let column = 2 + (listedCommands.map { $0.name.count }.max() ?? 0)
        let sections = groups.map { title, commands in
            "\(title)\n\(commands.map { "  \($0.name.padded(to: column))\($0.summary)\n" }.joined())\n"
        }
        let options = commonOptions.map { " \($0.usage)" }.joined()
        return """
            \(summary)

            usage: \(name) COMMAND [ARGUMENT...]\(options)

            \(sections.joined())\(name) COMMAND --help explains a command\(hint).

            """
    }
}

extension Program {
    /// Returns the completions for the last word, and lines with a colon that the completion script replaces.
    private func completions(of words: [String]) -> [String] {
        let word = words.last ?? ""
        var before = words.dropLast()[...]
        var command: (any Command.Type)?
        var action: String?
        while let next = before.popFirst() {
            let options = ((command?.rows ?? []) + commonOptions).compactMap { $0 as? any AnyOption }
            if let option = options.first(where: { $0.name == next }), option.valueName != nil {
                if before.popFirst() == nil { return option.completion.lines }
            } else if command == nil {
                command = listedCommands.first { $0.name == next || $0.aliases.contains(next) }
                if command == nil { return [] }
            } else if !next.hasPrefix("-") {
                action = action ?? next
            }
        }
        guard let command else { return listedCommands.map { $0.name } + ["--help", "--version"] }
        let rows = command.rows + commonOptions
        if word.hasPrefix("-") { return rows.compactMap { ($0 as? any AnyOption)?.name } + ["--help"] }
        return rows.compactMap { $0 as? Argument }.flatMap { argument in
            if argument.isAction, action == nil { return [argument.action] }
            return !argument.isAction || argument.action == action ? argument.completion.lines : []
        }
    }

    /// The content of the manual pages.
    private struct Description: Encodable {
        struct Group: Encodable {
            var title: String
            var commands: [Entry]
        }

        struct Entry: Encodable {
            var name: String
            var summary: String
            var forms: [[String]]
            var parts: [Part]
        }

        /// A paragraph, or a row in the list of arguments and options.
        struct Part: Encodable {
            var title: String?
            var text: String
            var isForm: Bool

            init?(_ part: any HelpPart) {
                title = (part as? any HelpRow)?.title
                isForm = part is Form
                let text = (part as? any HelpRow)?.explanation ?? (part as? Form)?.text ?? part as? String
                guard let text else { return nil }
                self.text = text
            }
        }

        var groups: [Group]
        var common: [Part]
    }

    private var description: Description {
        let groups = groups.map { title, commands in
            Description.Group(
                title: title,
                commands: commands.map { command in
                    Description.Entry(
                        name: command.name, summary: command.summary, forms: command.forms,
                        parts: command.help.compactMap(Description.Part.init))
                })
        }
        return Description(groups: groups, common: commonOptions.compactMap(Description.Part.init))
    }
}
