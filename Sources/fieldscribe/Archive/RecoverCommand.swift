import Archive
import Core
import Glibc
import Maintenance
import Recognition
import Settings
import System

enum RecoverCommand: Command {
    static let name = "recover"
    static let summary = "Repair and transcribe what a power cut interrupted."
    private static let again = Option.flag(
        "--again",
        "afterwards, transcribe recordings again if another engine or a faster profile transcribed them; the old transcripts are kept, and fieldscribe show prints the new ones"
    )
    private static let repairsOnly = Option.flag(
        "--no-transcribe",
        "repair only; the appliance or the next fieldscribe recover transcribes and identifies speakers")
    static let help: [any HelpPart] = [
        """
        Writes the true length into the headers of interrupted recordings, adds recordings that are missing from the
        archive, and marks those whose sound is missing. A damaged database is renamed archive.sqlite.damaged-N and
        rebuilt from the journals beside the sound. Sound that another program appended to a closed recording is also
        renamed, as are journals in the wrong folder. Nothing is deleted. You may interrupt the command and run it again
        at any time.
        """,
        again, repairsOnly, Option.json("print one JSON document"), Option.directory, Option.engine,
        """
        Exit status: 0 all is well, or everything was repaired; 1 the appliance or another command is using the archive;
        4 there is damage that could not be repaired.
        """,
    ]

    private struct Report: Encodable {
        var findings: [StorageFinding]
        var dated: [Int]
        var transcribed: [Int]
        /// Recordings whose speakers were identified; nil with `--no-transcribe`, or if `recognizer.speakers` is no.
        var speakers: [Int]?
        var reread: [Int]?
    }

    static func run(_ arguments: Arguments) async throws {
        if arguments[again], arguments[repairsOnly] {
            throw arguments.usage("--again and --no-transcribe cannot be combined")
        }
        let configuration = try arguments.archiveConfiguration()
        let directory = configuration.storage.directory
        try ArchiveOwner(of: directory).switchToOwner()
        guard pathExists(configuration.archivePath) || pathExists("\(directory)/recordings") else {
            throw DeviceError(
                .missing, "access", status: ENOENT,
                "\(directory): no archive and no recordings; pass their folder with --directory or "
                    + "storage.directory")
        }
        Interrupts.exitOnRequest(
            printing: "fieldscribe: interrupted; completed work is kept; run the command again for the rest")
        let opened = try await Recovery.open(configuration, depth: .everything)
        let (archive, findings) = (opened.archive, opened.findings)
        let dated = try await ClockCorrection.apply(to: archive)
        let isJSON = arguments[.json]
        if !isJSON {
            for finding in findings { try Terminal.print(finding.line + "\n") }
            for id in dated { try Terminal.print("recording \(id): date corrected, now that the clock is set\n") }
        }
        let transcribed =
            arguments[repairsOnly]
            ? [] : try await transcribe(configuration, archive: archive, isQuiet: isJSON)
        var speakers: [Int]?
        if !arguments[repairsOnly], configuration.recognizer.speakers != .no {
            let diarization = PostDiarization(configuration: configuration, archive: archive)
            speakers = try await diarization.run(isQuiet: isJSON)
        }
        let reread =
            arguments[again]
            ? try await transcribeAgain(configuration, archive: archive, isQuiet: isJSON) : nil
        if isJSON {
            try Terminal.print(
                jsonText(
                    Report(
                        findings: findings, dated: dated, transcribed: transcribed,
                        speakers: speakers, reread: reread)))
        } else if reread == nil, findings.isEmpty, dated.isEmpty, transcribed.isEmpty, speakers ?? [] == [] {
            // With `--again`, `transcribeAgain` has printed what it did.
            Terminal.say("all is well in \(directory)")
        }
        if findings.contains(where: { $0.outcome == .damaged }) { throw ExitError(status: 4) }
    }

    static func transcribe(
        _ configuration: Configuration, archive: SQLiteArchive, isQuiet: Bool
    ) async throws -> [Int] {
        let hub = EventHub()
        let backlog = Backlog(configuration: configuration, archive: archive, hub: hub)
        guard try await !backlog.waiting().isEmpty else { return [] }
        return try await printingEvents(of: hub, isQuiet: isQuiet) {
            try await backlog.run(pool: try RecordCommand.workers(configuration))
        }
    }

    /// Transcribes recordings again if the best installed engine is better than theirs. Returns their IDs.
    private static func transcribeAgain(
        _ configuration: Configuration, archive: SQLiteArchive, isQuiet: Bool
    ) async throws -> [Int] {
        let hub = EventHub()
        let secondPass = SecondPassJob(configuration: configuration, archive: archive, hub: hub)
        let count = try await secondPass.waiting().count
        let engine = configuration.engine.name
        guard count > 0 else {
            if !isQuiet { Terminal.say("nothing to transcribe again: \(engine) would be no better") }
            return []
        }
        let recordings = { counted($0, "recording", "recordings") }
        if !isQuiet { Terminal.say("transcribing \(recordings(count)) again with \(engine)") }
        let done = try await printingEvents(of: hub, isQuiet: isQuiet) {
            try await secondPass.run(
                pool: try configuration.workers(profile: SecondPass.profile, niceness: SecondPass.niceness))
        }
        if !isQuiet {
            for id in done { try Terminal.print("recording \(id): transcribed again by \(engine)\n") }
            if done.count < count { Terminal.say("\(recordings(count - done.count)) could not be transcribed again") }
        }
        return done
    }

    /// Prints the hub's events while `body` runs.
    private static func printingEvents(
        of hub: EventHub, isQuiet: Bool, _ body: () async throws -> [Int]
    ) async throws -> [Int] {
        let events = hub.events(withPartials: false)
        async let printing: Void = printEvents(events, isQuiet: isQuiet)
        let result = await Result.of(body)
        hub.finish()
        await printing
        return try result.get()
    }

    private static func printEvents(_ events: AsyncStream<Event>, isQuiet: Bool) async {
        for await event in events {
            switch event {
            case .final(let recording, let segment) where !isQuiet:
                if segment.words.isEmpty { continue }
                let clock = RecordingScreen.clock(segment.range.start)
                try? Terminal.print("\(recording)  \(clock)  \(segment.text)\n")
            case .fault(_, let message): Terminal.say("fieldscribe: \(message)")
            default: break
            }
        }
    }
}

extension StorageFinding {
    var line: String { "\(outcome.rawValue): \(file): \(message)" }
}
