import TestKit

@testable import Appliance
@testable import Core

/// Simulates everything around the recorder's state machine: people, disk, microphone, workers. It performs effects late and in
/// any order, and checks the invariants.
struct RecorderWorld {
    /// The file of a recording.
    private struct Disk {
        var grewAt: Duration?
        var isClosed = false
        var hasBegun = false
        var microphoneIsAlive = true
        var isPaused = false
    }

    private enum Happening {
        case input(RecorderInput.Kind)
        /// What a gesture of the button means.
        case action(ButtonInterpreter.Action)
    }

    private(set) var problems: [String] = []
    private var state = RecorderState()
    private var now = Duration.seconds(10)
    /// The pending answers to effects.
    private var pending: [RecorderInput.Kind] = []
    private var disks: [Int: Disk] = [:]
    private var recordings = 0
    private var openings: Set<Int> = []
    private var tickets = 0
    private var waiting: Set<RecorderTicket> = []
    /// The waiting stop orders, with the number of their inputs.
    private var stops: [RecorderTicket: Int] = [:]
    private var inputs = 0
    /// The last input that requested a recording, and the last that requested none.
    private var (lastStart, lastStop) = (0, 0)
    /// The latest stop that was answered.
    private var answeredStop = 0
    /// When unacknowledged faults occurred.
    private var unseen: [Duration] = []
    private var isMaintaining = false
    private var isEnding = false

    init() { take(.started) }

    /// Performs one random event.
    mutating func step(_ generator: inout SeededGenerator) {
        now += .milliseconds(Int.random(in: 0...1_500, using: &generator))
        grow(&generator)
        if !pending.isEmpty, Int.random(in: 0..<2, using: &generator) == 0 {
            deliver(&generator)
        } else {
            switch happening(&generator) {
            case .input(let kind): take(kind)
            case .action(let action): take(action)
            }
        }
    }

    /// Shuts down and answers all effects; then no caller may still wait.
    mutating func settle(_ generator: inout SeededGenerator) {
        isEnding = true
        take(.shutDown(ticket(stops: true)))
        var left = 2_000
        while left > 0, pending.contains(where: { !Self.isWait($0) }) {
            left -= 1
            now += .milliseconds(1)
            deliver(&generator)
        }
        expect(left > 0, "it does not end")
        expect(waiting.isEmpty, "nobody answered \(waiting.map(\.number).sorted())")
        expect(state.phase == .idle && state.texts.isEmpty, "at the end: \(state)")
    }

    private mutating func expect(_ holds: Bool, _ problem: String) {
        if !holds { problems.append("input \(inputs): \(problem)") }
    }

    // Events.

    private mutating func ticket(stops isStop: Bool = false) -> RecorderTicket {
        tickets += 1
        let ticket = RecorderTicket(number: tickets)
        waiting.insert(ticket)
        if isStop { stops[ticket] = inputs + 1 }
        return ticket
    }

    private mutating func happening(_ generator: inout SeededGenerator) -> Happening {
        let error = DeviceError(.failed, "world", "number \(Int.random(in: 0..<3, using: &generator))")
        switch Int.random(in: 0..<26, using: &generator) {
        case 0...3: return .input(.order(.start, ticket()))
        case 4...6: return .input(.order(.stop, ticket(stops: true)))
        case 7, 8: return .input(.order(.toggle, ticket(stops: state.records)))
        case 9: return .input(.order(.mark(text: ""), ticket()))
        case 20: return .input(.order(.pause, ticket()))
        case 21: return .input(.order(.resume, ticket()))
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
            if disks[id]?.isPaused == false, Int.random(in: 0..<3, using: &generator) > 0 { disks[id]?.grewAt = now }
        }
    }

    private mutating func deliver(_ generator: inout SeededGenerator) {
        guard !pending.isEmpty else { return }
        let kind = pending.remove(at: Int.random(in: 0..<pending.count, using: &generator))
        switch kind {
        case .checked(let id, _): take(.checked(id, look(at: id)))
        case .begun(let id, _): take(.begun(id, look(at: id)))
        case .opened(let attempt, _): opened(attempt, &generator)
        case .closed(let id), .ended(let id, _):
            disks[id]?.isClosed = true
            take(kind)
        case .maintenanceEnded:
            isMaintaining = false
            take(kind)
        default: take(kind)
        }
    }

    private mutating func opened(_ attempt: Int, _ generator: inout SeededGenerator) {
        openings.remove(attempt)
        if Int.random(in: 0..<4, using: &generator) == 0 {
            return take(.refused(attempt: attempt, DeviceError(.missing, "world", "no microphone")))
        }
        recordings += 1
        disks[recordings] = Disk()
        take(.opened(attempt: attempt, recording: recordings))
    }

    private func look(at id: Int) -> RecorderInput.HealthCheck {
        RecorderInput.HealthCheck(
            grewAt: disks[id]?.grewAt, microphoneIsAlive: disks[id]?.microphoneIsAlive ?? false)
    }

    /// Timers may fire at any time; nothing waits for them.
    private static func isWait(_ kind: RecorderInput.Kind) -> Bool {
        if case .due = kind { true } else { false }
    }

    // The machine's effects.

    private mutating func take(_ kind: RecorderInput.Kind) {
        inputs += 1
        note(kind)
        let before = state.shown
        let effects = state.handle(RecorderInput(kind, at: RecorderMoment(monotonic: now)))
        for effect in effects { follow(effect) }
        check(shownBefore: before, effects)
    }

    private mutating func take(_ action: ButtonInterpreter.Action) {
        inputs += 1
        switch action {
        case .start: lastStart = inputs
        case .stop: lastStop = inputs
        case .acknowledge(let time): if unseen.allSatisfy({ $0 <= time }) { unseen = [] }
        default: break
        }
        let before = state.shown
        let effects = state.handle(action, at: RecorderMoment(monotonic: now))
        for effect in effects { follow(effect) }
        check(shownBefore: before, effects)
    }

