import Archive
import Audio
import Core
import Glibc
import Maintenance
import Settings
import System
import Transcripts

/// Records real speech through libasound with a simulated button, and shows, transcribes and copies the recording.
enum DemoCommand: Command {
    static let name = "demo"
    static let summary = "Try Fieldscribe without a microphone or button."
    static let help: [any HelpPart] = [
        """
        Plays real speech and shows its text as it appears. Lines that begin with ~ are partial text, shown while people
        speak; the line below is the final text. At the end, the demo shows the word error rates of both.
        """,
        Option.directory(
            "keep the demo's files in this folder; default a temporary folder in $TMPDIR or /tmp, which is removed at the end"
        ), Option.engine, Option.model,
    ]

    static func run(_ arguments: Arguments) async throws {
        var configuration = try arguments.configuration()
        let directory: String
        var scratch: ScratchFolder?
        if let path = arguments[.directory] {
            // As root, libasound would load plugins that the folder's owner can put there.
            try ArchiveOwner(of: path).switchToOwner()
            try makeFolder(path)
            directory = path
        } else {
            let folder = try ScratchFolder(for: "demo")
            scratch = folder
            directory = folder.path
        }
        defer { withExtendedLifetime(scratch) {} }
        let sound = try DemoSound(in: directory)
        // libasound reads the variable when the first device is opened.
        setenv("ALSA_CONFIG_PATH", sound.alsaConfiguration, 1)
        configuration.capture.device = "alsa:\(DemoSound.device)"
        configuration = configuration.with(directory: directory)
        describeEngines(configuration)
        let screen = RecordingScreen(json: false, keepsPartials: true)
        let pool = try RecordCommand.workers(configuration)
        let archive = try SQLiteArchive(path: configuration.archivePath)

        var button = SimulatedButton()
        guard button.press(at: .seconds(1)) else {
            throw DeviceError(.failed, "demo", "the simulated button did not start a recording")
        }
        Terminal.say("button pressed: recording from the ALSA device \(DemoSound.device), which plays back real speech")
        let buttonAfterStart = button
        let outcome = try await RecordCommand.record(
            configuration, archive: archive, pool: pool, seconds: nil, screen: screen
        ) { recording in
            // The second press, after the speech.
            guard await recording.waitUntilWritten(upTo: sound.length) else { return }
            var button = buttonAfterStart
            guard !button.press(at: .seconds(60)) else { return }
            Terminal.say("button pressed again: recording stops")
            recording.stop(reason: .button)
        }
        if let error = outcome.recording.error { throw error }
        if case .failure(let error) = outcome.transcription { throw error }
        try await show(outcome.id, in: archive, screen.partialText, sound.referenceText, configuration)
        try await copy(outcome.id, from: archive, in: directory, configuration)
        if scratch != nil { announceRemoval() }
    }

    /// Announces that the demo's files will be removed; on a terminal, waits for Enter first.
    private static func announceRemoval() {
        let waits = isatty(STDIN_FILENO) == 1 && Terminal.showsErrors
        Terminal.say(
            waits
                ? "\npress Enter to remove these files and end the demo; with --directory DIR they stay in DIR"
                : "\nremoving these files; with --directory DIR they stay in DIR")
        if waits { _ = readLine() }
    }

    /// Prints which engines produce the partial and the final text, and why a better one is not used.
    private static func describeEngines(_ configuration: Configuration) {
        if configuration.recognizer.engine == EngineRegistry.automaticName,
            let problem = EngineRegistry.problems(for: configuration).first
        {
            Terminal.say(
                problem.code == .missing
                    ? "Moonshine, the better engine, is not installed, so PocketSphinx produces both texts"
                    : "PocketSphinx produces both texts; Moonshine, the better engine, cannot: \(problem.message)")
        }
        Terminal.say(
            "~ marks the partial text, shown while people speak (\(configuration.partialsEngine.name)); the final text "
                + "(\(configuration.engine.name)) is below it")
    }

    /// Prints the final text, and the word error rates of the partial and the final text.
    private static func show(
        _ id: Int, in archive: SQLiteArchive, _ partialText: String, _ referenceText: String,
        _ configuration: Configuration
    ) async throws {
        guard let (_, timeline) = try await archive.transcript(of: id) else { return }
        Terminal.say("\ntranscript:\n")
        try Terminal.print(try TranscriptFormat.text.render(timeline))
        let text = timeline.segments.map(\.text).joined(separator: " ")
        let percent = { (hypothesisText: String) in
            "\(Int(WordErrors(referenceText: referenceText, hypothesisText: hypothesisText).percent.rounded())) %"
        }
        try Terminal.print(
            "\nword errors: \(percent(partialText)) in the partial text (\(configuration.partialsEngine.name)), "
                + "\(percent(text)) in the final text (\(timeline.engine.name))\n")
    }

    /// Copies the recording to a folder that represents a stick.
    private static func copy(
        _ id: Int, from archive: SQLiteArchive, in directory: String, _ configuration: Configuration
    ) async throws {
        let stick = "\(directory)/stick"
        try makeFolder(stick)
        // The copy is not encrypted, so that the user can open it.
        var configuration = configuration
        configuration.export.recipients = []
        let report = try await ExportCommand.copy(
            [id], of: archive, ledger: archive, in: directory, to: stick, configuration: configuration,
            needsSignature: false)
        if let error = report.error { throw error }
        Terminal.say("\ncopied and verified, as on a stick; to read and play the recording, open in a browser:")
        for copy in report.copied + report.keptCopies {
            try Terminal.print("\(stick)/Fieldscribe/\(copy.folder)/index.html\n")
        }
        Terminal.say("the list of all recordings on the stick:")
        try Terminal.print("\(stick)/Fieldscribe/index.html\n")
    }
}

/// Simulates 200 ms presses with the real button's state machine.
private struct SimulatedButton: Sendable {
    private var panel = PanelButton()
    private var interpreter = ButtonInterpreter()
    private var isRecording = false

    /// Returns whether a recording runs after the press.
    mutating func press(at time: Duration) -> Bool {
        var events = panel.handle(.edge(ButtonEdge(pressed: true, time: time)))
        events += panel.handle(.time(time + .milliseconds(100)))
        events += panel.handle(.edge(ButtonEdge(pressed: false, time: time + .milliseconds(200))))
        events += panel.handle(.time(time + .milliseconds(300)))
        for event in events {
            for action in interpreter.handle(event, isRecording: isRecording) {
                if case .start = action { isRecording = true }
                if case .stop = action { isRecording = false }
            }
        }
        return isRecording
    }
}
