import Audio
import Core
import Maintenance
import Recognition
import Settings
import System

/// Owns `RecorderState` and performs its effects. The loop waits only for the next message: slow work runs in tasks,
/// which post a message when they finish.
struct RecorderLoop {
    /// A recording that is being recorded or transcribed.
    private struct ActiveRecording {
        var recording: LiveRecording
        var pool: WorkerPool?
    }

    private static let checkInterval = Duration.milliseconds(250)

    private let recorder: Recorder
    private let inbox: RecorderInbox
    private let maintenance: BackgroundMaintenance
    private var state = RecorderState()
    private var lamp = LampPattern()
    private var activeRecordings: [Int: ActiveRecording] = [:]
    private var replies: [RecorderTicket: RecorderMessage.Reply] = [:]
    private var ticketCount = 0
    /// Stops the running maintenance when finished.
    private var maintenanceStop: AsyncStream<Never>.Continuation?

    init(recorder: Recorder) {
        self.recorder = recorder
        let inbox = recorder.inbox
        self.inbox = inbox
        let panel = recorder.configuration.panel
        state.button = ButtonInterpreter(panel.style, shutsDown: panel.shutdown)
        maintenance = BackgroundMaintenance(
            configuration: recorder.configuration, archive: recorder.archive, hub: recorder.hub,
            workers: recorder.workers, progress: recorder.secondPass, opened: recorder.opened, repairs: recorder.repairs
        ) { isTranscribing in inbox.postInput(.maintenanceTranscribes(isTranscribing)) }
    }

    mutating func begin(in group: inout DiscardingTaskGroup) { apply(.started, at: .now, in: &group) }

    mutating func handle(_ message: RecorderMessage, in group: inout DiscardingTaskGroup) {
        switch message {
        case .input(let input): apply(input.kind, at: input.moment, in: &group)
        case .command(let command, let moment, let reply):
            apply(.command(command, ticket(for: reply)), at: moment, in: &group)
        case .shutDown(let moment, let reply): apply(.shutDown(ticket(for: reply)), at: moment, in: &group)
        case .opened(let attempt, let recording, let pool, let moment):
            activeRecordings[recording.id] = ActiveRecording(recording: recording, pool: pool)
            apply(.opened(attempt: attempt, recording: recording.id), at: moment, in: &group)
        case .prepareForRestart(let reply):
            let canRestart = state.canRestart(at: PanelController.now)
            if canRestart { apply(.shutDown(nil), at: .now, in: &group) }
            reply.resume(returning: canRestart)
        case .isAlive(let reply): reply.resume(returning: state.isAlive(at: PanelController.now))
        }
    }

    /// Stops maintenance, and answers all callers that still wait, since no more messages will arrive.
    mutating func end() {
        maintenanceStop?.finish()
        for reply in replies.values { reply.resume(returning: .failure(RecorderState.shutdownError)) }
        replies = [:]
    }

    private mutating func ticket(for reply: RecorderMessage.Reply) -> RecorderTicket {
        ticketCount += 1
        let ticket = RecorderTicket(id: ticketCount)
        replies[ticket] = reply
        return ticket
    }

    private mutating func apply(
        _ kind: RecorderInput.Kind, at moment: RecorderMoment, in group: inout DiscardingTaskGroup
    ) {
        // The repairs complete the recording's files once nothing is being recorded.
        if case .ended(let id, _) = kind { recorder.repairs?.add(id) }
        let effects = state.handle(RecorderInput(kind, at: moment))
        // The snapshot is published before any answer, so that a client that then asks for the state sees the result.
        recorder.publish(
            RecorderSnapshot(
                state: state.publishedState, live: state.recording.flatMap { activeRecordings[$0]?.recording },
                activeRecordings: activeRecordings.mapValues(\.recording), isOpen: state.phase != .idle,
                hasLaptop: state.laptopSince != nil,
                lastFault: state.lastFault))
        let lamp = LampPattern(for: state)
        if lamp != self.lamp { recorder.panel.show(lamp) }
        self.lamp = lamp
        for effect in effects { perform(effect, in: &group) }
        if case .ended(let id, _) = kind { activeRecordings[id] = nil }
    }

