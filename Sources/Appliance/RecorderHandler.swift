import Configuration
import Control
import Core
import Upkeep

/// Carries out what clients ask over the control socket.
struct RecorderHandler: ControlHandler {
    let recorder: Recorder

    /// Called when somebody has brought other settings.
    var settingsChanged: @Sendable () -> Void = {}

    func respond(to request: ControlRequest) async throws -> ControlResponse {
        switch request {
        case .start: return ControlResponse(try await recorder.perform(.start, reason: .command).get())
        case .stop: return ControlResponse(try await recorder.perform(.stop, reason: .command).get())
        case .toggle: return ControlResponse(try await recorder.perform(.toggle, reason: .command).get())
        case .mark(let text):
            return ControlResponse(try await recorder.perform(.mark(text: text, ago: .zero), reason: .command).get())
        case .press, .release:
            guard recorder.panel.simulate(pressed: request == .press) else {
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
        case .exporting(let state, let message):
            recorder.hub.publish(.export(state, folder: "", message: message))
            return ControlResponse()
        case .settings:
            settingsChanged()
            return ControlResponse()
        case .archive(let request, let directory): return try await answer(request, in: directory)
        case .watch: return ControlResponse()
        }
    }

    private func answer(_ request: ArchiveRequest, in directory: String?) async throws -> ControlResponse {
        let own = recorder.configuration.storage.directory
        if let directory, directory != own {
            throw DeviceError(
                .missing, "archive",
                "\(directory): the appliance records to \(own); name that folder instead"
            )
        }
        let archive = recorder.archive
        var response = ControlResponse()
        switch request {
        case .list: response.recordings = try await archive.recordings()
        case .show(let recording):
            response.transcript = try await archive.transcript(of: recording).map {
                ControlResponse.Transcript(summary: $0, timeline: $1)
            }
        case .pass(let recording): response.pass = try await archive.shownPass(of: recording)
        case .search(let words, let limit): response.hits = try await archive.search(words, limit: limit)
        case .verify(let recordings, let isQuick):
            response.findings = try await Verification(storage: own, archive: archive).run(
                recordings, recording: recorder.snapshot.live?.id, isQuick: isQuick)
        case .delete(let recordings):
            let erasure = Erasure(storage: own, archive: archive)
            try await erasure.erase(recordings, recording: recorder.snapshot.live?.id)
            response.notes = try erasure.keptAside()
        case .exportsOf(let recording): response.exports = try await archive.exports(of: recording)
        case .exportsTo(let volume): response.exports = try await archive.exports(to: volume)
        case .exported(let entry): try await archive.add(entry)
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