    /// Records an input's meaning for the invariants.
    private mutating func note(_ kind: RecorderInput.Kind) {
        switch kind {
        case .order(.start, _): lastStart = inputs
        case .order(.stop, _), .shutDown: lastStop = inputs
        case .order(.toggle, _): if state.records { lastStop = inputs } else { lastStart = inputs }
        case .event(.fault), .event(.export(.failed, _, _)): unseen.append(now)
        default: break
        }
    }

    private mutating func follow(_ effect: RecorderEffect) {
        switch effect {
        case .open(let attempt):
            expect(openings.isEmpty && disks.values.allSatisfy(\.isClosed), "two recordings at once")
            expect(lastStart > lastStop, "a stop is undone")
            expect(!isEnding, "something begins after the end")
            openings.insert(attempt)
            pending.append(.opened(attempt: attempt, recording: 0))
        case .record(let id):
            expect(disks.count { !$0.value.isClosed } == 1, "two recordings at once")
            expect(disks[id]?.hasBegun == false, "recording \(id) is recorded twice")
            disks[id]?.hasBegun = true
            let ends: [RecorderInput.RecordingEnd] = [
                .complete, .cancelled, .broken(DeviceError(.full, "world", "full")),
                .failed(DeviceError(.failed, "world", "failed")),
            ]
            pending += [.begun(id, RecorderInput.HealthCheck()), .closed(id), .ended(id, ends[id % ends.count])]
        case .setPaused(let id, let isPaused):
            expect(disks[id]?.isPaused == !isPaused, "recording \(id) is paused twice, or resumed twice")
            expect(disks[id]?.isClosed == false, "recording \(id) is closed, and paused")
            disks[id]?.isPaused = isPaused
        case .redact(let id, _):
            expect(disks[id]?.isClosed == false, "recording \(id) is closed, and redacted by a press")
            pending.append(.marked(.success(Recorder.Answer(recording: id)), nil))
        case .check(let id): pending.append(.checked(id, RecorderInput.HealthCheck()))
        case .close(let id, _): expect(disks[id]?.hasBegun == true, "recording \(id) is closed before it is recorded")
        case .mark(let id, _, _, let ticket):
            expect(disks[id] != nil, "a mark without a recording")
            pending.append(.marked(.success(Recorder.Answer(recording: id)), ticket))
        case .answer(let ticket, let result):
            expect(waiting.remove(ticket) != nil, "\(ticket.number) is answered twice")
            if case .success(let answer) = result {
                let isCurrent = answer.recording == nil || answer.recording == state.recording
                let left: Event.State = state.isFaulted ? .faulted : .idle
                expect(answer.state == (isCurrent ? state.shown : left), "an answer names the wrong state")
            }
            if let stop = stops.removeValue(forKey: ticket) { answeredStop = max(answeredStop, stop) }
        case .publish(.fault): unseen.append(now)
        case .maintenance:
            expect(!isMaintaining, "maintenance started twice")
            isMaintaining = true
            pending += [.maintenanceWrites(true), .maintenanceEnded(tickets % 3 == 0 ? .failed(Self.noModel) : .done)]
        case .interruptMaintenance: expect(isMaintaining, "maintenance is interrupted although it is not running")
        case .wake(let timer, _): pending.append(.due(timer))
        case .publish(.state(let state)): expect(state == self.state.shown, "the wrong state is published")
        case .publish, .log, .releaseWorkers, .powerOff: break
        }
    }

    private static let noModel = DeviceError(.missing, "world", "no model")

    private mutating func check(shownBefore before: Event.State, _ effects: [RecorderEffect]) {
        let isOpen = disks.values.contains { !$0.isClosed }
        if answeredStop >= lastStart, answeredStop > 0 {
            expect(state.phase == .idle && !isOpen, "a stop that was answered is undone")
        }
        if let id = state.recording {
            expect(disks[id]?.isClosed == false, "recording \(id) is shown, and is closed")
            let looks = pending.count { if case .checked(id, _) = $0 { true } else { false } }
            expect(looks == 1, "\(looks) checks recording \(id)")
        }
        expect(isOpen == (state.recording != nil), "the shown state is wrong")
        expect(state.isFaulted == !unseen.isEmpty, "\(unseen.count) faults are not acknowledged")
        let lamp = LampPattern(for: state)
        expect(lamp.isFaulted == !unseen.isEmpty, "\(unseen.count) faults are not shown")
        for late in [0, 1_000, 2_999, 3_000, 9_000] {
            let then = now + .milliseconds(late)
            let isPaused = state.recording.map { disks[$0]?.isPaused ?? false } ?? false
            let isShownPaused = lamp.mode(at: then) == .paused
            expect(isShownPaused == (isPaused && state.shown == .paused), "the lamp shows a pause wrongly")
            guard lamp.mode(at: then) == .steady else { continue }
            let grewAt = state.recording.flatMap { disks[$0]?.grewAt }
            expect(
                grewAt.map { then < $0 + .seconds(3) } ?? false, "the lamp is steady although nothing is on the disk")
        }
        let isTold = effects.contains { if case .publish(.state) = $0 { true } else { false } }
        let hasResumed = before == .paused && state.shown == .recording
        let isOurs = hasResumed || [.idle, .faulted, .paused].contains(state.shown)
        expect(isTold == (isOurs && state.shown != before), "\(state.shown) behind \(before): told \(isTold)")
        expect(state.isFaulted == lamp.isFaulted, "the lamp shows a fault wrongly")
    }
}
