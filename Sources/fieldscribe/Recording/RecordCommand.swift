import Appliance
import Archive
import Audio
import Core
import Glibc
import Maintenance
import Recognition
import Settings
import System

enum RecordCommand: Command {
    static let name = "record"
    static let summary = "Record from the microphone until you press Ctrl-C."
    private static let seconds = Option.number(
        "--seconds",
        "stop after N seconds; default at Ctrl-C. A second Ctrl-C skips the rest of the transcription; fieldscribe recover completes it",
        in: 1...604_800)
    private static let audioOnly = Option.flag("--audio-only", "record without transcribing")
    static let help: [any HelpPart] = [
        "Records and transcribes without a button or lamp.",
        seconds, Option.microphone, Option.directory, Option.json("print events, one object per line"), audioOnly,
        Option.engine, Option.model, Option.vocabulary, Option.hint,
    ]

    /// The time budget for repairs before the recording starts.
    private static let repairBudget = Duration.seconds(2)

    static func run(_ arguments: Arguments) async throws {
        let configuration = try arguments.archiveConfiguration()
        try ArchiveOwner(of: configuration.storage.directory).switchToOwner()
        let pool = arguments[audioOnly] ? nil : try workers(configuration)
        // The appliance or `recover` does the remaining repairs.
        let opened = try await Recovery.open(configuration, depth: .start, within: repairBudget)
        let archive = opened.archive
        for finding in opened.findings { Terminal.say("fieldscribe: \(finding.line)") }
        try await ClockCorrection.apply(to: archive)
        let outcome = try await record(
            configuration, archive: archive, pool: pool, seconds: arguments[seconds],
            screen: RecordingScreen(json: arguments[.json]))
        await pool?.finish()
        try finish(outcome)
        guard pool != nil else { return }
        let diarization = PostDiarization(configuration: configuration, archive: archive)
        _ = try await diarization.run(only: outcome.id, isQuiet: arguments[.json])
    }

    static func workers(_ configuration: Configuration) throws -> WorkerPool {
        try configuration.workers(profile: configuration.liveProfile, niceness: 5)
    }

    /// Records until Ctrl-C, for `seconds`, or to the end of an input file. `meanwhile` may also stop the recording.
    static func record(
        _ configuration: Configuration, archive: SQLiteArchive, pool: WorkerPool?, seconds: Int?,
        screen: RecordingScreen,
        meanwhile: @escaping @Sendable (LiveRecording) async -> Void = { _ in }
    ) async throws -> LiveRecording.Outcome {
        let hub = EventHub()
        let events = hub.events(withPartials: screen.wantsPartials)
        let capture = RecordingSession(
            try configuration.microphone(), configuration: configuration,
            length: seconds.map { SamplePosition(Int64($0 * SamplePosition.rate)) })
        let recording = try await LiveRecording(
            configuration: configuration, archive: archive, capture: capture, hub: hub)
        Interrupts.handle { count in
            if count > 1 {
                guard recording.isClosed else {
                    Terminal.say(
                        "fieldscribe: interrupted before the whole recording was on the disk; its end may be lost")
                    exit(130)
                }
                Terminal.say(
                    "the recording is complete, but its transcript is not; fieldscribe recover completes it"
                )
                exit(0)
            }
            recording.stop(reason: .command)
        }
        async let showing: Void = screen.show(events)
        async let watching: Void = meanwhile(recording)
        let result = await Result.of { try await recording.run(pool: pool, alternatives: 3) }
        if case .success(let outcome) = result {
            hub.publish(.state(outcome.recording.error == nil ? .idle : .faulted))
        }
        hub.finish()
        _ = await (showing, watching)
        return try result.get()
    }

    /// Prints where the recording is. Throws the error if the recording or the transcription failed.
    private static func finish(_ outcome: LiveRecording.Outcome) throws {
        Terminal.say(
            "recording \(outcome.id): \(RecordingScreen.clock(outcome.recording.length)) in \(outcome.folder.audio)")
        if let error = outcome.recording.error { throw error }
        if case .failure(let error) = outcome.transcription { throw error }
    }
}
