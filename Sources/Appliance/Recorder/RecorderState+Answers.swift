import Core
import Maintenance

// Inputs that report the results of effects. They arrive in any order.
extension RecorderState {
    /// The minimum and maximum pause before failed maintenance is retried. The pause doubles each time.
    private static let retryPauses = Duration.seconds(60)...Duration.seconds(3_600)

    mutating func begin(_ starts: [RecorderTicket], at now: Duration) -> [RecorderEffect] {
        attempts += 1
        phase = .opening(Opening(attempt: attempts, since: now, starts: starts))
        return [.open(attempt: attempts)]
    }

    mutating func opened(_ attempt: Int, _ id: Int, at now: Duration) -> [RecorderEffect] {
        guard case .opening(let opening) = phase, opening.attempt == attempt else { return [] }
        var recording = Recording(id: id, beginning: .awaited(opening.starts), disk: .awaited(since: now))
        recording.pausedSince = opening.pausedSince
        latestRecording = id
        var effects: [RecorderEffect] = [.record(id), .check(id)] + interruptMaintenance()
        for request in opening.pauses {
            effects += answer([request.ticket], .success(Recorder.Answer(recording: id, change: request.change)))
        }
        if recording.pausedSince != nil {
            effects.insert(.setPaused(id, true), at: 0)
            effects += answerStarts(of: &recording)
        }
        guard let ending = opening.ending else {
            phase = .recording(recording)
            return effects
        }
        phase = .closing(recording, ending)
        return effects + [.close(id, ending.reason)]
    }

    mutating func openFailed(_ attempt: Int, _ error: DeviceError, at moment: RecorderMoment) -> [RecorderEffect] {
        guard case .opening(let opening) = phase, opening.attempt == attempt else { return [] }
        phase = .idle
        var effects = raise(error, at: moment) + answer(opening.starts, .failure(error))
        effects += answer(opening.pauses.map(\.ticket), .failure(error))
        effects += answer(opening.ending?.stops ?? [], .success(Recorder.Answer()))
        if let next = opening.ending?.next { effects += begin(next, at: moment.monotonic) }
        return effects
    }

    /// Answers the callers that wait for a paused recording to begin, since it gets no samples until it is resumed.
    func answerStarts(of recording: inout Recording) -> [RecorderEffect] {
        guard case .awaited(let starts) = recording.beginning else { return [] }
        recording.beginning = .awaited([])
        return answer(starts, .success(Recorder.Answer(recording: recording.id, change: .started)))
    }

    mutating func begun(_ id: Int) -> [RecorderEffect] {
        let success = Result<Recorder.Answer, DeviceError>.success(
            Recorder.Answer(recording: id, change: .started))
        if let transcription = transcriptions[id] {
            transcriptions[id]?.starts = []
            return answer(transcription.starts, success)
        }
        var starts: [RecorderTicket] = []
        changeRecording(id) { recording in
            if case .awaited(let tickets) = recording.beginning { starts = tickets }
            recording.beginning = .begun
        }
        return answer(starts, success)
    }

    /// Updates a recording's health, on which the lamp and the watchdog depend.
    mutating func checked(
        _ id: Int, _ health: RecorderInput.HealthCheck, at moment: RecorderMoment
    ) -> [RecorderEffect] {
        var hasStalled = false
        changeRecording(id) { recording in
            recording.microphoneIsAlive = health.microphoneIsAlive
            if let time = health.syncedAt, time > recording.disk.time {
                recording.disk = .written(at: time)
                return
            }
            if case .stalled = recording.disk { return }
            if recording.pausedSince != nil { return }
            let since = recording.disk.time
            guard recording.beginning == .begun, health.microphoneIsAlive,
                moment.monotonic - since > LampPattern.diskTimeout
            else { return }
            recording.disk = .stalled(since: since)
            hasStalled = true
        }
        guard hasStalled else { return [] }
        let message = "recording \(id): nothing has reached the disk for 3 s; check the microphone and the card"
        return raise(DeviceError(.failed, "write", message), at: moment)
    }

