import Core
import Office
import System
import Transcripts

enum WorkCommand: Command {
    static let name = "work"
    static let summary = "Transcribe recordings again with this machine's best engine."
    private static let once = Option.flag("--once", "transcribe one recording, then exit")
    private static let untilEmpty = Option.flag("--until-empty", "exit when no recordings are left to transcribe")
    private static let engine = Option(
        "--engine", "E", "an engine of fieldscribe transcribe; default the best that is installed here")
    private static let retry = Option.flag("--retry", "retry recordings that failed three times")
    private static let lease = Option.number(
        "--lease",
        "give a recording to another machine if the one that claimed it does not respond for this long, 2 to 86,400",
        in: 2...86_400,
        default: 60, as: "SECONDS")
    static let program = Option(
        "--program", "FILE",
        "the fieldscribe program to run; default the one beside this program, or the one in PATH", .files)
    static let help: [any HelpPart] = [
        """
        Runs fieldscribe transcribe on each recording that this engine has not transcribed, and adds the result as another
        transcript. PocketSphinx, the least accurate engine, skips recordings that any other engine has transcribed.
        Corrections are kept and still shown. Several machines can work on one archive in PostgreSQL: each recording goes
        to one of them, and to another if that one is switched off. Without --once or --until-empty, waits for new
        recordings until you stop it.
        """,
        once, untilEmpty, engine, retry, lease, program, Option.archive, Option.files,
        "Exit status: 0 finished; 1 could not continue; 4 some recordings failed three times, and are listed.",
    ]

    static func run(_ arguments: Arguments) throws {
        guard !arguments[once] || !arguments[untilEmpty] else {
            throw arguments.usage("choose --once or --until-empty")
        }
        guard let address = ArchiveChoice.name(arguments), ArchiveOpener.isAddress(address) else {
            throw arguments.usage("an archive in PostgreSQL is needed: --archive postgresql://...")
        }
        var work = try OfficeWork(
            address, files: arguments[.files], timeout: ArchiveChoice.timeout(), program: arguments[program],
            engine: arguments[engine], lease: arguments[lease],
            report: { Terminal.say($0) }, reportResult: { try? Terminal.print("\($0)\n") })
        Interrupts.handle()
        if arguments[retry] { try work.resetFailures() }
        try work.run(until: arguments[once] ? .once : arguments[untilEmpty] ? .untilEmpty : .never)
        let failed = try work.failedRecordings()
        for (recording, problem) in failed {
            Terminal.say("fieldscribe-office: recording \(recording) failed three times: \(oneLine(problem))")
        }
        if !failed.isEmpty { throw ExitError(status: 4) }
    }
}
