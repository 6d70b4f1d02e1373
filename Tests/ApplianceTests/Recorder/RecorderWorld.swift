import TestKit

@testable import Appliance
@testable import Core

/// Simulates the environment of the recorder's state machine: users, disk, microphone and workers. Answers effects late
/// and in any order, and checks invariants.
struct RecorderWorld {
    /// The simulated file of a recording.
    private struct Disk {
        var syncedAt: Duration?
        var isClosed = false
        var hasBegun = false
        var microphoneIsAlive = true
        var isPaused = false
    }

    private enum RandomEvent {
        case input(RecorderInput.Kind)
        /// An action of the button.
        case action(ButtonInterpreter.Action)
    }

    private(set) var problems: [String] = []
    private var state = RecorderState()
    private var now = Duration.seconds(10)
    /// The answers to effects that have not been delivered yet.
    private var pending: [RecorderInput.Kind] = []
    private var disks: [Int: Disk] = [:]
    private var recordingCount = 0
    private var openAttempts: Set<Int> = []
    private var ticketCount = 0
    private var waitingTickets: Set<RecorderTicket> = []
    /// The ordinal of the input of each stop command that has not been answered.
    private var waitingStops: [RecorderTicket: Int] = [:]
    private var inputCount = 0
    /// The ordinals of the last inputs that requested a start and a stop.
    private var (lastStart, lastStop) = (0, 0)
    /// The ordinal of the latest stop that was answered.
    private var answeredStop = 0
    /// The times of the unacknowledged faults.
    private var unacknowledgedFaults: [Duration] = []
    private var isMaintaining = false
    private var isEnding = false

    init() { apply(.started) }

    /// Performs one random event.
    mutating func step(_ generator: inout SeededGenerator) {
        now += .milliseconds(Int.random(in: 0...1_500, using: &generator))
        grow(&generator)
        if !pending.isEmpty, Int.random(in: 0..<2, using: &generator) == 0 {
            deliver(&generator)
        } else {
            switch randomEvent(&generator) {
            case .input(let kind): apply(kind)
            case .action(let action): apply(action)
            }
        }
    }

    /// Shuts down and answers all effects. Afterwards, no caller may be waiting.
    mutating func settle(_ generator: inout SeededGenerator) {
        isEnding = true
        apply(.shutDown(ticket(isStop: true)))
        var remainingSteps = 2_000
        while remainingSteps > 0, pending.contains(where: { !Self.isTimer($0) }) {
            remainingSteps -= 1
            now += .milliseconds(1)
            deliver(&generator)
        }
        expect(remainingSteps > 0, "the shutdown did not finish")
        expect(waitingTickets.isEmpty, "unanswered tickets: \(waitingTickets.map(\.id).sorted())")
        expect(state.phase == .idle && state.transcriptions.isEmpty, "not idle after the shutdown: \(state)")
    }

    private mutating func expect(_ holds: Bool, _ problem: String) {
        if !holds { problems.append("input \(inputCount): \(problem)") }
    }

    // MARK: Events

    private mutating func ticket(isStop: Bool = false) -> RecorderTicket {
        ticketCount += 1
        let ticket = RecorderTicket(id: ticketCount)
        waitingTickets.insert(ticket)
        if isStop { waitingStops[ticket] = inputCount + 1 }
        return ticket
    }

    private mutating func randomEvent(_ generator: inout SeededGenerator) -> RandomEvent {
        let error = DeviceError(.failed, "world", "number \(Int.random(in: 0..<3, using: &generator))")
        switch Int.random(in: 0..<26, using: &generator) {
        case 0...3: return .input(.command(.start, ticket()))
        case 4...6: return .input(.command(.stop, ticket(isStop: true)))
        case 7, 8: return .input(.command(.toggle, ticket(isStop: state.willBeRecording)))
        case 9: return .input(.command(.mark(text: ""), ticket()))
        case 20: return .input(.command(.pause, ticket()))
        case 21: return .input(.command(.resume, ticket()))
        case 22: return .action(.pause(at: now))
        case 23: return .action(.resume(at: now))
        case 24: return .action(.redact(at: now))
        case 10: return .action(.start(at: now))
        case 11: return .action(.stop(at: now))
        case 12: return .action(.mark(at: now))
        case 13, 14:
            return .action(.acknowledge(at: now - .milliseconds(Int.random(in: 0...500, using: &generator))))
        case 15, 16: return .input(.event(.fault(code: error.code.rawValue, message: error.message)))
        case 17: return .input(.event(.export(.started, folder: "", message: "")))
        case 18: return .input(.event(.export(.finished, folder: "", message: "")))
        case 19:
            let isNow = Bool.random(using: &generator)
            return .input(
                .event(
                    Bool.random(using: &generator) ? .laptop(isConnected: isNow) : .opened(recordings: isNow ? [1] : [])
                )
            )
        default: return .input(.event(.export(.failed, folder: "", message: "gone")))
        }
    }

