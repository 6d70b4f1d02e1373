import Core

extension RecorderState {
    mutating func carryOut(
        _ order: Recorder.Order, _ reason: StopReason, _ ticket: RecorderTicket?, at now: Duration
    ) -> [RecorderEffect] {
        switch order {
        case .start: start(ticket, at: now)
        case .stop: stop(reason, ticket)
        case .toggle: records ? stop(reason, ticket) : start(ticket, at: now)
        case .pause: setPaused(true, ticket, at: now)
        case .resume: setPaused(false, ticket, at: now)
        case .mark(let text, let ago): mark(text, at: now - ago, ticket)
        }
    }

    /// Starts a recording. If one is starting or running, the caller waits for that one instead.
    mutating func start(_ ticket: RecorderTicket?, at now: Duration) -> [RecorderEffect] {
        let tickets = [ticket].compactMap { $0 }
        if isEnding { return answer(tickets, .failure(Self.isEndingError)) }
        switch phase {
        case .idle: return begin(tickets, at: now)
        case .opening(var opening):
            if var ending = opening.ending {
                ending.next = (ending.next ?? []) + tickets
                opening.ending = ending
            } else {
                opening.starts += tickets
            }
            phase = .opening(opening)
        case .recording(var recording):
            guard case .awaited(let starts) = recording.beginning, recording.pausedSince == nil else {
                return answer(tickets, .success(Recorder.Answer(recording: recording.id)))
            }
            recording.beginning = .awaited(starts + tickets)
            phase = .recording(recording)
        case .closing(let recording, var ending):
            ending.next = (ending.next ?? []) + tickets
            phase = .closing(recording, ending)
        }
        return []
    }

    /// Ends the current recording, and cancels a start that waits for its end: an earlier start never undoes a stop.
    mutating func stop(_ reason: StopReason, _ ticket: RecorderTicket?) -> [RecorderEffect] {
        let tickets = [ticket].compactMap { $0 }
        switch phase {
        case .idle: return answer(tickets, .success(Recorder.Answer()))
        case .opening(var opening):
            var ending = opening.ending ?? Ending(reason: reason, stops: [])
            let takenBack = takeBack(&ending)
            ending.stops += tickets
            opening.ending = ending
            phase = .opening(opening)
            return takenBack
        case .recording(let recording):
            phase = .closing(recording, Ending(reason: reason, stops: tickets))
            return [.close(recording.id, reason)]
        case .closing(let recording, var ending):
            let takenBack = takeBack(&ending)
            ending.stops += tickets
            phase = .closing(recording, ending)
            return takenBack
        }
    }

    private func takeBack(_ ending: inout Ending) -> [RecorderEffect] {
        defer { ending.next = nil }
        return answer(ending.next ?? [], .failure(isEnding ? Self.isEndingError : Self.takenBackError))
    }

    /// Pauses or resumes the recording that runs or is being opened.
    mutating func setPaused(_ isPaused: Bool, _ ticket: RecorderTicket?, at now: Duration) -> [RecorderEffect] {
        let tickets = [ticket].compactMap { $0 }
        switch phase {
        case .opening(var opening) where opening.ending == nil:
            opening.pausedSince = isPaused ? opening.pausedSince ?? now : nil
            phase = .opening(opening)
            return answer(tickets, .success(Recorder.Answer()))
        case .recording(var recording):
            let done = answer(tickets, .success(Recorder.Answer(recording: recording.id)))
            guard isPaused != (recording.pausedSince != nil) else { return done }
            recording.pausedSince = isPaused ? now : nil
            // The wait for the disk begins again here.
            if !isPaused { recording.disk = .awaited(since: now) }
            let starts = isPaused ? answerStarts(of: &recording) : []
            phase = .recording(recording)
            return [.setPaused(recording.id, isPaused)] + starts + done
        case .idle, .opening, .closing:
            let words = "nothing is being recorded; there is nothing to \(isPaused ? "pause" : "go on with")"
            return answer(tickets, .failure(DeviceError(.failed, isPaused ? "pause" : "resume", words)))
        }
    }

    /// Marks the place that was recorded at that time.
    mutating func mark(_ text: String, at time: Duration, _ ticket: RecorderTicket?) -> [RecorderEffect] {
        if case .recording(let recording) = phase, recording.beginning == .begun {
            guard recording.pausedSince == nil else {
                let error = DeviceError(.failed, "mark", "the recording is paused; resume it first, then mark")
                return answer([ticket].compactMap { $0 }, .failure(error))
            }
            return [.mark(recording.id, text: text, at: time, ticket)]
        }
        let error = DeviceError(.failed, "mark", "nothing is being recorded; start first, then mark")
        return answer([ticket].compactMap { $0 }, .failure(error))
    }

    func answer(
        _ tickets: [RecorderTicket], _ result: Result<Recorder.Answer, DeviceError>
    ) -> [RecorderEffect] {
        tickets.map { .answer($0, result) }
    }

    /// The answer to orders during shutdown.
    static let isEndingError = DeviceError(.failed, "recorder", "the appliance is shutting down")

    private static let takenBackError = DeviceError(
        .busy, "start", "it was stopped again before the previous recording was closed; start again")
}
