import Core
import Exporting
import FoundationEssentials
import Platform

/// Carries out what clients ask over the control socket.
struct ControlDesk: Sendable {
    let recorder: Recorder

    func answer(_ job: ControlExchange.Job, on exchange: ControlExchange) async {
        let request: ControlRequest
        do { request = try ControlLine.decode(ControlRequest.self, from: job.line) } catch {
            let refusal = DeviceError(.unsupported, "control", "unknown request; the client may be of another version")
            return exchange.answer(job.client, ControlLine.encode(ControlResponse(refusal)))
        }
        Log.debug(.control, "request", ["command": request.command.rawValue, "client": "\(job.client)"])
        if request.command == .watch { return await watch(job, on: exchange, partials: request.partials ?? false) }
        exchange.answer(job.client, ControlLine.encode(await response(to: request, of: job)))
    }

    /// What reads the archive ends with its client; an order that was taken is carried out.
    private func response(to request: ControlRequest, of job: ControlExchange.Job) async -> ControlResponse {
        guard request.command.onlyReads else { return await response(to: request) }
        return await withTaskGroup(of: ControlResponse?.self) { group in
            group.addTask { await response(to: request) }
            group.addTask {
                for await _ in job.gone {}
                return nil
            }
            defer { group.cancelAll() }
            return await group.next().flatMap { $0 }
                ?? ControlResponse(DeviceError(.disconnected, "control", "the client has disconnected"))
        }
    }

    private func response(to request: ControlRequest) async -> ControlResponse {
        do { return try await respond(to: request) } catch { return ControlResponse(DeviceError(wrapping: error)) }
    }

    private func respond(to request: ControlRequest) async throws -> ControlResponse {
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
        case .list, .show, .pass, .search, .delete, .verify, .exports, .exported: return try await ask(request)
        case .watch: return ControlResponse()
        }
    }

    /// The archive's requests.
    private func ask(_ request: ControlRequest) async throws -> ControlResponse {
        let own = recorder.configuration.storage.directory
        if let directory = request.directory, directory != own {
            throw DeviceError(
                .missing, "archive",
                "\(directory): the appliance records to \(own); name that folder instead; name that folder instead")
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
                request.recordings ?? [], recording: recorder.snapshot.live?.id)
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

    /// Sends events until the client is gone.
    private func watch(_ job: ControlExchange.Job, on exchange: ControlExchange, partials: Bool) async {
        let events = recorder.hub.events(withPartials: partials)
        guard Self.send(.state(recorder.snapshot.state), to: job.client, on: exchange) else { return }
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                for await event in events where !Self.send(event, to: job.client, on: exchange) { break }
            }
            group.addTask {
                for await _ in job.gone {}
            }
            await group.next()
            group.cancelAll()
        }
    }

    private static func send(_ event: Event, to client: Int, on exchange: ControlExchange) -> Bool {
        guard let line = try? eventJSON(event) else { return true }
        let isVolatile =
            switch event {
            case .level, .partial: true
            default: false
            }
        return exchange.send(Array(line.utf8), to: client, isVolatile: isVolatile)
    }
}