    private mutating func grow(_ generator: inout SeededGenerator) {
        for id in disks.keys.sorted() where disks[id]?.isClosed == false {
            disks[id]?.microphoneIsAlive = Int.random(in: 0..<8, using: &generator) > 0
            if disks[id]?.isPaused == false, Int.random(in: 0..<3, using: &generator) > 0 { disks[id]?.syncedAt = now }
        }
    }

    private mutating func deliver(_ generator: inout SeededGenerator) {
        guard !pending.isEmpty else { return }
        let kind = pending.remove(at: Int.random(in: 0..<pending.count, using: &generator))
        switch kind {
        case .checked(let id, _): apply(.checked(id, healthCheck(of: id)))
        case .begun(let id, _): apply(.begun(id, healthCheck(of: id)))
        case .opened(let attempt, _): open(attempt, &generator)
        case .closed(let id), .ended(let id, _):
            disks[id]?.isClosed = true
            apply(kind)
        case .maintenanceEnded:
            isMaintaining = false
            apply(kind)
        default: apply(kind)
        }
    }

    private mutating func open(_ attempt: Int, _ generator: inout SeededGenerator) {
        openAttempts.remove(attempt)
        if Int.random(in: 0..<4, using: &generator) == 0 {
            return apply(.openFailed(attempt: attempt, DeviceError(.missing, "world", "no microphone")))
        }
        recordingCount += 1
        disks[recordingCount] = Disk()
        apply(.opened(attempt: attempt, recording: recordingCount))
    }

    private func healthCheck(of id: Int) -> RecorderInput.HealthCheck {
        RecorderInput.HealthCheck(
            syncedAt: disks[id]?.syncedAt, microphoneIsAlive: disks[id]?.microphoneIsAlive ?? false)
    }

    /// Whether the input is from a timer. Timers may fire at any time, so `settle` does not wait for them.
    private static func isTimer(_ kind: RecorderInput.Kind) -> Bool {
        if case .due = kind { true } else { false }
    }

    // MARK: Effects

    private mutating func apply(_ kind: RecorderInput.Kind) {
        inputCount += 1
        recordInput(kind)
        let previousState = state.publishedState
        let effects = state.handle(RecorderInput(kind, at: RecorderMoment(monotonic: now)))
        for effect in effects { perform(effect) }
        check(previousState: previousState, effects)
    }

    private mutating func apply(_ action: ButtonInterpreter.Action) {
        inputCount += 1
        switch action {
        case .start: lastStart = inputCount
        case .stop: lastStop = inputCount
        case .acknowledge(let time): if unacknowledgedFaults.allSatisfy({ $0 <= time }) { unacknowledgedFaults = [] }
        default: break
        }
        let previousState = state.publishedState
        let effects = state.handle(action, at: RecorderMoment(monotonic: now))
        for effect in effects { perform(effect) }
        check(previousState: previousState, effects)
    }

    /// Updates the values that the invariants need.
    private mutating func recordInput(_ kind: RecorderInput.Kind) {
        switch kind {
        case .command(.start, _): lastStart = inputCount
        case .command(.stop, _), .shutDown: lastStop = inputCount
        case .command(.toggle, _): if state.willBeRecording { lastStop = inputCount } else { lastStart = inputCount }
        case .event(.fault), .event(.export(.failed, _, _)): unacknowledgedFaults.append(now)
        default: break
        }
    }

