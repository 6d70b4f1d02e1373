import Audio
import Core
import Maintenance
import Recognition
import Settings
import System

/// Owns `RecorderState` and performs its effects. The loop waits only for the next message. Slow work runs in
/// tasks, which post a message when they end.
struct RecorderLoop {
    /// A recording that is being recorded or transcribed.
    private struct Live {
        var recording: LiveRecording
        var pool: WorkerPool?
    }

    /// How often to check a recording.
    private static let period = Duration.milliseconds(250)

    private let recorder: Recorder
    private let inbox: RecorderInbox
    private let maintenance: BackgroundMaintenance
    private var state = RecorderState()
    private var lamp = LampPattern()
    private var lives: [Int: Live] = [:]
    private var replies: [RecorderTicket: RecorderMessage.Reply] = [:]
    private var tickets = 0
    /// Cancels the running maintenance.
    private var maintenanceEnd: AsyncStream<Never>.Continuation?

    init(recorder: Recorder) {
        self.recorder = recorder
        let inbox = recorder.inbox
        self.inbox = inbox
        let panel = recorder.configuration.panel
        state.button = ButtonInterpreter(panel.style, shutsDown: panel.shutdown)
        maintenance = BackgroundMaintenance(
            configuration: recorder.configuration, archive: recorder.archive, hub: recorder.hub,
            workers: recorder.workers, progress: recorder.secondPass, opened: recorder.opened, repairs: recorder.repairs
        ) { writes in inbox.tell(.maintenanceWrites(writes)) }
    }

    mutating func begin(in group: inout DiscardingTaskGroup) { apply(.started, at: .now, in: &group) }

    mutating func handle(_ message: RecorderMessage, in group: inout DiscardingTaskGroup) {
        switch message {
        case .input(let input): apply(input.kind, at: input.moment, in: &group)
        case .order(let order, let moment, let reply):
            apply(.order(order, ticket(for: reply)), at: moment, in: &group)
        case .shutDown(let moment, let reply): apply(.shutDown(ticket(for: reply)), at: moment, in: &group)
        case .opened(let attempt, let recording, let pool, let moment):
            lives[recording.id] = Live(recording: recording, pool: pool)
            apply(.opened(attempt: attempt, recording: recording.id), at: moment, in: &group)
        case .retire(let reply):
            let isFree = state.isFree(at: PanelController.now)
            if isFree { apply(.shutDown(nil), at: .now, in: &group) }
            reply.resume(returning: isFree)
        case .isAlive(let reply): reply.resume(returning: state.isAlive(at: PanelController.now))
        }
    }

    /// Answers all waiting callers; no more messages will come.
    mutating func end() {
        maintenanceEnd?.finish()
        for reply in replies.values { reply.resume(returning: .failure(RecorderState.isEndingError)) }
        replies = [:]
    }

    private mutating func ticket(for reply: RecorderMessage.Reply) -> RecorderTicket {
        tickets += 1
        let ticket = RecorderTicket(number: tickets)
        replies[ticket] = reply
        return ticket
    }

    private mutating func apply(
        _ kind: RecorderInput.Kind, at moment: RecorderMoment, in group: inout DiscardingTaskGroup
    ) {
        // Repairs join its files once nothing is being recorded.
        if case .ended(let id, _) = kind { recorder.repairs?.add(id) }
        let effects = state.handle(RecorderInput(kind, at: moment))
        // Published before anyone is answered, so that a client that asks again sees the result.
        recorder.publish(
            RecorderSnapshot(
                state: state.shown, live: state.recording.flatMap { lives[$0]?.recording },
                lives: lives.mapValues(\.recording), isOpen: state.phase != .idle, hasLaptop: state.laptopSince != nil,
                lastFault: state.lastFault))
        let lamp = LampPattern(for: state)
        if lamp != self.lamp { recorder.panel.show(lamp) }
        self.lamp = lamp
        for effect in effects { perform(effect, in: &group) }
        if case .ended(let id, _) = kind { lives[id] = nil }
    }

    private mutating func perform(_ effect: RecorderEffect, in group: inout DiscardingTaskGroup) {
        switch effect {
        case .open(let attempt): open(attempt, in: &group)
        case .record(let id): if let live = lives[id] { record(live.recording, with: live.pool, in: &group) }
        case .check(let id):
            guard let live = lives[id]?.recording else { break }
            later(by: Self.period, in: &group) { .checked(id, live.healthCheck) }
        case .close(let id, let reason): lives[id]?.recording.stop(reason: reason)
        case .setPaused(let id, let isPaused): lives[id]?.recording.session.setPaused(isPaused)
        case .mark(let id, let text, let time, let ticket):
            if let live = lives[id]?.recording { mark(live, text, at: time, ticket, in: &group) }
        case .redact(let id, let time): if lives[id] != nil { redact(id, before: time, in: &group) }
        case .answer(let ticket, let result): replies.removeValue(forKey: ticket)?.resume(returning: result)
        case .publish(let event): recorder.hub.pass(on: event)
        case .log(let line): recorder.write(line)
        case .maintenance: beginMaintenance(in: &group)
        case .interruptMaintenance: maintenanceEnd?.finish()
        case .wake(let timer, let pause): later(by: pause, in: &group) { .due(timer) }
        case .releaseWorkers: group.addTask { [workers = recorder.workers] in await workers.releaseIdle() }
        case .powerOff: powerOff(in: &group)
        }
    }
}

