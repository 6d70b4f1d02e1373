import Core
import Panel
import Platform
import Recognizing
import Recording

/// The state of the recorder's loop.
struct RecorderWork {
    /// The recording that goes on.
    private struct Current {
        var live: LiveRecording
        var startReply: Recorder.Reply?
        var stopReplies: [Recorder.Reply] = []
        var isStopping = false
        var hasBegun = false
        /// When bytes last reached the disk, or it began.
        var grewAt: Duration
        var isStalled = false
    }

    /// How often a recording is looked at.
    private static let tick = Duration.milliseconds(250)

    /// Decode workers that nobody needed for so long are ended.
    private static let rest = Duration.seconds(30)

    /// So long without growth, and the process is no longer alive: the ring, which holds 30 s, has nothing more to save.
    static let stallLimit = Duration.seconds(32)

    let recorder: Recorder
    private var current: Current?
    /// An order to start that waits until the recording before is closed.
    private var next: (reason: StopReason, reply: Recorder.Reply?)?
    /// Recordings whose text is still being written.
    private var transcribing: Set<Int> = []
    /// Orders to start whose recording ended before it had begun; how, its outcome tells.
    private var starting: [Int: Recorder.Reply] = [:]
    private var latest = 0

    init(recorder: Recorder) { self.recorder = recorder }

    mutating func handle(_ message: Recorder.Message, in group: inout DiscardingTaskGroup) async {
        switch message {
        case .order(let order, let reason, let reply): await carryOut(order, reason, reply, in: &group)
        case .begun(let id): begun(id)
        case .closed(let id): await closed(id, in: &group)
        case .ended(let id, let result): await ended(id, result, in: &group)
        case .tick(let id): if current?.live.id == id { tick() }
        case .rest(let id):
            if id == latest, current == nil, transcribing.isEmpty { await recorder.restWorkers() }
        case .isAlive(let reply):
            reply.resume(returning: current.map { PanelDesk.now - $0.grewAt < Self.stallLimit } ?? true)
        }
    }

    private mutating func carryOut(
        _ order: Recorder.Order, _ reason: StopReason, _ reply: Recorder.Reply?, in group: inout DiscardingTaskGroup
    ) async {
        switch order {
        case .start: await start(reason, reply, in: &group)
        case .stop: stop(reason, reply)
        case .toggle:
            if current.map({ !$0.isStopping }) ?? false {
                stop(reason, reply)
            } else {
                await start(reason, reply, in: &group)
            }
        case .mark(let text, let ago): await mark(text, ago: ago, reply)
        }
    }

    private mutating func start(
        _ reason: StopReason, _ reply: Recorder.Reply?, in group: inout DiscardingTaskGroup
    ) async {
        if let current, !current.isStopping {
            reply?.resume(returning: .success(Recorder.Answer(recording: current.live.id)))
        } else if current != nil {
            next?.reply?.resume(returning: .failure(DeviceError(.busy, "start", "somebody else has started it")))
            next = (reason, reply)
        } else {
            await begin(reply, in: &group)
        }
    }

    private mutating func begin(_ reply: Recorder.Reply?, in group: inout DiscardingTaskGroup) async {
        let recorder = recorder
        let live: LiveRecording
        do {
            let capture = CaptureSession(try recorder.microphone.get(), configuration: recorder.configuration)
            // The microphone hears while the disk makes room.
            group.addTask { try? await capture.run() }
            live = try await LiveRecording(
                configuration: recorder.configuration, archive: recorder.archive, capture: capture, hub: recorder.hub)
        } catch {
            let failure = DeviceError(wrapping: error)
            tell(failure)
            recorder.panel.tell(.recording(false))
            reply?.resume(returning: .failure(failure))
            return
        }
        var pool: WorkerPool?
        do { pool = try recorder.workers() } catch { tell(DeviceError(wrapping: error)) }
        let workers = pool
        current = Current(live: live, startReply: reply, grewAt: PanelDesk.now)
        latest = live.id
        recorder.show(.recording, live: live)
        recorder.panel.tell(.recording(true))
        group.addTask {
            do {
                let outcome = try await live.run(pool: workers, alternatives: 3, waitsForRoom: true)
                recorder.post(.ended(live.id, .success(outcome)))
            } catch { recorder.post(.ended(live.id, .failure(error))) }
        }
        group.addTask {
            if await live.reaches(SamplePosition(1)) { recorder.post(.begun(live.id)) }
            _ = await live.reaches(SamplePosition(Int64.max))
            recorder.post(.closed(live.id))
        }
        group.addTask {
            while recorder.live?.id == live.id, (try? await Task.sleep(for: Self.tick)) != nil {
                recorder.post(.tick(live.id))
            }
        }
    }

