import Core
import System

extension RecorderState {
    /// Applies an input to the state. The caller must perform the effects in order.
    mutating func handle(_ input: RecorderInput) -> [RecorderEffect] { addingCommonEffects { $0.apply(input) } }

    /// Applies a change. Then starts maintenance that is due, publishes the state if it has changed, and adds the state
    /// to each answer.
    mutating func addingCommonEffects(_ change: (inout Self) -> [RecorderEffect]) -> [RecorderEffect] {
        let before = publishedState
        var effects = change(&self)
        if isIdle, !isEnding, maintenance == .due {
            maintenance = .working(transcribingSince: nil)
            maintenanceRuns += 1
            effects.append(.maintenance)
        }
        // `LiveRecording` publishes `recording` and `stopping` itself.
        let hasResumed = before == .paused && publishedState == .recording
        if publishedState != before,
            hasResumed || publishedState == .idle || publishedState == .faulted || publishedState == .paused
        {
            effects += [.publish(.state(publishedState)), .log(LogLine(publishedState, recording: recording))]
        }
        return effects.map { effect in
            guard case .answer(let ticket, .success(var answer)) = effect else { return effect }
            answer.state = state(of: answer.recording)
            return .answer(ticket, .success(answer))
        }
    }

    private mutating func apply(_ input: RecorderInput) -> [RecorderEffect] {
        let now = input.moment.monotonic
        switch input.kind {
        case .started: return []
        case .command(let command, let ticket): return execute(command, ticket, at: now)
        case .button(let event):
            let actions = button.handle(event, isRecording: willBeRecording, isPaused: isPaused, isFaulted: isFaulted)
            var effects: [RecorderEffect] = []
            for action in actions { effects += perform(action, at: input.moment) }
            return effects
        case .shutDown(let ticket):
            isEnding = true
            return interruptMaintenance() + stop(.shutdown, ticket)
        case .opened(let attempt, let id): return opened(attempt, id, at: now)
        case .openFailed(let attempt, let error): return openFailed(attempt, error, at: input.moment)
        case .begun(let id, let health): return begun(id) + checked(id, health, at: input.moment)
        case .checked(let id, let health):
            let effects = checked(id, health, at: input.moment)
            return recording == id ? effects + [.check(id)] : effects
        case .closed(let id): return closed(id, at: now)
        case .ended(let id, let end): return ended(id, end, at: input.moment)
        case .marked(let result, let ticket): return marked(result, ticket, at: input.moment)
        case .event(let event): return apply(event, at: input.moment)
        case .added(let id): return added(id)
        case .maintenanceTranscribes(let isTranscribing):
            if case .working = maintenance { maintenance = .working(transcribingSince: isTranscribing ? now : nil) }
            return []
        case .maintenanceEnded(let end): return maintenanceEnded(end, at: input.moment)
        case .due(.release(let id)): return id == latestRecording && isIdle ? [.releaseWorkers] : []
        case .due(.maintenance(let run)):
            if maintenance == .waiting, run == maintenanceRuns { maintenance = .due }
            return []
        }
    }

    mutating func perform(_ action: ButtonInterpreter.Action, at moment: RecorderMoment) -> [RecorderEffect] {
        let now = moment.monotonic
        switch action {
        case .start: return start(nil, at: now)
        case .stop: return stop(.button, nil)
        case .mark(let time): return mark("", at: time, nil)
        case .redact(let time): return redact(before: time)
        case .pause: return setPaused(true, nil, at: now)
        case .resume: return setPaused(false, nil, at: now)
        case .acknowledge(let time): return acknowledge(at: time)
        case .stuck:
            return raise(
                "panel", "the button is stuck down; check it for a short circuit. It is ignored until it is released",
                at: moment)
        case .unstuck: return [.log(LogLine(.information, "button", ["state": "free"]))]
        case .shutDown: return [.log(LogLine(.notice, "shutdown", ["by": "button"])), .powerOff]
        }
    }