// Tasks for slow work.
extension RecorderLoop {
    private func later(
        by pause: Duration, in group: inout DiscardingTaskGroup,
        _ kind: @escaping @Sendable () -> RecorderInput.Kind
    ) {
        group.addTask { [inbox] in
            if (try? await Task.sleep(for: pause)) != nil { inbox.tell(kind()) }
        }
    }

    private func open(_ attempt: Int, in group: inout DiscardingTaskGroup) {
        let capture: RecordingSession
        do {
            capture = RecordingSession(try recorder.microphone.get(), configuration: recorder.configuration)
        } catch { return inbox.tell(.refused(attempt: attempt, DeviceError(wrapping: error))) }
        // Capture starts while the archive and the disk get ready.
        group.addTask { try? await capture.capture() }
        group.addTask { [inbox, recorder] in
            let live: LiveRecording
            do {
                live = try await LiveRecording(
                    configuration: recorder.configuration, archive: recorder.archive, capture: capture,
                    hub: recorder.hub)
            } catch { return inbox.tell(.refused(attempt: attempt, DeviceError(wrapping: error))) }
            var pool: WorkerPool?
            do { pool = try recorder.workers.readers() } catch {
                recorder.hub.publish(fault: DeviceError(wrapping: error))
            }
            inbox.post(.opened(attempt: attempt, live, pool, .now))
        }
    }

    private func record(_ live: LiveRecording, with pool: WorkerPool?, in group: inout DiscardingTaskGroup) {
        group.addTask { [inbox] in
            let end: RecorderInput.RecordingEnd
            do {
                let outcome = try await live.run(pool: pool, alternatives: 3, waitsForRoom: true)
                end = outcome.recording.error.map { .broken($0) } ?? .complete
            } catch { end = error is CancellationError ? .cancelled : .failed(DeviceError(wrapping: error)) }
            inbox.tell(.ended(live.id, end))
        }
        group.addTask { [inbox] in
            if await live.reaches(SamplePosition(1)) { inbox.tell(.begun(live.id, live.healthCheck)) }
            _ = await live.reaches(SamplePosition(Int64.max))
            inbox.tell(.closed(live.id))
        }
    }

    private func mark(
        _ live: LiveRecording, _ text: String, at time: Duration, _ ticket: RecorderTicket?,
        in group: inout DiscardingTaskGroup
    ) {
        group.addTask { [inbox] in
            do {
                let mark = try await live.mark(text, ago: max(.zero, PanelController.now - time))
                inbox.tell(.marked(.success(Recorder.Answer(recording: live.id, mark: mark)), ticket))
            } catch { inbox.tell(.marked(.failure(DeviceError(wrapping: error)), ticket)) }
        }
    }

    private func redact(_ id: Int, before time: Duration, in group: inout DiscardingTaskGroup) {
        group.addTask { [inbox, recorder] in
            do {
                try await recorder.redactMinute(before: time, of: id)
                inbox.tell(.marked(.success(Recorder.Answer(recording: id)), nil))
            } catch { inbox.tell(.marked(.failure(DeviceError(wrapping: error)), nil)) }
        }
    }

    private mutating func beginMaintenance(in group: inout DiscardingTaskGroup) {
        let (asked, end) = AsyncStream<Never>.makeStream()
        maintenanceEnd = end
        group.addTask { [inbox, maintenance] in inbox.tell(.maintenanceEnded(await maintenance.run(until: asked))) }
    }

    /// Asks systemd to shut the machine down, this process included.
    private func powerOff(in group: inout DiscardingTaskGroup) {
        group.addTask { [recorder] in
            do {
                try await onThread(named: "poweroff") {
                    let child = try ChildProcess("/usr/bin/systemctl", arguments: ["--no-ask-password", "poweroff"])
                    guard try child.exitStatus(timeoutSeconds: 60) == 0 else {
                        throw DeviceError(
                            .denied, "systemctl",
                            "systemctl poweroff was refused; allow it in polkit, or set panel.shutdown = no")
                    }
                }
            } catch { recorder.hub.publish(.fault(code: "panel", message: DeviceError(wrapping: error).message)) }
        }
    }
}

extension LiveRecording {
    fileprivate var healthCheck: RecorderInput.HealthCheck {
        RecorderInput.HealthCheck(grewAt: observer.syncedAt, microphoneIsAlive: microphoneIsAlive)
    }
}