    private mutating func perform(_ effect: RecorderEffect, in group: inout DiscardingTaskGroup) {
        switch effect {
        case .open(let attempt): open(attempt, in: &group)
        case .record(let id): if let live = activeRecordings[id] { record(live.recording, with: live.pool, in: &group) }
        case .check(let id):
            guard let live = activeRecordings[id]?.recording else { break }
            post(after: Self.checkInterval, in: &group) { .checked(id, live.healthCheck) }
        case .close(let id, let reason): activeRecordings[id]?.recording.stop(reason: reason)
        case .setPaused(let id, let isPaused): activeRecordings[id]?.recording.session.setPaused(isPaused)
        case .mark(let id, let text, let time, let ticket):
            if let live = activeRecordings[id]?.recording { mark(live, text, at: time, ticket, in: &group) }
        case .redact(let id, let time): if activeRecordings[id] != nil { redact(id, before: time, in: &group) }
        case .answer(let ticket, let result): replies.removeValue(forKey: ticket)?.resume(returning: result)
        case .publish(let event): recorder.hub.forward(event)
        case .log(let line): recorder.write(line)
        case .maintenance: beginMaintenance(in: &group)
        case .interruptMaintenance: maintenanceStop?.finish()
        case .wake(let timer, let pause): post(after: pause, in: &group) { .due(timer) }
        case .releaseWorkers: group.addTask { [workers = recorder.workers] in await workers.releaseIdle() }
        case .powerOff: powerOff(in: &group)
        }
    }
}

// Tasks for slow work. Each posts its result as a message.
extension RecorderLoop {
    private func post(
        after pause: Duration, in group: inout DiscardingTaskGroup,
        _ kind: @escaping @Sendable () -> RecorderInput.Kind
    ) {
        group.addTask { [inbox] in
            if (try? await Task.sleep(for: pause)) != nil { inbox.postInput(kind()) }
        }
    }

    private func open(_ attempt: Int, in group: inout DiscardingTaskGroup) {
        let capture: RecordingSession
        do {
            capture = RecordingSession(try recorder.microphone.get(), configuration: recorder.configuration)
        } catch { return inbox.postInput(.openFailed(attempt: attempt, DeviceError(wrapping: error))) }
        // Capturing starts before the archive and the disk are ready, so that no words are lost.
        group.addTask { try? await capture.capture() }
        group.addTask { [inbox, recorder] in
            let live: LiveRecording
            do {
                live = try await LiveRecording(
                    configuration: recorder.configuration, archive: recorder.archive, capture: capture,
                    hub: recorder.hub)
            } catch { return inbox.postInput(.openFailed(attempt: attempt, DeviceError(wrapping: error))) }
            var pool: WorkerPool?
            do { pool = try recorder.workers.liveWorkers() } catch {
                recorder.hub.publish(fault: DeviceError(wrapping: error))
            }
            inbox.post(.opened(attempt: attempt, live, pool, .now))
        }
    }

    private func record(_ live: LiveRecording, with pool: WorkerPool?, in group: inout DiscardingTaskGroup) {
        group.addTask { [inbox] in
            let end: RecorderInput.RecordingEnd
            do {
                let outcome = try await live.run(pool: pool, alternatives: 3, waitsForSpace: true)
                end = outcome.recording.error.map { .failed($0, isPublished: true) } ?? .complete
            } catch is CancellationError { end = .cancelled } catch {
                end = .failed(DeviceError(wrapping: error), isPublished: false)
            }
            inbox.postInput(.ended(live.id, end))
        }
        group.addTask { [inbox] in
            if await live.waitUntilWritten(upTo: SamplePosition(1)) {
                inbox.postInput(.begun(live.id, live.healthCheck))
            }
            _ = await live.waitUntilWritten(upTo: SamplePosition(Int64.max))
            inbox.postInput(.closed(live.id))
        }
    }

    private func mark(
        _ live: LiveRecording, _ text: String, at time: Duration, _ ticket: RecorderTicket?,
        in group: inout DiscardingTaskGroup
    ) {
        group.addTask { [inbox] in
            do {
                let mark = try await live.mark(text, ago: max(.zero, PanelController.now - time))
                inbox.postInput(.marked(.success(Recorder.Answer(recording: live.id, mark: mark)), ticket))
            } catch { inbox.postInput(.marked(.failure(DeviceError(wrapping: error)), ticket)) }
        }
    }

    private func redact(_ id: Int, before time: Duration, in group: inout DiscardingTaskGroup) {
        group.addTask { [inbox, recorder] in
            do {
                try await recorder.redactMinute(before: time, of: id)
                inbox.postInput(.marked(.success(Recorder.Answer(recording: id)), nil))
            } catch { inbox.postInput(.marked(.failure(DeviceError(wrapping: error)), nil)) }
        }
    }

    private mutating func beginMaintenance(in group: inout DiscardingTaskGroup) {
        let (stopRequests, continuation) = AsyncStream<Never>.makeStream()
        maintenanceStop = continuation
        group.addTask { [inbox, maintenance] in
            inbox.postInput(.maintenanceEnded(await maintenance.run(until: stopRequests)))
        }
    }

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
        RecorderInput.HealthCheck(syncedAt: observer.syncedAt, microphoneIsAlive: microphoneIsAlive)
    }
}