    /// Applies an event that was published elsewhere.
    private mutating func apply(_ event: Event, at moment: RecorderMoment) -> [RecorderEffect] {
        switch event {
        case .state(let state): return [.log(LogLine(state, recording: recording))]
        case .fault(let code, let message): return raise(code, message, at: moment, isPublished: true)
        case .gap(let recording, let gap): return [.log(LogLine(recording: recording, gap))]
        case .mark(let recording, let mark):
            let values: KeyValuePairs = ["recording": "\(recording)", "time": "\(mark.position.seconds)"]
            return [.log(LogLine(.information, "mark", values))]
        case .export(let state, let folder, let message): return exports(state, folder, message, at: moment)
        case .laptop(let isConnected): return laptop(isConnected, at: moment.monotonic)
        case .opened(let recordings): return opened(recordings, at: moment.monotonic)
        case .level, .partial, .final, .rotation: return []
        }
    }

    private mutating func exports(
        _ state: Event.ExportState, _ folder: String, _ message: String, at moment: RecorderMoment
    ) -> [RecorderEffect] {
        let line = LogLine(
            state == .failed ? .error : .information, "export",
            ["state": state.rawValue, "folder": folder, "message": message])
        switch state {
        case .started: export = .running(since: moment.monotonic)
        case .finished:
            export = .done(at: moment.monotonic)
            // With `storage.after-export`, maintenance may erase copied recordings.
            if case .done = maintenance { maintenance = .due }
        // A copy to another stick may be running.
        case .refused:
            if case .running = export { break }
            export = .refused(at: moment.monotonic)
        case .failed:
            if case .running = export { export = .none }
            // Raises a fault for the lamp and the status; subscribers already have the export event.
            return [.log(line)] + raise("export", message, at: moment, isPublished: true)
        }
        return [.log(line)]
    }

    /// Ignores an event that changes nothing: the laptop's state is reported repeatedly, so that an appliance that has
    /// just started learns it too.
    private mutating func laptop(_ isConnected: Bool, at now: Duration) -> [RecorderEffect] {
        guard isConnected != (laptopSince != nil) else { return [] }
        laptopSince = isConnected ? now : nil
        return [.log(LogLine(.information, "laptop", ["state": isConnected ? "connected" : "away"]))]
    }

    /// Updates whether sealed recordings are open. Starts maintenance, since open recordings may need a second pass.
    private mutating func opened(_ recordings: [Int], at now: Duration) -> [RecorderEffect] {
        openSince = recordings.isEmpty ? nil : openSince ?? now
        if !recordings.isEmpty, case .done = maintenance { maintenance = .due }
        // Maintenance that is running may be past its step for open recordings, or may be transcribing a recording that
        // is now locked.
        return interruptMaintenance() + [
            .log(
                LogLine(
                    .notice, "opened",
                    ["state": recordings.isEmpty ? "locked" : "open", "recordings": "\(recordings.count)"]))
        ]
    }

    /// Restarts maintenance, which may be past the step that the added recording needs.
    private mutating func added(_ id: Int) -> [RecorderEffect] {
        if maintenance == .done { maintenance = .due }
        return interruptMaintenance() + [.log(LogLine(.information, "added", ["recording": "\(id)"]))]
    }

    /// Raises the alarm, which lasts until it is acknowledged, and reports the fault.
    ///
    /// - Parameter isPublished: whether the fault was already sent to subscribers.
    mutating func raise(
        _ code: String, _ message: String, at moment: RecorderMoment, isPublished: Bool = false
    ) -> [RecorderEffect] {
        let isNew = lastFault.map { $0.code != code || $0.message != message } ?? true
        lastFault = RecorderFault(code: code, message: message, moment: moment)
        let now = moment.monotonic
        switch alarm {
        case .quiet: alarm = .raised(since: now, latest: now)
        case .raised(let since, let latest): alarm = .raised(since: since, latest: max(latest, now))
        }
        var effects: [RecorderEffect] = isPublished ? [] : [.publish(.fault(code: code, message: message))]
        // A repeated fault is logged once; the lamp shows it each time.
        if isNew { effects.append(.log(LogLine(.error, "fault", ["code": code, "message": message]))) }
        return effects
    }

    mutating func raise(_ error: DeviceError, at moment: RecorderMoment) -> [RecorderEffect] {
        raise(error.code.rawValue, error.message, at: moment)
    }

    /// Acknowledges the alarm unless a fault occurred after that time, since the user has not seen such a fault.
    private mutating func acknowledge(at time: Duration) -> [RecorderEffect] {
        guard case .raised(_, let latest) = alarm, latest <= time else { return [] }
        alarm = .quiet
        return [.log(LogLine(.information, "acknowledged"))]
    }
}
