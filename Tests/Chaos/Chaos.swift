import Core
import Glibc

/// Breaks recordings on purpose, and counts the losses. Example: `chaos kill syscalls --stride 7`.
@main struct Chaos {
    private static let usage = """
        usage: chaos EXPERIMENT... [OPTION [VALUE]]...

          kill       kill -9 and power cuts at random moments     --kills 30 --parallel 10 --seed N
          syscalls   each system call fails in turn               --stride 1 --parallel 16
          disk       a small file system fills up                 --steps 20
          corrupt    damaged audio, database and settings         --seeds 40 --seed N
          import     each system call of an import fails in turn  --stride 1 --parallel 8
          soak       hours of audio, unpaced                      --hours 2
          seal       power cuts while a recording is sealed       --cuts 300 --parallel 2 --seed N
          reseal     power cuts while a sealed recording is opened, transcribed and sealed again
                                                                  --cuts 300 --parallel 2 --seed N
          redact     power cuts while a passage is redacted       --cuts 300 --parallel 2 --seed N
          owners     root and a user run commands in random order --orders 20 --seed N

        --executable FILE  the fieldscribe to test; default: the one beside this program
        --json             also print the table as JSON
        --keep             keep the temporary files

        Exits with status 1 if a target is missed or a control is not detected.
        """

    static func main() async {
        signal(SIGPIPE, SIG_IGN)
        let arguments = Array(CommandLine.arguments.dropFirst())
        if arguments.first == "worker" { return StandInWorker.run() }
        let names = arguments.prefix { !$0.hasPrefix("--") }
        let experiments = [
            "kill", "syscalls", "disk", "corrupt", "soak", "owners", "import", "seal", "reseal", "redact",
        ]
        guard !names.isEmpty, names.allSatisfy(experiments.contains) else {
            print(usage)
            exit(2)
        }
        do {
            let bench = try Bench(Options(Array(arguments.dropFirst(names.count))))
            var rows: [Report.Row] = []
            for name in names { rows += try await run(name, on: bench) }
            bench.close()
            print("\n\(Report.table(rows))")
            if bench.options.has("json") { print(Report.json(rows)) }
            exit(rows.allSatisfy(\.isMet) ? 0 : 1)
        } catch {
            print("chaos: \(error)")
            exit(1)
        }
    }

    private static func run(_ name: String, on bench: Bench) async throws -> [Report.Row] {
        switch name {
        case "kill": try await KillExperiment(bench: bench).run()
        case "syscalls": try await SyscallExperiment(bench: bench).run()
        case "disk": try await DiskExperiment(bench: bench).run()
        case "soak": try await SoakExperiment(bench: bench).run()
        case "owners": try await OwnersExperiment(bench: bench).run()
        case "import": try await ImportExperiment(bench: bench).run()
        case "seal": try await SealExperiment(bench: bench).run()
        case "reseal": try await ResealExperiment(bench: bench).run()
        case "redact": try await RedactExperiment(bench: bench).run()
        case "corrupt": try await CorruptExperiment(bench: bench).run()
        default: []
        }
    }
}
