import FoundationEssentials
import Glibc
import TestKit
import Testing

/// The real appliance with a simulated panel, and what a person does with it.
final class ApplianceProcess {
    let folder: TemporaryFolder
    let process: Fieldscribe
    let configuration: String
    let socket: String
    let storage: String

    /// Starts it and waits until it answers.
    ///
    /// - Parameters:
    ///   - journal: where its journal goes; nil: where `end` finds it.
    ///   - environment: what it finds in it besides, `NAME=VALUE`.
    init(
        in folder: TemporaryFolder, microphone: String, style: String = "toggle", button: String = "sim:",
        further: String = "",
        broken: Bool = false, journal: String? = nil, environment: [String] = []
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
            hold-milliseconds = 2000
            [storage]
            directory = \(storage)
            reserve-megabytes = 16
            [control]
            socket = \(socket)
            \(further)
            \(broken ? "[panel]\nstyle = neither" : "")

            """
        try Data(text.utf8).write(to: URL(filePath: configuration))
        if let journal {
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
        while try ask(#"{"command":"status"}"#) == nil { try alive() }
    }

    deinit { kill(process.id, SIGKILL) }

    private func alive() throws {
        var status: Int32 = 0
        guard waitpid(process.id, &status, Int32(WNOHANG)) == 0 else { throw Gone(status: status) }
        usleep(5_000)
    }

    struct Gone: Error { var status: Int32 }

    /// Asks on a connection of its own; nil where nobody answers.
    func ask(_ line: String) throws -> String? { SocketClient(socket)?.ask(line) }

    /// Runs a command of the executable, with the appliance's configuration.
    func run(_ words: String...) throws -> Fieldscribe.Ending {
        try Fieldscribe(words + ["--config", configuration], in: folder).wait()
    }

    /// Waits until the status has a text.
    func status(has text: String) throws {
        let patience = Patience(text)
        while try ask(#"{"command":"status"}"#)?.contains(text) != true {
            try patience.check()
            try alive()
        }
    }

    /// A press that lasts at least so long, by the button's own time.
    func press(milliseconds: UInt32 = 60) throws {
        _ = try ask(#"{"command":"press"}"#)
        // The length of a press is its meaning; nothing could tell of its end.
        usleep(milliseconds * 1_000)
        _ = try ask(#"{"command":"release"}"#)
        // The contacts come to rest before anybody could press again.
        usleep(60_000)
    }

    /// What the lamp has shown so far: each change's meaning.
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

    /// Ends it as systemd does.
    func end(_ signal: Int32 = SIGTERM) throws -> Fieldscribe.Ending {
        kill(process.id, signal)
        return try process.wait()
    }
}

/// `watch --json`, and its lines as they come.
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

    /// Waits for a line of which that is true.
    ///
    /// - Throws: where none came in minutes: the test fails instead of waiting for ever.
    func wait(for matches: (String) -> Bool) throws {
        let patience = Patience("a line of watch")
        while try !lines.contains(where: matches) {
            try patience.check()
            try #require(kill(process.id, 0) == 0)
            usleep(10_000)
        }
    }

    func end() throws -> Fieldscribe.Ending {
        kill(process.id, SIGINT)
        return try process.wait()
    }
}

/// How long a test waits for what never comes.
struct Patience {
    private let what: String
    private let end = time(nil) + 180

    init(_ what: String) { self.what = what }

    struct Exhausted: Error { var waitedFor: String }

    func check() throws { if time(nil) > end { throw Exhausted(waitedFor: what) } }
}