    private mutating func begun(_ id: Int) {
        guard current?.live.id == id else { return }
        current?.hasBegun = true
        current?.startReply?.resume(returning: .success(Recorder.Answer(recording: id)))
        current?.startReply = nil
        tick()
    }

    private mutating func stop(_ reason: StopReason, _ reply: Recorder.Reply?) {
        guard current != nil else {
            reply?.resume(returning: .success(Recorder.Answer()))
            return
        }
        if let reply { current?.stopReplies.append(reply) }
        current?.isStopping = true
        // The next press starts another.
        recorder.panel.tell(.recording(false))
        recorder.show(.stopping, live: current?.live)
        current?.live.stop(reason: reason)
    }

    private func mark(_ text: String, ago: Duration, _ reply: Recorder.Reply?) async {
        guard let current, current.hasBegun, !current.isStopping else {
            reply?.resume(
                returning: .failure(
                    DeviceError(.failed, "mark", "nothing is being recorded; start first, then mark")))
            return
        }
        do {
            let mark = try await current.live.mark(text, ago: ago)
            recorder.panel.tell(.mark)
            reply?.resume(returning: .success(Recorder.Answer(recording: current.live.id, mark: mark)))
        } catch {
            let failure = DeviceError(wrapping: error)
            tell(failure)
            reply?.resume(returning: .failure(failure))
        }
    }

    /// Looks whether the recording grows; the lamp says so, and so does the watchdog.
    private mutating func tick() {
        guard var now = current else { return }
        recorder.panel.tell(.microphone(alive: now.live.microphoneIsAlive))
        if let time = now.live.diskProgress, time > now.grewAt {
            (now.grewAt, now.isStalled) = (time, false)
            recorder.panel.tell(.written)
        } else if !now.isStalled, now.hasBegun, now.live.microphoneIsAlive,
            PanelDesk.now - now.grewAt > PanelLamp.patience
        {
            now.isStalled = true
            tell(
                DeviceError(
                    .failed, "write",
                    "recording \(now.live.id): nothing has reached the disk for 3 s; check microphone and card"))
        }
        current = now
    }

    private mutating func closed(_ id: Int, in group: inout DiscardingTaskGroup) async {
        guard let ending = current, ending.live.id == id else { return }
        current = nil
        transcribing.insert(id)
        recorder.panel.tell(.transcribing(true))
        recorder.panel.tell(.recording(false))
        recorder.show(recorder.panel.isFaulted ? .faulted : .idle, live: nil)
        for reply in ending.stopReplies { reply.resume(returning: .success(Recorder.Answer(recording: id))) }
        if let reply = ending.startReply { starting[id] = reply }
        if let next {
            self.next = nil
            await begin(next.reply, in: &group)
        }
    }

    private mutating func ended(
        _ id: Int, _ result: Result<LiveRecording.Outcome, any Error>, in group: inout DiscardingTaskGroup
    ) async {
        await closed(id, in: &group)
        transcribing.remove(id)
        recorder.panel.tell(.transcribing(!transcribing.isEmpty))
        let reply = starting.removeValue(forKey: id)
        switch result {
        case .success(let outcome):
            reply?.resume(
                returning: outcome.recording.error.map { .failure($0) } ?? .success(Recorder.Answer(recording: id)))
        case .failure(let error):
            let failure = DeviceError(wrapping: error)
            if !(error is CancellationError) { tell(failure) }
            reply?.resume(returning: .failure(failure))
        }
        guard current == nil, transcribing.isEmpty else { return }
        recorder.rest()
        let recorder = recorder
        group.addTask {
            guard (try? await Task.sleep(for: Self.rest)) != nil else { return }
            recorder.post(.rest(after: id))
        }
    }

    private func tell(_ failure: DeviceError) {
        recorder.hub.publish(.fault(code: failure.code.rawValue, message: failure.message))
    }
}

extension DeviceError {
    /// Any error as one of a device.
    init(wrapping error: any Error) {
        self = error as? DeviceError ?? DeviceError(.failed, "fieldscribe", "\(error)")
    }
}
