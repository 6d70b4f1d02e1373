import Configuration
import Control
import Core
import Exporting
import Upkeep

/// Carries out what clients ask over the control socket.
struct RecorderHandler: ControlHandler {
    let recorder: Recorder

    private let incoming = IncomingTexts()

    init(recorder: Recorder, settingsChanged: @escaping @Sendable () -> Void = {}) {
        self.recorder = recorder
        self.settingsChanged = settingsChanged
    }

    /// Called when somebody has brought other settings.
    var settingsChanged: @Sendable () -> Void

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
                    .unsupported, "press", "the button is a real one; press it by hand, or set panel.button = sim:")
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
        case .list, .show, .pass, .passes, .search, .delete, .verify, .exports, .exported, .importing:
            return try await ask(request)
        case .watch: return ControlResponse()
        }
    }

    /// The archive's requests.
    private func ask(_ request: ControlRequest) async throws -> ControlResponse {
        let own = recorder.configuration.storage.directory
        if let directory = request.directory, directory != own {
            throw DeviceError(
                .missing, "archive",
                "\(directory): the appliance records to \(own); name that folder instead"
            )
        }
        var response = ControlResponse()
        switch request.command {
        case .list: response.recordings = try await recorder.archive.recordings()
        case .show:
            let (archive, id) = (recorder.archive, request.recording ?? 0)
            let found =
                if let pass = request.pass { try await archive.transcript(of: id, pass: pass) } else {
                    try await archive.transcript(of: id)
                }
            response.transcript = found.map { ControlResponse.Transcript(summary: $0, timeline: $1) }
        case .pass: response.pass = try await recorder.archive.shownPass(of: request.recording ?? 0)
        case .passes: response.passes = try await recorder.archive.passes(of: request.recording ?? 0)
        case .search:
            response.hits = try await recorder.archive.search(request.words ?? "", limit: request.limit ?? 50)
        case .verify:
            response.findings = try await Verification(storage: own, archive: recorder.archive).run(
                request.recordings ?? [], recording: recorder.snapshot.live?.id, isQuick: request.quick ?? false)
        case .delete:
            let erasure = Erasure(storage: own, archive: recorder.archive)
            try await erasure.erase(request.recordings ?? [], recording: recorder.snapshot.live?.id)
            response.notes = try erasure.keptAside()
        case .importing:
            guard let part = request.part, let text = try incoming.take(part) else { break }
            let file = CorrectionImport.File(
                name: part.name, text: text, recording: request.recording, person: part.person,
                neighbour: part.neighbour.flatMap { RecordingIdentity(in: $0) })
            response.notes = [
                try await CorrectionImport(recorder.configuration, archive: recorder.archive).take(file)
            ]
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
