import Testing

@testable import Appliance
@testable import Core
@testable import System

@Suite("Answers to commands") struct CommandAnswerTests {
    /// The output of each command in one state; `!` begins an error.
    struct Row: Sendable, CustomTestStringConvertible {
        /// The inputs in the language of `RecorderRig` that lead to the state.
        var state: String
        var start: String
        var stop: String
        var toggle: String
        var pause: String
        var resume: String
        var mark: String

        var testDescription: String { state.isEmpty ? "idle" : state }

        var answers: [(command: String, line: String)] {
            [
                ("start", start), ("stop", stop), ("toggle", toggle), ("pause", pause), ("resume", resume),
                ("mark", mark),
            ]
        }
    }

    private static let stopping = "!the recording is being stopped; there is nothing to"
    private static let notBegun = "the recording has not begun yet; wait until sound is being written, then"

    static let rows = [
        Row(
            state: "", start: "recording 1", stop: "nothing was being recorded", toggle: "recording 1",
            pause: "!nothing is being recorded; there is nothing to pause",
            resume: "!nothing is being recorded; there is nothing to resume",
            mark: "!nothing is being recorded; start first, then mark"),
        Row(
            state: "fault", start: "recording 1", stop: "nothing was being recorded", toggle: "recording 1",
            pause: "!nothing is being recorded; there is nothing to pause",
            resume: "!nothing is being recorded; there is nothing to resume",
            mark: "!nothing is being recorded; start first, then mark"),
        Row(
            state: "start", start: "recording 1", stop: "stopped 1", toggle: "stopped 1", pause: "paused 1",
            resume: "recording 1; nothing was paused", mark: "!\(notBegun) mark"),
        Row(
            state: "start pause", start: "recording 1", stop: "stopped 1", toggle: "stopped 1", pause: "paused 1",
            resume: "recording 1", mark: "!the recording is paused; resume it first, then mark"),
        Row(
            state: "start stop", start: "recording 2", stop: "stopped 1", toggle: "recording 2",
            pause: "\(stopping) pause", resume: "\(stopping) resume", mark: "\(stopping) mark"),
        Row(
            state: "start stop start", start: "recording 2", stop: "stopped 1", toggle: "stopped 1",
            pause: "!\(notBegun) pause",
            resume: "!\(notBegun) resume",
            mark: "!\(notBegun) mark"),
        Row(
            state: "start opened1", start: "recording 1", stop: "stopped 1", toggle: "stopped 1", pause: "paused 1",
            resume: "recording 1; nothing was paused", mark: "!\(notBegun) mark"),
        Row(
            state: "start opened1 pause", start: "recording 1, resumed", stop: "stopped 1", toggle: "stopped 1",
            pause: "paused 1", resume: "recording 1", mark: "!the recording is paused; resume it first, then mark"),
        Row(
            state: "start opened1 begun1", start: "recording 1", stop: "stopped 1", toggle: "stopped 1",
            pause: "paused 1", resume: "recording 1; nothing was paused", mark: "marked"),
        Row(
            state: "start opened1 begun1 fault", start: "recording 1", stop: "stopped 1", toggle: "stopped 1",
            pause: "paused 1", resume: "recording 1; nothing was paused", mark: "marked"),
        Row(
            state: "start opened1 begun1 pause", start: "recording 1, resumed", stop: "stopped 1", toggle: "stopped 1",
            pause: "paused 1", resume: "recording 1", mark: "!the recording is paused; resume it first, then mark"),
        Row(
            state: "start opened1 begun1 pause resume", start: "recording 1", stop: "stopped 1", toggle: "stopped 1",
            pause: "paused 1", resume: "recording 1; nothing was paused", mark: "marked"),
        Row(
            state: "start opened1 begun1 pause start", start: "recording 1", stop: "stopped 1", toggle: "stopped 1",
            pause: "paused 1", resume: "recording 1; nothing was paused", mark: "marked"),
        Row(
            state: "start opened1 begun1 stop", start: "recording 2", stop: "stopped 1", toggle: "recording 2",
            pause: "\(stopping) pause", resume: "\(stopping) resume", mark: "\(stopping) mark"),
        Row(
            state: "start opened1 begun1 stop start", start: "recording 2", stop: "stopped 1", toggle: "stopped 1",
            pause: "!\(notBegun) pause",
            resume: "!\(notBegun) resume",
            mark: "!\(notBegun) mark"),
        Row(
            state: "start opened1 begun1 stop closed1", start: "recording 2", stop: "nothing was being recorded",
            toggle: "recording 2", pause: "!nothing is being recorded; there is nothing to pause",
            resume: "!nothing is being recorded; there is nothing to resume",
            mark: "!nothing is being recorded; start first, then mark"),
        Row(
            state: "start opened1 begun1 shutdown", start: "!the appliance is shutting down", stop: "stopped 1",
            toggle: "!the appliance is shutting down", pause: "\(stopping) pause", resume: "\(stopping) resume",
            mark: "\(stopping) mark"),
    ]

