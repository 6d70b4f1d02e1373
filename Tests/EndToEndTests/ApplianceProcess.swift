import FoundationEssentials
import Glibc
import Testing
import TestKit

/// A running `fieldscribe run` with a simulated panel, and the actions of its user.
final class ApplianceProcess {
    let folder: TemporaryFolder
    let process: Fieldscribe
    let configuration: String
    let socket: String
    let storage: String

    /// Starts the appliance and waits until it answers.
    ///
    /// - Parameters:
    ///   - settings: additional lines of the configuration.
    ///   - isInvalid: whether the configuration has an invalid line.
    ///   - journal: the file for its log; if nil, `stop` returns the log.
    ///   - script: the shell script that starts it; `$0` is the executable, `$1` its configuration.
    ///   - environment: additional variables, `NAME=VALUE`.
    init(
        in folder: TemporaryFolder, microphone: String, style: String = "toggle", button: String = "sim:",
        settings: String = "", isInvalid: Bool = false, journal: String? = nil, script: String? = nil,
        environment: [String] = []
    ) throws {
        self.folder = folder
        configuration = folder.file("fieldscribe.conf")
        socket = folder.file("control.sock")
        storage = folder.file("storage")
        let text = """
            [capture]
            device = \(microphone)
            [panel]
            button = \(button)
            lamp = sim:
            style = \(style)
            hold-milliseconds = 4000
            [storage]
            directory = \(storage)
            reserve-megabytes = 16
            [control]
            socket = \(socket)
            \(settings)
            \(isInvalid ? "[panel]\nstyle = neither" : "")

            """
        try Data(text.utf8).write(to: URL(filePath: configuration))
        if let script {
            process = try Fieldscribe(
                program: "sh", ["-c", script, try Fieldscribe.executable(), configuration], in: folder)
        } else if let journal {
            let script = "exec \"$0\" run --config \"$1\" 2>\"$2\""
            process = try Fieldscribe(
                program: "sh", ["-c", script, try Fieldscribe.executable(), configuration, journal], in: folder)
        } else if !environment.isEmpty {
            process = try Fieldscribe(
                program: "env",
                environment + [try Fieldscribe.executable(), "run", "--config", configuration], in: folder)
        } else {
            process = try Fieldscribe(["run", "--config", configuration], in: folder)
        }
        try process.wait(until: "an answer") { try ask(#"{"command":"status"}"#) != nil }
    }

    deinit { kill(process.id, SIGKILL) }

    /// Sends a request on a new connection; returns nil if there is no answer.
    func ask(_ line: String) throws -> String? { SocketClient(socket)?.ask(line) }

    /// Runs a command with the appliance's configuration.
    func run(_ arguments: String...) throws -> Fieldscribe.Outcome {
        try Fieldscribe(arguments + ["--config", configuration], in: folder).wait()
    }

    /// Waits until the status contains `text`.
    func waitForStatus(_ text: String) throws {
        try process.wait(until: "a status with \(text)") {
            try ask(#"{"command":"status"}"#)?.contains(text) == true
        }
    }

    /// Returns the status as JSON, or an empty string if there is no answer.
    func status() throws -> String { try ask(#"{"command":"status"}"#) ?? "" }

    /// Returns the seconds of sound that the microphone has delivered to the recording, including pauses.
    func recordedSeconds() throws -> Double {
        let text = try #require(try ask(#"{"command":"status"}"#))
        return try JSONDecoder().decode(StatusAnswer.self, from: Data(text.utf8)).status.recordedSeconds
    }

    private struct StatusAnswer: Decodable {
        struct Status: Decodable { var recordedSeconds: Double }

        var status: Status
    }

    /// Waits until the microphone has delivered this many more seconds of sound.
    func waitForSound(seconds: Double) throws {
        let end = try recordedSeconds() + seconds
        try process.wait(until: "\(seconds) s more of sound") { try recordedSeconds() >= end }
    }

    /// Presses and releases the button, too fast for a hold.
    func press() throws {
        // wait: the debouncer needs 20 ms; only a stall of 4 s turns the press into a hold
        try press { usleep(60_000) }
    }

    /// Presses the button and releases it once `event` returns.
    func press(until event: () throws -> Void) throws {
        _ = try ask(#"{"command":"press"}"#)
        try event()
        _ = try ask(#"{"command":"release"}"#)
        // wait: the debouncer needs 20 ms without edges; a slow machine only waits longer
        usleep(60_000)
    }

    /// Returns the lamp's changes so far.
    func lamp() throws -> [LampChange] {
        let text = try #require(try ask(#"{"command":"lamp"}"#))
        return try JSONDecoder().decode(LampHistory.self, from: Data(text.utf8)).lamp
    }

    struct LampHistory: Decodable { var lamp: [LampChange] }

    struct LampChange: Decodable, Equatable {
        var time: Double
        var lit: Bool
        var shows: String
    }

    /// Stops the appliance with a signal, as systemd does.
    func stop(_ signal: Int32 = SIGTERM) throws -> Fieldscribe.Outcome {
        kill(process.id, signal)
        return try process.wait()
    }
}

/// A running `watch --json` and the lines that it has printed so far.
final class Watcher {
    private let process: Fieldscribe

    init(_ appliance: ApplianceProcess) throws {
        process = try Fieldscribe(["watch", "--json", "--config", appliance.configuration], in: appliance.folder)
        try wait { $0.contains(#""event":"state""#) }
    }

    deinit { kill(process.id, SIGKILL) }

    var lines: [String] {
        get throws { try process.outputSoFar.split(separator: "\n").map(String.init) }
    }

    /// The reported states, in order.
    var states: [String] {
        get throws {
            try lines.filter { $0.contains(#""event":"state""#) }.compactMap {
                $0.split(separator: "\"").dropLast().last.map(String.init)
            }
        }
    }

    /// Waits until the last reported state is `state`. The command `status` may show that state earlier.
    func waitForState(_ state: String) throws {
        try process.wait(until: "the state \(state)") { try states.last == state }
    }

    /// Waits for a line that matches.
    func wait(for matches: (String) -> Bool) throws {
        try process.wait(until: "a line from watch") { try lines.contains(where: matches) }
    }

    func stop() throws -> Fieldscribe.Outcome {
        kill(process.id, SIGINT)
        return try process.wait()
    }
}