    mutating func closed(_ id: Int, at now: Duration) -> [RecorderEffect] {
        guard recording == id else { return [] }
        let (closed, ending): (Recording, Ending?)
        switch phase {
        case .idle, .opening: return []
        case .recording(let recording): (closed, ending) = (recording, nil)
        case .closing(let recording, let current): (closed, ending) = (recording, current)
        }
        var starts: [RecorderTicket] = []
        if case .awaited(let tickets) = closed.beginning { starts = tickets }
        transcriptions[id] = Transcription(since: now, starts: starts)
        phase = .idle
        let effects = answer(
            ending?.stops ?? [], .success(Recorder.Answer(recording: id, change: .stopped)))
        return effects + (ending?.next.map { begin($0, at: now) } ?? [])
    }

    mutating func ended(
        _ id: Int, _ end: RecorderInput.RecordingEnd, at moment: RecorderMoment
    ) -> [RecorderEffect] {
        var effects = closed(id, at: moment.monotonic)
        guard let transcription = transcriptions.removeValue(forKey: id) else { return effects }
        switch end {
        case .complete:
            effects += answer(transcription.starts, .success(Recorder.Answer(recording: id, change: .started)))
        case .cancelled: effects += answer(transcription.starts, .failure(Self.neverBegun(id)))
        case .failed(let error, let isPublished):
            if !isPublished { effects += raise(error, at: moment) }
            effects += answer(transcription.starts, .failure(error))
        }
        guard isIdle else { return effects }
        switch maintenance {
        case .done, .waiting: maintenance = .due
        case .due, .working, .interrupting: break
        }
        lastFailure = nil
        return effects + [.wake(.release(after: latestRecording), after: Self.releaseDelay)]
    }

    mutating func marked(
        _ result: Result<Recorder.Answer, DeviceError>, _ ticket: RecorderTicket?, at moment: RecorderMoment
    ) -> [RecorderEffect] {
        var effects = answer(ticket, result)
        switch result {
        case .success: markedAt = moment.monotonic
        case .failure(let error): effects += raise(error, at: moment)
        }
        return effects
    }

    mutating func interruptMaintenance() -> [RecorderEffect] {
        guard case .working(let since) = maintenance else { return [] }
        maintenance = .interrupting(transcribingSince: since)
        return [.interruptMaintenance]
    }

    mutating func maintenanceEnded(_ end: BackgroundMaintenance.End, at moment: RecorderMoment) -> [RecorderEffect] {
        let wasInterrupted: Bool
        switch maintenance {
        case .working: wasInterrupted = false
        case .interrupting: wasInterrupted = true
        case .done, .due, .waiting: return []
        }
        guard case .failed(let error) = end else {
            maintenance = wasInterrupted ? .due : .done
            lastFailure = nil
            return []
        }
        // A repeated failure is reported only once.
        let effects = lastFailure?.error == error ? [] : raise("backlog", error.message, at: moment)
        if wasInterrupted {
            maintenance = .due
            return effects
        }
        let pause = min(lastFailure.map { $0.pause * 2 } ?? Self.retryPauses.lowerBound, Self.retryPauses.upperBound)
        lastFailure = MaintenanceFailure(error: error, pause: pause)
        maintenance = .waiting
        return effects + [.wake(.maintenance(run: maintenanceRuns), after: pause)]
    }

    private mutating func changeRecording(_ id: Int, _ change: (inout Recording) -> Void) {
        switch phase {
        case .recording(var recording) where recording.id == id:
            change(&recording)
            phase = .recording(recording)
        case .closing(var recording, let ending) where recording.id == id:
            change(&recording)
            phase = .closing(recording, ending)
        default: break
        }
    }

    private static func neverBegun(_ id: Int) -> DeviceError {
        DeviceError(.failed, "start", "recording \(id) was stopped before anything was recorded; start again")
    }
}
