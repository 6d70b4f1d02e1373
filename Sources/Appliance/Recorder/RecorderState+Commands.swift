import Core

extension RecorderState {
    mutating func execute(_ command: RecorderCommand, _ ticket: RecorderTicket?, at now: Duration) -> [RecorderEffect] {
        switch command {
        case .start: start(ticket, at: now)
        case .stop: stop(.command, ticket)
        case .toggle: willBeRecording ? stop(.command, ticket) : start(ticket, at: now)
        case .pause: setPaused(true, ticket, at: now)
        case .resume: setPaused(false, ticket, at: now)
        case .mark(let text): mark(text, at: now, ticket)
        }
    }

    /// Starts a recording. If one is already starting or running, the answer is about that one, which is resumed if it
    /// is paused.
    mutating func start(_ ticket: RecorderTicket?, at now: Duration) -> [RecorderEffect] {
        let tickets = [ticket].compactMap { $0 }
        if isEnding { return answer(tickets, .failure(Self.shutdownError)) }
        switch phase {
        case .idle: return begin(tickets, at: now)
        case .opening(var opening):
            if var ending = opening.ending {
                ending.next = (ending.next ?? []) + tickets
                opening.ending = ending
            } else {
                opening.starts += tickets
                opening.pausedSince = nil
            }
            phase = .opening(opening)
        case .recording(var recording):
            if recording.pausedSince != nil { return setPaused(false, ticket, at: now) }
            guard case .awaited(let starts) = recording.beginning else {
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

    /// Stops the current recording, and cancels a start that is waiting for it to close.
    mutating func stop(_ reason: StopReason, _ ticket: RecorderTicket?) -> [RecorderEffect] {
        let tickets = [ticket].compactMap { $0 }
        switch phase {
        case .idle: return answer(tickets, .success(Recorder.Answer()))
        case .opening(var opening):
            var ending = opening.ending ?? Ending(reason: reason, stops: [])
            let cancelled = cancelStart(&ending)
            ending.stops += tickets
            opening.ending = ending
            phase = .opening(opening)
            return cancelled
        case .recording(let recording):
            phase = .closing(recording, Ending(reason: reason, stops: tickets))
            return [.close(recording.id, reason)]
        case .closing(let recording, var ending):
            let cancelled = cancelStart(&ending)
            ending.stops += tickets
            phase = .closing(recording, ending)
            return cancelled
        }
    }

    private func cancelStart(_ ending: inout Ending) -> [RecorderEffect] {
        defer { ending.next = nil }
        return answer(ending.next ?? [], .failure(isEnding ? Self.shutdownError : Self.cancelledStartError))
    }

    /// Pauses or resumes the recording that is running or being opened.
    mutating func setPaused(_ isPaused: Bool, _ ticket: RecorderTicket?, at now: Duration) -> [RecorderEffect] {
        let change = isPaused ? RecorderChange.paused : .resumed
        switch phase {
        case .opening(var opening) where opening.ending == nil:
            let isNew = isPaused != (opening.pausedSince != nil)
            opening.pausedSince = isPaused ? opening.pausedSince ?? now : nil
            // The answer waits, because the recording has no number yet and may never get one.
            if let ticket { opening.pauses.append(PauseRequest(ticket: ticket, change: isNew ? change : nil)) }
            phase = .opening(opening)
            return []
        case .recording(var recording):
            let isNew = isPaused != (recording.pausedSince != nil)
            let done = answer(
                ticket, .success(Recorder.Answer(recording: recording.id, change: isNew ? change : nil)))
            guard isNew else { return done }
            recording.pausedSince = isPaused ? now : nil
            // The disk timeout starts again.
            if !isPaused { recording.disk = .awaited(since: now) }
            let starts = isPaused ? answerStarts(of: &recording) : []
            phase = .recording(recording)
            return [.setPaused(recording.id, isPaused)] + starts + done
        case .idle, .opening, .closing:
            let command = isPaused ? "pause" : "resume"
            return refuse(ticket, noRecording(for: command) ?? Self.notBegun(command))
        }
    }

    /// Marks the position that was recorded at that time.
    mutating func mark(_ text: String, at time: Duration, _ ticket: RecorderTicket?) -> [RecorderEffect] {
        if let error = noRecording(for: "mark") { return refuse(ticket, error) }
        if isPaused {
            let message = "the recording is paused; resume it first, then mark"
            return refuse(ticket, DeviceError(.failed, "mark", message))
        }
        guard case .recording(let recording) = phase, recording.beginning == .begun else {
            return refuse(ticket, Self.notBegun("mark"))
        }
        return [.mark(recording.id, text: text, at: time, ticket)]
    }

    /// Redacts the minute before that time, which is when the first of three presses began.
    func redact(before time: Duration) -> [RecorderEffect] {
        guard case .recording(let recording) = phase, recording.beginning == .begun else {
            return refuse(nil, noRecording(for: "redact") ?? Self.notBegun("redact"))
        }
        return [.redact(recording.id, before: time)]
    }

    /// Answers with an error. If there is no ticket, the command came from the button, and the error is logged.
    private func refuse(_ ticket: RecorderTicket?, _ error: DeviceError) -> [RecorderEffect] {
        if let ticket { return [.answer(ticket, .failure(error))] }
        let values: KeyValuePairs = ["state": "refused", "order": error.operation, "message": error.message]
        return [.log(LogLine(.notice, "button", values))]
    }

    /// Returns why there is no recording to pause, resume, mark or redact; nil if one is starting or running.
    private func noRecording(for command: String) -> DeviceError? {
        let ending: Ending?
        switch phase {
        case .idle: ending = nil
        case .opening(let opening):
            guard let current = opening.ending else { return nil }
            ending = current
        case .recording: return nil
        case .closing(_, let current): ending = current
        }
        guard let ending else {
            let remedy = command == "mark" ? "start first, then mark" : "there is nothing to \(command)"
            return DeviceError(.failed, command, "nothing is being recorded; \(remedy)")
        }
        if ending.next != nil { return Self.notBegun(command) }
        return DeviceError(.failed, command, "the recording is being stopped; there is nothing to \(command)")
    }

    private static func notBegun(_ command: String) -> DeviceError {
        DeviceError(
            .failed, command, "the recording has not begun yet; wait until sound is being written, then \(command)")
    }

    func answer(
        _ tickets: [RecorderTicket], _ result: Result<Recorder.Answer, DeviceError>
    ) -> [RecorderEffect] {
        tickets.map { .answer($0, result) }
    }

    /// Answers a caller. Does nothing if there is no ticket.
    func answer(
        _ ticket: RecorderTicket?, _ result: Result<Recorder.Answer, DeviceError>
    ) -> [RecorderEffect] {
        guard let ticket else { return [] }
        return [.answer(ticket, result)]
    }

    /// The answer to commands during shutdown.
    static let shutdownError = DeviceError(.failed, "recorder", "the appliance is shutting down")

    private static let cancelledStartError = DeviceError(
        .busy, "start", "a stop cancelled the start before the previous recording was closed; start again")
}