    private mutating func perform(_ effect: RecorderEffect) {
        switch effect {
        case .open(let attempt):
            expect(openAttempts.isEmpty && disks.values.allSatisfy(\.isClosed), "two recordings at once")
            expect(lastStart > lastStop, "a recording starts although the last command was a stop")
            expect(!isEnding, "a recording starts during the shutdown")
            openAttempts.insert(attempt)
            pending.append(.opened(attempt: attempt, recording: 0))
        case .record(let id):
            expect(disks.count { !$0.value.isClosed } == 1, "two recordings at once")
            expect(disks[id]?.hasBegun == false, "recording \(id) is recorded twice")
            disks[id]?.hasBegun = true
            let ends: [RecorderInput.RecordingEnd] = [
                .complete, .cancelled, .failed(DeviceError(.full, "world", "full"), isPublished: true),
                .failed(DeviceError(.failed, "world", "failed"), isPublished: false),
            ]
            pending += [.begun(id, RecorderInput.HealthCheck()), .closed(id), .ended(id, ends[id % ends.count])]
        case .setPaused(let id, let isPaused):
            expect(disks[id]?.isPaused == !isPaused, "recording \(id) is paused twice, or resumed twice")
            expect(disks[id]?.isClosed == false, "recording \(id) is paused although it is closed")
            disks[id]?.isPaused = isPaused
        case .redact(let id, _):
            expect(disks[id]?.isClosed == false, "recording \(id) is redacted although it is closed")
            pending.append(.marked(.success(Recorder.Answer(recording: id)), nil))
        case .check(let id): pending.append(.checked(id, RecorderInput.HealthCheck()))
        case .close(let id, _): expect(disks[id]?.hasBegun == true, "recording \(id) is closed before it is recorded")
        case .mark(let id, _, _, let ticket):
            expect(disks[id] != nil, "a mark without a recording")
            pending.append(.marked(.success(Recorder.Answer(recording: id)), ticket))
        case .answer(let ticket, let result):
            expect(waitingTickets.remove(ticket) != nil, "ticket \(ticket.id) is answered twice")
            if case .success(let answer) = result {
                let isCurrent = answer.recording == nil || answer.recording == state.recording
                let otherState: Event.State = state.isFaulted ? .faulted : .idle
                expect(answer.state == (isCurrent ? state.publishedState : otherState), "an answer has the wrong state")
            }
            if let stop = waitingStops.removeValue(forKey: ticket) { answeredStop = max(answeredStop, stop) }
        case .publish(.fault): unacknowledgedFaults.append(now)
        case .maintenance:
            expect(!isMaintaining, "maintenance started twice")
            isMaintaining = true
            pending.append(.maintenanceTranscribes(true))
            pending.append(.maintenanceEnded(ticketCount % 3 == 0 ? .failed(Self.noModel) : .done))
        case .interruptMaintenance: expect(isMaintaining, "maintenance is interrupted although it is not running")
        case .wake(let timer, _): pending.append(.due(timer))
        case .publish(.state(let state)): expect(state == self.state.publishedState, "the wrong state is published")
        case .publish, .log, .releaseWorkers, .powerOff: break
        }
    }

    private static let noModel = DeviceError(.missing, "world", "no model")

    private mutating func check(previousState: Event.State, _ effects: [RecorderEffect]) {
        let isOpen = disks.values.contains { !$0.isClosed }
        if answeredStop >= lastStart, answeredStop > 0 {
            expect(state.phase == .idle && !isOpen, "a recording runs although a stop was answered")
        }
        if let id = state.recording {
            expect(disks[id]?.isClosed == false, "recording \(id) is shown although it is closed")
            let checks = pending.count { if case .checked(id, _) = $0 { true } else { false } }
            expect(checks == 1, "\(checks) pending checks of recording \(id)")
        }
        expect(isOpen == (state.recording != nil), "the shown state is wrong")
        let faults = "\(unacknowledgedFaults.count) faults are unacknowledged"
        expect(state.isFaulted == !unacknowledgedFaults.isEmpty, "\(faults), but the state differs")
        let lamp = LampPattern(for: state)
        expect(lamp.isFaulted == !unacknowledgedFaults.isEmpty, "\(faults), but the lamp differs")
        for milliseconds in [0, 1_000, 2_999, 3_000, 9_000] {
            let time = now + .milliseconds(milliseconds)
            let isPaused = state.recording.map { disks[$0]?.isPaused ?? false } ?? false
            let showsPause = lamp.mode(at: time) == .paused
            expect(
                showsPause == (isPaused && state.publishedState == .paused),
                "the lamp and the state disagree about a pause")
            guard lamp.mode(at: time) == .steady else { continue }
            let syncedAt = state.recording.flatMap { disks[$0]?.syncedAt }
            expect(
                syncedAt.map { time < $0 + .seconds(3) } ?? false,
                "the lamp is steady although no bytes reached the disk")
        }
        let isPublished = effects.contains { if case .publish(.state) = $0 { true } else { false } }
        let hasResumed = previousState == .paused && state.publishedState == .recording
        let mustPublish = hasResumed || [.idle, .faulted, .paused].contains(state.publishedState)
        expect(
            isPublished == (mustPublish && state.publishedState != previousState),
            "\(state.publishedState) after \(previousState): published \(isPublished)")
        expect(state.isFaulted == lamp.isFaulted, "the lamp and the state disagree about a fault")
    }
}
