import Core

extension RecorderState {
    mutating func carryOut(_ order: RecorderOrder, _ ticket: RecorderTicket?, at now: Duration) -> [RecorderEffect] {
        switch order {
        case .start: start(ticket, at: now)
        case .stop: stop(.command, ticket)
        case .toggle: records ? stop(.command, ticket) : start(ticket, at: now)
        case .pause: setPaused(true, ticket, at: now)
        case .resume: setPaused(false, ticket, at: now)
        case .mark(let text): mark(text, at: now, ticket)
        }
    }

    /// Starts a recording. If one is starting or running, the caller waits for that one instead; a paused one is resumed.
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
        let change = isPaused ? OrderChange.paused : .resumed
        switch phase {
        case .opening(var opening) where opening.ending == nil:
            let isNew = isPaused != (opening.pausedSince != nil)
            opening.pausedSince = isPaused ? opening.pausedSince ?? now : nil
            // It has no number yet, and may not get one.
            if let ticket { opening.pauses.append(PauseOrder(ticket: ticket, change: isNew ? change : nil)) }
            phase = .opening(opening)
            return []
        case .recording(var recording):
            let isNew = isPaused != (recording.pausedSince != nil)
            let done = answer(
                ticket, .success(Recorder.Answer(recording: recording.id, change: isNew ? change : nil)))
            guard isNew else { return done }
            recording.pausedSince = isPaused ? now : nil
            // The wait for the disk begins again here.
            if !isPaused { recording.disk = .awaited(since: now) }
            let starts = isPaused ? answerStarts(of: &recording) : []
            phase = .recording(recording)
            return [.setPaused(recording.id, isPaused)] + starts + done
        case .idle, .opening, .closing:
            let order = isPaused ? "pause" : "resume"
            return refuse(ticket, noRecording(for: order) ?? Self.notBegun(order))
        }
    }

    /// Marks the position recorded at that time.
    mutating func mark(_ text: String, at time: Duration, _ ticket: RecorderTicket?) -> [RecorderEffect] {
        if let error = noRecording(for: "mark") { return refuse(ticket, error) }
        if isPaused {
            let words = "the recording is paused; resume it first, then mark"
            return refuse(ticket, DeviceError(.failed, "mark", words))
        }
        guard case .recording(let recording) = phase, recording.beginning == .begun else {
            return refuse(ticket, Self.notBegun("mark"))
        }
        return [.mark(recording.id, text: text, at: time, ticket)]
    }

    /// Redacts the minute before the three presses that began at that time.
    func redact(before time: Duration) -> [RecorderEffect] {
        guard case .recording(let recording) = phase, recording.beginning == .begun else {
            return refuse(nil, noRecording(for: "redact") ?? Self.notBegun("redact"))
        }
        return [.redact(recording.id, before: time)]
    }

    /// Answers with an error. For the button, the error goes to the log.
    private func refuse(_ ticket: RecorderTicket?, _ error: DeviceError) -> [RecorderEffect] {
        if let ticket { return [.answer(ticket, .failure(error))] }
        let values: KeyValuePairs = ["state": "refused", "order": error.operation, "message": error.message]
        return [.log(LogLine(.notice, "button", values))]
    }

    /// Why there is no recording to pause, resume, mark or redact; nil if one is starting or running.
    private func noRecording(for order: String) -> DeviceError? {
        let ending: Ending?
        switch phase {
        case .idle: ending = nil
        case .opening(let opening):
            guard let why = opening.ending else { return nil }
            ending = why
        case .recording: return nil
        case .closing(_, let why): ending = why
        }
        guard let ending else {
            let remedy = order == "mark" ? "start first, then mark" : "there is nothing to \(order)"
            return DeviceError(.failed, order, "nothing is being recorded; \(remedy)")
        }
        if ending.next != nil { return Self.notBegun(order) }
        return DeviceError(.failed, order, "the recording is being stopped; there is nothing to \(order)")
    }

    private static func notBegun(_ order: String) -> DeviceError {
        DeviceError(.failed, order, "the recording has not begun yet; \(order) it once sound is being written")
    }

    func answer(
        _ tickets: [RecorderTicket], _ result: Result<Recorder.Answer, DeviceError>
    ) -> [RecorderEffect] {
        tickets.map { .answer($0, result) }
    }

    /// Nobody waits for the answer if there is no ticket.
    func answer(
        _ ticket: RecorderTicket?, _ result: Result<Recorder.Answer, DeviceError>
    ) -> [RecorderEffect] {
        guard let ticket else { return [] }
        return [.answer(ticket, result)]
    }

    /// The answer to orders during shutdown.
    static let isEndingError = DeviceError(.failed, "recorder", "the appliance is shutting down")

    private static let takenBackError = DeviceError(
        .busy, "start", "it was stopped again before the previous recording was closed; start again")
}
