@testable import Appliance
@testable import Core

/// Runs the recorder's state machine with the inputs in a table, and returns the table with the results.
///
/// Inputs: `start`, `stop`, `toggle`, `mark`, `pause` and `resume` are commands from the waiting callers a, b, c ...;
/// `ack` and words that begin with `press-` are actions of the button; `+500` lets 500 ms pass; other words are events
/// and answers to effects, with the number of the recording or attempt. Effects: `a:1` answers caller a with recording
/// 1, `a:-` without a recording, and `a:!busy` with an error; `=idle` publishes a state and `!code` a fault. Timers and
/// log lines are omitted. The last columns are the state and the lamp's mode, with `!` while the lamp blinks a fault.
struct RecorderRig {
    private(set) var state = RecorderState()
    private(set) var now = Duration.seconds(100)
    private(set) var ticketCount = 0

    init() {
        _ = apply(.started)
        _ = apply(.maintenanceEnded(.done))
    }

    /// Runs each line of a table and returns the table with the results in columns.
    static func run(_ table: String) -> String {
        var rig = RecorderRig()
        return table.split(separator: "\n").map { rig.line(String($0)) }.joined(separator: "\n")
    }

    mutating func apply(_ kind: RecorderInput.Kind) -> [RecorderEffect] {
        state.handle(RecorderInput(kind, at: RecorderMoment(monotonic: now)))
    }

    private mutating func line(_ line: String) -> String {
        let words = line.split(separator: "|")[0].split(separator: " ").map(String.init)
        var effects: [RecorderEffect] = []
        for word in words {
            if word.hasPrefix("+"), let pause = Int(word.dropFirst()) {
                now += .milliseconds(pause)
            } else {
                effects += perform(word)
            }
        }
        let lamp = LampPattern(for: state)
        let columns = [
            words.joined(separator: " "), effects.compactMap(Self.marble).joined(separator: " "),
            state.publishedState.rawValue, lamp.mode(at: now).rawValue + (lamp.isFaulted ? "!" : ""),
        ]
        return columns.joined(separator: " | ")
    }

    /// Applies one input of a table and returns its effects.
    mutating func perform(_ word: String) -> [RecorderEffect] {
        action(word).map { state.handle($0, at: RecorderMoment(monotonic: now)) } ?? apply(input(word))
    }

    private mutating func ticket() -> RecorderTicket {
        ticketCount += 1
        return RecorderTicket(id: ticketCount)
    }

    private func action(_ word: String) -> ButtonInterpreter.Action? {
        switch word {
        case "press-start": return .start(at: now)
        case "press-stop": return .stop(at: now)
        case "press-mark": return .mark(at: now)
        case "press-redact": return .redact(at: now)
        case "press-pause": return .pause(at: now)
        case "press-resume": return .resume(at: now)
        case "ack": return .acknowledge(at: now)
        case "late-ack": return .acknowledge(at: now - .milliseconds(100))
        case "stuck": return .stuck
        case "hold": return .shutDown
        default: return nil
        }
    }

    private mutating func input(_ word: String) -> RecorderInput.Kind {
        let name = word.prefix { !$0.isNumber }
        let id = Int(word.dropFirst(name.count)) ?? 0
        let healthy = RecorderInput.HealthCheck(syncedAt: now)
        let error = DeviceError(.missing, "test", "scripted")
        switch name {
        case "start": return .command(.start, ticket())
        case "stop": return .command(.stop, ticket())
        case "toggle": return .command(.toggle, ticket())
        case "mark": return .command(.mark(text: ""), ticket())
        case "pause": return .command(.pause, ticket())
        case "resume": return .command(.resume, ticket())
        case "shutdown": return .shutDown(ticket())
        case "opened": return .opened(attempt: id, recording: id)
        case "open-failed": return .openFailed(attempt: id, error)
        case "begun": return .begun(id, RecorderInput.HealthCheck())
        case "written": return .checked(id, healthy)
        case "silent": return .checked(id, RecorderInput.HealthCheck())
        case "disconnected": return .checked(id, RecorderInput.HealthCheck(syncedAt: now, microphoneIsAlive: false))
        case "closed": return .closed(id)
        case "ended": return .ended(id, .complete)
        case "cancelled": return .ended(id, .cancelled)
        case "failed": return .ended(id, .failed(error, isPublished: false))
        case "marked": return .marked(.success(Recorder.Answer(recording: id)), nil)
        case "fault": return .event(.fault(code: "full", message: "scripted"))
        case "export": return .event(.export(.started, folder: "", message: ""))
        case "exported": return .event(.export(.finished, folder: "", message: ""))
        case "stick-refused": return .event(.export(.refused, folder: "", message: ""))
        case "export-failed": return .event(.export(.failed, folder: "", message: "gone"))
        case "laptop": return .event(.laptop(isConnected: true))
        case "unsealed": return .event(.opened(recordings: [1]))
        case "locked": return .event(.opened(recordings: []))
        case "laptop-gone": return .event(.laptop(isConnected: false))
        case "added": return .added(id)
        case "transcribes": return .maintenanceTranscribes(true)
        case "maintained": return .maintenanceEnded(.done)
        case "interrupted": return .maintenanceEnded(.interrupted)
        case "maintenance-failed": return .maintenanceEnded(.failed(error))
        case "timeout": return .due(.release(after: id))
        case "retry": return .due(.maintenance(run: id))
        default: preconditionFailure("unknown marble \(word)")
        }
    }

    private static func marble(_ effect: RecorderEffect) -> String? {
        switch effect {
        case .open(let attempt): "open\(attempt)"
        case .record(let id): "record\(id)"
        case .close(let id, let reason): "close\(id):\(reason.rawValue)"
        case .mark(let id, _, _, _): "mark\(id)"
        case .redact(let id, _): "redact\(id)"
        case .setPaused(let id, let isPaused): isPaused ? "pause\(id)" : "resume\(id)"
        case .answer(let ticket, let result): "\(letter(ticket)):\(words(result))"
        case .publish(.state(let state)): "=\(state.rawValue)"
        case .publish(.fault(let code, _)): "!\(code)"
        case .maintenance: "maintenance"
        case .interruptMaintenance: "interrupt"
        case .releaseWorkers: "release"
        case .powerOff: "off"
        case .check, .log, .wake, .publish: nil
        }
    }

    private static func letter(_ ticket: RecorderTicket) -> String {
        String(UnicodeScalar(UInt8(0x60 + ticket.id)))
    }

    private static func words(_ result: Result<Recorder.Answer, DeviceError>) -> String {
        switch result {
        case .success(let answer): answer.recording.map { "\($0)" } ?? "-"
        case .failure(let error): "!\(error.code.rawValue)"
        }
    }
}

extension RecorderState {
    /// Performs an action of the button, as if its gestures had arrived.
    mutating func handle(_ action: ButtonInterpreter.Action, at moment: RecorderMoment) -> [RecorderEffect] {
        addingCommonEffects { $0.perform(action, at: moment) }
    }
}
