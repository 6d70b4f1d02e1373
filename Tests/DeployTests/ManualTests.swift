import Testing

@testable import Settings
@testable import Transcripts

@Suite("Manual pages and completion") struct ManualTests {
    private static let pages = ["fieldscribe.1", "fieldscribe.conf.5", "fieldscribe.8", "fieldscribe-office.1"]

    @Test("mandoc and man print no warnings for a page", arguments: pages)
    func lint(page: String) throws {
        let path = Repository.file("deploy/man/\(page)")
        let mandoc = try Tool("mandoc", "-Tlint", "-Wwarning", path)
        #expect(mandoc.output + mandoc.errors == "")
        #expect(mandoc.status == 0)
        let man = try Tool(["man", "--warnings", "--local-file", "-Tutf8", path], environment: ["LC_ALL": "C.UTF-8"])
        #expect(man.errors == "")
        #expect(man.output.contains("fieldscribe"))
    }

    @Test(
        "the manual has every command and every option of the program",
        arguments: ["fieldscribe", "fieldscribe-office"])
    func commands(program: String) throws {
        let help = try ProgramHelp(of: program)
        #expect(help.commands.count >= 5)
        let page = try text(of: Repository.file("deploy/man/\(program).1"))
        // Each line gets a space at its end, so that --to does not match --top.
        let lines = page.split(separator: "\n").map { "\($0) " }
        let entries = lines.filter { $0.hasPrefix(".It Cm ") }
        for command in help.commands {
            let commandEntries = entries.filter { $0.hasPrefix(".It Cm \(command) ") }
            #expect(!commandEntries.isEmpty, "\(program).1 lacks \(command)")
            for option in try help.options(of: command) {
                let macro = "Fl \\\(option.dropFirst()) "
                #expect(lines.contains { $0.hasPrefix(".It \(macro)") }, "\(program).1 does not explain \(option)")
                #expect(
                    option == "--config" || commandEntries.contains { $0.contains(macro) },
                    "\(program).1 lacks \(option) for \(command)")
            }
        }
    }

    @Test("the pages of the programs match the output of Tests/manual-pages")
    func generated() throws {
        let programs = try ["fieldscribe", "fieldscribe-office"].map { try Repository.executable($0) }
        let tool = try Tool([Repository.file("Tests/manual-pages"), "--check"] + programs)
        #expect(tool.status == 0, "\(tool.errors)")
    }

    @Test(
        "without arguments, the program prints groups of commands, each with a summary of at most nine words",
        arguments: [
            ("fieldscribe", ["Record", "Read", "Share", "Protect", "Set up"]),
            ("fieldscribe-office", ["Collect", "Read", "Share", "Transcribe"]),
        ])
    func help(name: String, groups: [String]) throws {
        let program = try Repository.executable(name)
        let help = try Tool(program)
        #expect(help.status == 0 && help.errors == "")
        #expect(try help.output == Tool(program, "--help").output)
        let lines = help.output.split(separator: "\n")
        for group in groups { #expect(lines.contains { $0 == group }) }
        for line in lines where line.hasPrefix("  ") {
            #expect(line.split(separator: " ").count <= 10 && line.hasSuffix("."), "\(line)")
        }
    }

    @Test(
        "for an unknown command or option, the error suggests the most similar one",
        arguments: [
            (["fieldscribe", "strat"], "did you mean start?"), (["fieldscribe", "--hepl"], "did you mean --help?"),
            (["fieldscribe", "list", "--jsn"], "did you mean --json?"),
            (["fieldscribe", "frobnicate"], "see fieldscribe --help"),
            (["fieldscribe", "list", "--frobnicate"], "see fieldscribe list --help"),
            (["fieldscribe-office", "gahter"], "did you mean gather?"),
            (["fieldscribe-office", "list", "--sinse=x"], "did you mean --since?"),
            (["fieldscribe-office", "frobnicate"], "see fieldscribe-office --help"),
        ])
    func suggestion(command: [String], expected: String) throws {
        let tool = try Tool([try Repository.executable(command[0])] + command.dropFirst())
        #expect(tool.status == 2 && tool.errors.hasSuffix("; \(expected)\n"), "\(tool.errors)")
    }

    @Test(
        "an unexpected argument, or a missing or invalid value, gives a one-line error",
        arguments: [
            (["list", "1"], "list: unexpected argument 1; see fieldscribe list --help"),
            (["list", "--json=yes"], "list: --json takes no value; see fieldscribe list --help"),
            (["search", "--limit"], "search: --limit needs a value; see fieldscribe search --help"),
            (["search", "--limit", "0", "x"], "search: --limit 0: give a whole number from 1 to 100000"),
            (["redact", "--last", "-5"], "redact: --last -5: give a number of seconds, such as 60"),
            (
                ["show", "--punctuation=x"],
                "show: --punctuation x: choose one of engine, none, automatic, spoken, both"
            ),
        ])
    func invalidArguments(_ arguments: [String], expected: String) throws {
        let tool = try Tool([try Repository.executable()] + arguments)
        #expect(tool.status == 2 && tool.errors == "fieldscribe: \(expected)\n", "\(tool.errors)")
    }

    @Test("former names of commands still work", arguments: [("strike", "redact"), ("relisten", "review")])
    func aliases(former: String, name: String) throws {
        let help = try ProgramHelp()
        #expect(help.commands.contains(name) && !help.commands.contains(former))
        #expect(try Tool(help.program, former, "--help").output == Tool(help.program, name, "--help").output)
    }

    @Test("the manual of the configuration has exactly the existing keys, with their defaults and ranges")
    func keys() throws {
        let page = try text(of: Repository.file("deploy/man/fieldscribe.conf.5"))
        var section = ""
        var keys: [String] = []
        var explanations: [String: String] = [:]
        for line in page.split(separator: "\n") {
            if line.hasPrefix(".Ss [") {
                section = String(line.dropFirst(".Ss [".count).dropLast())
            } else if line.hasPrefix(".It Sy ") {
                keys.append("\(section).\(line.dropFirst(".It Sy ".count))")
            } else if let last = keys.last {
                explanations[last, default: ""] += "\(line)\n"
            }
        }
        let expected = ConfigurationKey.all.map { key in
            let value = key.value(in: Configuration())
            return value.isEmpty ? key.path : "\(key.path) No = \(value)"
        }
        #expect(keys == expected)
        for (key, entry) in zip(ConfigurationKey.all, expected) where key.allowed.first?.isNumber ?? false {
            let range = key.allowed.split(separator: " or ")[0]
            #expect(explanations[entry]?.contains(range) ?? false, "\(key.path) lacks its range \(key.allowed)")
        }
    }

    @Test("fieldscribe.8 and deploy/README.md explain every setting of the card in fieldscribe.txt")
    func cardSettings() throws {
        let sample = try text(of: Repository.file("deploy/card/fieldscribe.txt"))
        let names = sample.split(separator: "\n").filter { $0.hasPrefix("#") && !$0.hasPrefix("# ") }.compactMap {
            $0.dropFirst().split(separator: " ").first.map(String.init)
        }
        #expect(Set(names).isSuperset(of: CardSettings.names) && names.contains("capture.preroll-seconds"))
        let page = try text(of: Repository.file("deploy/man/fieldscribe.8"))
        let cardSection = try part(of: page, from: ".Ss The card", to: ".Ss ")
        let instructions = try text(of: Repository.file("deploy/README.md"))
        for name in names where !name.contains(".") {
            #expect(cardSection.contains(" \(name)"), "fieldscribe.8 lacks \(name)")
            #expect(instructions.contains("`\(name) = "), "deploy/README.md lacks \(name)")
        }
    }

    @Test("manual, completion and sample configuration name every engine")
    func engines() throws {
        let names = [EngineRegistry.automaticName] + EngineRegistry.all.map(\.form)
        #expect(Set(names).count == names.count && names.count > 3)
        let expected = Set(names.map { $0.replacing("PROGRAM", with: "") })
        #expect(try complete("fieldscribe transcribe --engine ", ProgramHelp()) == expected)
        let configuration = try text(of: Repository.file("deploy/man/fieldscribe.conf.5"))
        let commands = try text(of: Repository.file("deploy/man/fieldscribe.1"))
        let sample = try text(of: Repository.file("deploy/fieldscribe.conf"))
        let help = try Tool(ProgramHelp().program, "models", "--help").output
        #expect(EngineRegistry.all.allSatisfy { help.contains($0.form) && help.contains($0.licence) })
        let key = try part(of: configuration, from: ".It Sy engine", to: ".It Sy")
        let section = try part(of: configuration, from: ".Sh ENGINES", to: ".Sh ")
        let option = try part(of: commands, from: ".It Fl \\-engine", to: ".It Fl")
        let comment = try part(of: sample, from: "[recognizer]", to: "#engine")
        for name in names {
            #expect(key.contains(name) && comment.contains(name), "\(name)")
            #expect(option.contains(name) && section.contains(name.replacing(":", with: " : Ns Ar ")), "\(name)")
        }
    }

    @Test("manual, completion, sample configuration and DAILY.md name every format")
    func formats() throws {
        let names = TranscriptFormat.allCases.map(\.rawValue)
        #expect(Set(names).count == names.count && names.count >= 10)
        #expect(try complete("fieldscribe transcribe --format ", ProgramHelp()) == Set(names))
        let commands = try text(of: Repository.file("deploy/man/fieldscribe.1"))
        let option = try part(of: commands, from: ".It Fl \\-format", to: ".It Fl")
        let configuration = try text(of: Repository.file("deploy/man/fieldscribe.conf.5"))
        let key = try part(of: configuration, from: ".It Sy formats", to: ".It Sy")
        let sample = try text(of: Repository.file("deploy/fieldscribe.conf"))
        let comment = try part(of: sample, from: "[export]", to: "#formats")
        let table = try part(
            of: try text(of: Repository.file("deploy/DAILY.md")), from: "| format | for |", to: "\n\n")
        for page in [option, key, comment, table] {
            let words = Set(page.split { !$0.isLetter }.map(String.init))
            for name in names { #expect(words.contains(name), "\(name) in: \(page)") }
        }
    }

    /// The part of a page between `first` and the next occurrence of `next`.
    private func part(of page: String, from first: String, to next: String) throws -> Substring {
        let start = try #require(page.firstRange(of: first))
        let rest = page[start.upperBound...]
        return rest[..<(rest.firstRange(of: next)?.lowerBound ?? rest.endIndex)]
    }

    @Test("bash completes every command and its options", arguments: ["fieldscribe", "fieldscribe-office"])
    func completion(program: String) throws {
        let help = try ProgramHelp(of: program)
        #expect(try complete("\(program) ", help).isSuperset(of: help.commands))
        for command in help.commands {
            #expect(try complete("\(program) \(command) --", help).isSuperset(of: help.options(of: command)))
        }
    }

    @Test(
        "bash completes values",
        arguments: [
            ("fieldscribe transcribe --format te", ["text", "textgrid"]),
            ("fieldscribe transcribe --pass f", ["fast", "final"]), ("fieldscribe transcribe --pass fi", ["final"]),
            ("fieldscribe demo --engine w", ["whisper"]), ("fieldscribe models a", ["add"]),
            ("fieldscribe lamp f", []), ("fieldscribe --config /dev/null tran", ["transcribe"]),
            ("fieldscribe record --seconds ", []), ("fieldscribe stick l", ["list"]),
            ("fieldscribe stick list l", []), ("fieldscribe vocabulary use /etc/os-rel", ["/etc/os-release"]),
            ("fieldscribe-office show --format tex", ["text", "textgrid"]),
            ("fieldscribe-office ga", ["gather"]),
        ])
    func values(line: String, expected: [String]) throws {
        let program = line.hasPrefix("fieldscribe-office") ? "fieldscribe-office" : "fieldscribe"
        #expect(try complete(line, ProgramHelp(of: program)) == Set(expected))
    }

    /// The completions that bash offers for the last word of a line, from the program under test.
    private func complete(_ line: String, _ help: ProgramHelp) throws -> Set<String> {
        let name = line.split(separator: " ").first.map(String.init) ?? ""
        let script = """
            source '\(Repository.file("deploy/completion/\(name).bash"))'
            IFS=' ' read -ra COMP_WORDS <<<'\(line)'
            [[ '\(line)' == *' ' ]] && COMP_WORDS+=('')
            COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
            COMP_WORDS[0]='\(help.program)'
            _fieldscribe
            printf '%s\\n' "${COMPREPLY[@]}"
            """
        let bash = try Tool("bash", "--norc", "-c", script)
        #expect(bash.errors == "")
        return Set(bash.output.split(separator: "\n").map(String.init))
    }
}
