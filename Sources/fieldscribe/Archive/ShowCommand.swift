import Archive
import Audio
import Copying
import Core
import Settings
import System
import Transcripts

enum ShowCommand: Command {
    static let name = "show"
    static let summary = "Show a recording's transcript."
    private static let pass = Option.number(
        "--pass", "the Nth transcript of the recording; default the corrected one, or the best", in: 1...10_000)
    private static let changes = Option.flag(
        "--changes", "show how people corrected the transcript, one change per line; also with --format json")
    private static let format = Option.parsed(
        "--format", "F",
        "\(TranscriptFormat.names.joined(separator: ", ")); default text; on a terminal, with title, times and speakers",
        "choose one of \(TranscriptFormat.names.joined(separator: ", "))", .words(TranscriptFormat.names),
        parse: TranscriptFormat.init(rawValue:))
    static let help: [any HelpPart] = [
        Argument("ID", "a recording number, as shown by fieldscribe list", .recordings), format, pass, changes,
        Option.punctuation, Option.directory,
    ]

    static func run(_ arguments: Arguments) async throws {
        try arguments.expect(1, "a recording number")
        let id = try arguments.recording(arguments.rest[0])
        let isForReader = arguments[Self.format] == nil && Terminal.showsOutput
        let format = arguments[Self.format] ?? .text
        let connection = try await ArchiveConnection(arguments)
        let configuration = try arguments.configuration()
        let punctuator = arguments.punctuator(configuration)
        if arguments[changes] {
            return try await CorrectionList(archive: connection.archive, punctuator: punctuator, recording: id)
                .print(format)
        }
        guard let (summary, timeline) = try await transcript(of: id, arguments, connection.archive) else {
            throw DeviceError.noRecording(id, "show")
        }
        if summary.isSealed {
            let file = RecordingFolder(storage: connection.directory, recording: id).sealed
            throw DeviceError(
                .denied, "show", on: "recording \(id)", "is sealed: only the private key opens it",
                remedy: "on a machine with the key: age -d -i key.txt \(file) | tar x")
        }
        // Only on a terminal, because programs do not expect this line.
        if Terminal.showsErrors, let powerOn = summary.powerOn {
            Terminal.say("recording \(id): the clock was not set; \(powerOn.text)")
        }
        let punctuated = try punctuator.punctuated(timeline)
        var details = RecordingDetails(punctuated)
        if format.isPackage || format == .markdown || isForReader {
            details = RecordingDetails(
                title: "Recording \(id)", started: WallTime(summary.startedAt).full, clock: summary.clock)
        }
        details.pauseSeconds = configuration.export.pauseSeconds
        if isForReader {
            let lines = TerminalTranscript.lines(punctuated, details, width: Terminal.outputWidth)
            for line in lines { try Terminal.print(styled: "\(line)\n") }
        } else {
            try format.print(punctuated, details: details)
        }
        let proposed = configuration.with(directory: arguments[.directory]).proposedNames[id] ?? [:]
        for (label, name) in proposed.sorted(by: { $0.key < $1.key }) {
            Terminal.say(
                "recording \(id): judging by the voice, \(label) may be \(oneLine(name)); set names on the recording's page"
            )
        }
        if let live = summary.live {
            return Terminal.say(
                "fieldscribe: recording \(id): \(live.state.rawValue), \(RecordingScreen.clock(live.length)); "
                    + "its transcript is not complete yet")
        }
        // The text format contains the progress.
        if format != .text, let progress = transcriptionProgress(timeline) {
            Terminal.say("fieldscribe: recording \(id): \(progress)")
        }
    }

    private static func transcript(
        of id: Int, _ arguments: Arguments, _ archive: any ArchiveReading
    ) async throws -> (RecordingSummary, Timeline)? {
        guard let number = arguments[pass] else { return try await archive.transcript(of: id) }
        let passes = try await archive.passes(of: id)
        guard passes.indices.contains(number - 1) else {
            throw DeviceError(
                .missing, "show", on: "recording \(id)",
                "has only \(counted(passes.count, "transcript", "transcripts")), so there is no pass \(number)")
        }
        return try await archive.transcript(of: id, pass: passes[number - 1].id)
    }
}
