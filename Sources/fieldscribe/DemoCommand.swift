import Appliance
import Core
import Exporting
import FileMicrophone
import Glibc
import Panel
import Platform
import SQLiteArchive

/// The whole way on a machine without hardware: real speech through libasound, a simulated button, text and files.
enum DemoCommand: Command {
    static let name = "demo"
    static let summary = "Show the recorder at work on this machine, without microphone or button."
    static let usage = "[--directory DIR] [--engine E]"
    static let details = """
          --directory DIR    where the demo's archive and files go; default fieldscribe-demo in $TMPDIR or /tmp
          --engine E         \(EngineRegistry.forms); default
                             recognizer.engine
        """
    static let options = (values: ["--directory", "--engine"], flags: [String]())

    static func run(_ arguments: Arguments) async throws {
        try arguments.expect(0, "nothing else")
        var configuration = try arguments.configuration()
        let temporary = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        let directory = arguments["--directory"] ?? "\(temporary)/fieldscribe-demo"
        try makeFolder(directory)
        let sound = try DemoSound(in: directory)
        // Read by libasound when the first device is opened.
        setenv("ALSA_CONFIG_PATH", sound.alsaConfiguration, 1)
        configuration.capture.device = "alsa:\(DemoSound.device)"
        configuration.storage.directory = directory
        let pool = try RecordCommand.workers(configuration)
        let archive = try SQLiteArchive(path: configuration.archivePath)

        var button = SimulatedButton()
        guard button.press(at: .seconds(1)).contains(where: { if case .start = $0 { true } else { false } }) else {
            throw DeviceError(.failed, "demo", "the simulated button did not start a recording")
        }
        Terminal.say("button pressed: recording from \(configuration.capture.device), a PCM of libasound")
        let pressed = button
        let outcome = try await RecordCommand.record(
            configuration, archive: archive, pool: pool, seconds: nil, screen: RecordingScreen(json: false)
        ) { recording in
            // Somebody presses again once everything has been said.
            guard await recording.reaches(sound.length) else { return }
            var button = pressed
            guard button.press(at: .seconds(60)).contains(where: { if case .stop = $0 { true } else { false } }) else {
                return
            }
            Terminal.say("button pressed: stopping")
            recording.stop(reason: .button)
        }
        if let error = outcome.recording.error { throw error }
        if case .failure(let error) = outcome.transcription { throw error }
        try await show(outcome, from: archive, in: directory, configuration)
    }

    /// Prints the text, and copies everything to a folder that stands for a stick.
    private static func show(
        _ outcome: LiveRecording.Outcome, from archive: SQLiteArchive, in directory: String,
        _ configuration: Configuration
    ) async throws {
        guard let (_, timeline) = try await archive.transcript(of: outcome.id) else { return }
        Terminal.say("\nthe transcript:\n")
        try Terminal.print(try TranscriptFormat.text.render(timeline))
        let stick = "\(directory)/stick"
        try makeFolder(stick)
        let report = try await ExportCommand.copy(
            [outcome.id], of: archive, ledger: archive, in: directory, to: stick, configuration: configuration)
        if let error = report.error { throw error }
        Terminal.say("\ncopied to \(stick), read back and found whole; to read and to hear it, open")
        for copy in report.copied + report.kept {
            try Terminal.print("\(stick)/Fieldscribe/\(copy.folder)/index.html\n")
        }
        Terminal.say("and for all recordings there")
        try Terminal.print("\(stick)/Fieldscribe/index.html\n")
    }
}

/// A button that somebody presses for 200 ms, through the machine that reads the real one.
private struct SimulatedButton: Sendable {
    private var panel = PanelButton()

    /// What the press means; the panel then knows whether a recording goes on.
    mutating func press(at time: Duration) -> [ButtonGesture.Effect] {
        var effects = panel.handle(.edge(ButtonEdge(pressed: true, time: time)))
        effects += panel.handle(.time(time + .milliseconds(100)))
        effects += panel.handle(.edge(ButtonEdge(pressed: false, time: time + .milliseconds(200))))
        effects += panel.handle(.time(time + .milliseconds(300)))
        for effect in effects {
            switch effect {
            case .start: effects += panel.handle(.recording(true))
            case .stop: effects += panel.handle(.recording(false))
            default: break
            }
        }
        return effects
    }
}