    private static let requests: [String: RecorderCommand] = [
        "start": .start, "stop": .stop, "toggle": .toggle, "pause": .pause, "resume": .resume,
    ]

    @Test("every command in every state is answered with the new state", arguments: rows)
    func answers(_ row: Row) throws {
        for (command, line) in row.answers {
            let found = try Self.answer(to: command, in: row.state)
            #expect(found == line, "\(command)")
        }
    }

    // A separate property, because Swift 6.0.3 crashes on an interpolation in the attribute.
    private static let refusals = [
        ("start opened1", "press-redact", "redact", "\(notBegun) redact"),
        ("start opened1", "press-mark", "mark", "\(notBegun) mark"),
        ("start opened1 begun1 pause", "press-mark", "mark", "the recording is paused; resume it first, then mark"),
        (
            "start opened1 begun1 stop", "press-redact", "redact",
            "the recording is being stopped; there is nothing to redact"
        ),
    ]

    @Test("a press that cannot be performed in the current state is logged", arguments: refusals)
    func refusedPress(_ state: String, _ press: String, _ action: String, _ message: String) {
        var rig = RecorderRig()
        for word in state.split(separator: " ") { _ = rig.perform(String(word)) }
        let line = LogLine(.notice, "button", ["state": "refused", "order": action, "message": message])
        #expect(rig.perform(press).contains(.log(line)))
    }

    /// Sends a command in a state, completes all effects, and returns the command's output.
    private static func answer(to command: String, in state: String) throws -> String {
        var rig = RecorderRig()
        for word in state.split(separator: " ") { _ = rig.perform(String(word)) }
        var effects = rig.perform(command)
        let ticket = RecorderTicket(id: rig.ticketCount)
        if effects.contains(where: { if case .mark(_, _, _, ticket) = $0 { true } else { false } }) { return "marked" }
        var remainingInputs = ["opened1", "begun1", "closed1", "opened2", "begun2"][...]
        while true {
            for case .answer(ticket, let result) in effects {
                switch result {
                case .failure(let error): return "!\(error.statement)"
                case .success(let answer):
                    let request = try #require(requests[command])
                    // Encodes and decodes the response as the socket does.
                    let line = ControlLine.encode(ControlResponse(answer))
                    let decoded = try ControlLine.decode(ControlResponse.self, from: line)
                    #expect(ControlLine.encode(decoded) == line)
                    #expect(decoded.state == rig.state.state(of: answer.recording))
                    return decoded.line(after: request)
                }
            }
            guard let word = remainingInputs.popFirst() else { return "no answer" }
            effects = rig.perform(word)
        }
    }

    @Test("a command that is answered after a later command gets the state after both")
    func laterAnswer() throws {
        var rig = RecorderRig()
        _ = rig.perform("start")
        let start = RecorderTicket(id: rig.ticketCount)
        _ = rig.perform("pause")
        var answers = Self.answers(rig.perform("opened1"))
        #expect(answers[start]?.state == .paused && answers.values.allSatisfy { $0.state == .paused })
        #expect(answers[start].map { ControlResponse($0).line(after: .start) } == "paused 1")

        rig = RecorderRig()
        _ = rig.perform("start")
        let first = RecorderTicket(id: rig.ticketCount)
        for word in ["opened1", "stop", "closed1", "start", "opened2"] { _ = rig.perform(word) }
        let second = RecorderTicket(id: rig.ticketCount)
        answers = Self.answers(rig.perform("begun1"))
        #expect(answers[first].map { ControlResponse($0).line(after: .start) } == "stopped 1")
        answers = Self.answers(rig.perform("begun2"))
        #expect(answers[second].map { ControlResponse($0).line(after: .start) } == "recording 2")
    }

    private static func answers(_ effects: [RecorderEffect]) -> [RecorderTicket: Recorder.Answer] {
        var answers: [RecorderTicket: Recorder.Answer] = [:]
        for case .answer(let ticket, .success(let answer)) in effects { answers[ticket] = answer }
        return answers
    }

    @Test("an answer from an earlier version, which has no state, can be printed")
    func earlierVersion() throws {
        var answer = ControlResponse()
        #expect(answer.line(after: .stop) == "nothing was being recorded")
        answer.recording = 7
        let lines = [RecorderCommand.start, .stop, .pause].map { answer.line(after: $0) }
        #expect(lines == ["recording 7", "stopped 7", "paused 7"])
        #expect(answer.line(after: .resume) == "recording 7")
    }
}
