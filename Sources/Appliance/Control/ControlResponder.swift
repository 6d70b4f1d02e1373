import Core
import System
import Transcripts

/// Answers requests from the control socket, each in its own task.
struct ControlResponder: Sendable {
    let handler: RecorderHandler

    func answer(_ job: ControlExchange.Job, on exchange: ControlExchange) async {
        let request: ControlRequest
        do { request = try ControlLine.decode(ControlRequest.self, from: job.line) } catch {
            let refusal =
                error as? DeviceError
                ?? DeviceError(.unsupported, "control", "unknown request; the client may be of a different version")
            return exchange.answer(job.client, ControlLine.encode(ControlResponse(refusal)))
        }
        Log.debug(.control, "request", ["command": request.name, "client": "\(job.client)"])
        guard !request.mayTakeLong || exchange.beginLongRequest(job.client) else {
            let refusal = DeviceError(
                .busy, "control",
                "\(ControlExchange.maxLongRequests) clients are already watching or reading the archive; stop one of them, or "
                    + "try again later")
            return exchange.answer(job.client, ControlLine.encode(ControlResponse(refusal)))
        }
        if case .watch(let partials) = request { return await watch(job, on: exchange, partials: partials) }
        let response = await response(to: request, of: job, on: exchange)
        exchange.endLongRequest(job.client)
        exchange.answer(job.client, ControlLine.encode(response))
    }

    /// Performs a request. A request that only reads is cancelled if its client disconnects; any other is completed.
    private func response(
        to request: ControlRequest, of job: ControlExchange.Job, on exchange: ControlExchange
    ) async -> ControlResponse {
        if case .archive(.importing(var part, let recording), let directory) = request {
            do throws(DeviceError) {
                guard let text = try exchange.append(part, from: job.client) else { return ControlResponse() }
                part.text = text
            } catch { return ControlResponse(error) }
            return await response(to: .archive(.importing(part, recording: recording), directory: directory))
        }
        guard request.onlyReads else { return await response(to: request) }
        return await withTaskGroup(of: ControlResponse?.self) { group in
            group.addTask { await response(to: request) }
            group.addTask {
                for await _ in job.disconnection {}
                return nil
            }
            defer { group.cancelAll() }
            return await group.next().flatMap { $0 }
                ?? ControlResponse(DeviceError(.disconnected, "control", "the client has disconnected"))
        }
    }

    private func response(to request: ControlRequest) async -> ControlResponse {
        do { return try await handler.respond(to: request) } catch {
            return ControlResponse(DeviceError(wrapping: error))
        }
    }

    /// Sends events until the client disconnects.
    private func watch(_ job: ControlExchange.Job, on exchange: ControlExchange, partials: Bool) async {
        // Subscribes before it reads the state, so that it misses no later event.
        let events = handler.recorder.hub.events(withPartials: partials)
        guard Self.send(.state(handler.recorder.snapshot.state), to: job.client, on: exchange) else { return }
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                for await event in events where !Self.send(event, to: job.client, on: exchange) { break }
            }
            group.addTask {
                for await _ in job.disconnection {}
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
