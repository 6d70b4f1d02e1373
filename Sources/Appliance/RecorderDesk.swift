import Configuration
import Control
import Core
import Upkeep

/// Carries out what clients ask over the control socket.
struct RecorderDesk: ControlDesk {
    let recorder: Recorder

    /// Called when somebody has brought other settings.
    var settingsChanged: @Sendable () -> Void = {}

    func respond(to request: ControlRequest) async throws -> ControlResponse {
        switch request.command {
        case .start: return ControlResponse(try await recorder.perform(.start, reason: .command).get())
        case .stop: return ControlResponse(try await recorder.perform(.stop, reason: .command).get())
        case .toggle: return ControlResponse(try await recorder.perform(.toggle, reason: .command).get())
        case .mark:
            let order = Recorder.Order.mark(text: request.text ?? "", ago: .zero)
            return ControlResponse(try await recorder.perform(order, reason: .command).get())
        case .press, .release:
            guard recorder.panel.simulate(pressed: request.command == .press) else {
                throw DeviceError(
                    .unsupported, "press", "the button is a real one; press it, or set panel.button = sim:")
            }
            return ControlResponse()
        case .lamp:
            var response = ControlResponse()
            response.lamp = recorder.panel.history
            return response
        case .status:
            var response = ControlResponse()
            response.status = try await status()
            return response
        case .exporting:
            let event = Event.export(request.export ?? .started, folder: "", message: request.text ?? "")
            recorder.hub.publish(event)
            return ControlResponse()
        case .settings:
            settingsChanged()
            return ControlResponse()
        case .list, .show, .pass, .search, .delete, .verify, .exports, .exported: return try await ask(request)
        case .watch: return ControlResponse()
        }
    }

    /// The archive's requests.
    private func ask(_ request: ControlRequest) async throws -> ControlResponse {
        let own = recorder.configuration.storage.directory
        if let directory = request.directory, directory != own {
            throw DeviceError(.missing, "archive", "\(directory): the appliance records to \(own)")
        }
        var response = ControlResponse()
        switch request.command {
        case .list: response.recordings = try await recorder.archive.recordings()
        case .show:
            response.transcript = try await recorder.archive.transcript(of: request.recording ?? 0).map {
                ControlResponse.Transcript(summary: $0, timeline: $1)
            }
        case .pass: response.pass = try await recorder.archive.shownPass(of: request.recording ?? 0)
        case .search:
            response.hits = try await recorder.archive.search(request.words ?? "", limit: request.limit ?? 50)
        case .verify:
            response.findings = try await Verification(storage: own, archive: recorder.archive).run(
                request.recordings ?? [], recording: recorder.snapshot.live?.id, isQuick: request.quick ?? false)
        case .delete:
            let erasure = Erasure(storage: own, archive: recorder.archive)
            try await erasure.erase(request.recordings ?? [], recording: recorder.snapshot.live?.id)
            response.notes = try erasure.keptAside()
        case .exports:
            response.exports =
                if let volume = request.volume { try await recorder.archive.exports(to: volume) } else {
                    try await recorder.archive.exports(of: request.recording ?? 0)
                }
        case .exported: if let entry = request.entry { try await recorder.archive.add(entry) }
        default: break
        }
        return response
    }

    func watch(partials: Bool) -> (now: Event.State, events: AsyncStream<Event>) {
        let events = recorder.hub.events(withPartials: partials)
        return (recorder.snapshot.state, events)
    }
}

extension ControlResponse {
    fileprivate init(_ answer: Recorder.Answer) {
        self.init()
        recording = answer.recording
        mark = answer.mark
    }
}
