import Core
import Glibc
import Settings
import Synchronization
import System

/// Serves the control socket. One thread does all I/O and never waits for a client; tasks answer the requests.
final class ControlSocket: Service {
    /// The maximum number of clients. If another connects, an idle one is disconnected; if none is
    /// idle, the new one is refused.
    private static let maxClients = 16

    /// The pause after `accept` failed, for example because no descriptor was left.
    private static let acceptPause = Duration.seconds(1)

    let name = "control"
    private let path: String
    private let group: String
    private let responder: ControlResponder
    private let reportFailure: @Sendable (DeviceError) -> Void
    let exchange = Mutex<ControlExchange?>(nil)

    /// Creates the service.
    ///
    /// - Parameter reportFailure: called when accepting a client fails, but not again until accepting has succeeded.
    init(
        _ settings: Configuration.Control, handler: RecorderHandler,
        reportFailure: @escaping @Sendable (DeviceError) -> Void
    ) {
        path = settings.socket
        group = settings.group
        responder = ControlResponder(handler: handler)
        self.reportFailure = reportFailure
    }

    /// Serves until `stop` is called or the task is cancelled.
    ///
    /// - Throws: `DeviceError` if the socket cannot be opened or polled.
    func run() async throws {
        let (path, group, responder, reportFailure) = (path, group, responder, reportFailure)
        // Each run has a new exchange, so that no answer to an earlier client reaches a new one.
        let exchange = try ControlExchange()
        self.exchange.withLock { $0 = exchange }
        try await withTaskCancellationHandler {
            try await withThrowingTaskGroup(of: Void.self) { tasks in
                tasks.addTask {
                    try await onThread(named: "control") {
                        try makeFolder(folder(of: path), mode: 0o750)
                        try Self.serve(
                            ControlListener(path: path, group: group), exchange, reportFailure: reportFailure)
                    }
                }
                tasks.addTask {
                    await withDiscardingTaskGroup { requests in
                        for await job in exchange.jobs {
                            requests.addTask { await responder.answer(job, on: exchange) }
                        }
                        requests.cancelAll()
                    }
                }
                // When one task returns or throws, the other is cancelled.
                try await tasks.next()
                tasks.cancelAll()
                try await tasks.waitForAll()
            }
        } onCancel: {
            exchange.stop()
        }
    }

    func stop() async { exchange.withLock { $0 }?.stop() }

    private static var now: Duration { .nanoseconds(MonotonicClock.nanoseconds) }

    private static func serve(
        _ listener: consuming ControlListener, _ exchange: ControlExchange,
        reportFailure: (DeviceError) -> Void
    ) throws {
        var clients: [Int: ControlConnection] = [:]
        // Until this time, the listener is not polled, since a client that cannot be accepted would end each poll at
        // once.
        var acceptsAgainAt: Duration?
        var lastID = 0
        func drop(_ id: Int) {
            clients.removeValue(forKey: id)
            exchange.removeClient(id)
        }
        func perform(_ id: Int, _ step: (ControlConnection) throws(ControlConnection.Refusal) -> [UInt8]?) {
            guard let client = clients[id] else { return }
            do throws(ControlConnection.Refusal) {
                if let request = try step(client) { exchange.post(request, from: id) }
            } catch {
                guard let message = error.message else { return drop(id) }
                client.refuse(refusal(message), at: now)
            }
        }
        /// Disconnects the client that has been idle longest; returns false if none is idle.
        func disconnectIdle() -> Bool {
            let idle = clients.filter { $0.value.isIdle }
            guard let oldest = idle.min(by: { ($0.value.deadline ?? .zero) < ($1.value.deadline ?? .zero) })
            else { return false }
            oldest.value.refuse(refusal("another client needs this connection; connect again"), at: now)
            _ = oldest.value.write(at: now)
            drop(oldest.key)
            return true
        }
        while !exchange.isStopping {
            exchange.wakeup.clear()
            for delivery in exchange.drainDeliveries() {
                perform(delivery.client) { client throws(ControlConnection.Refusal) in
                    try client.append(delivery, at: now)
                }
            }
            let ids = Array(clients.keys)
            var polls = [
                pollfd(fd: exchange.wakeup.number, events: Int16(POLLIN), revents: 0),
                pollfd(fd: acceptsAgainAt == nil ? listener.descriptor : -1, events: Int16(POLLIN), revents: 0),
            ]
            for id in ids { polls.append(clients[id]?.poll ?? pollfd(fd: -1, events: 0, revents: 0)) }
            let timeout = (clients.values.compactMap(\.deadline) + [acceptsAgainAt].compactMap { $0 }).min().map {
                $0 - now
            }
            try wait(for: &polls, pollMilliseconds(timeout))
            for (id, poll) in zip(ids, polls.dropFirst(2)) {
                if poll.revents & Int16(POLLOUT) != 0, let client = clients[id] {
                    if let count = client.write(at: now) { exchange.didSend(count, to: id) } else { drop(id) }
                }
                if poll.revents & Int16(POLLIN) != 0 {
                    perform(id) { client throws(ControlConnection.Refusal) in try client.read(at: now) }
                } else if poll.revents & Int16(POLLERR | POLLHUP | POLLNVAL) != 0 {
                    drop(id)
                }
                if let deadline = clients[id]?.deadline, deadline <= now {
                    let isReceiving = clients[id]?.unsentBytes == 0
                    perform(id) { _ throws(ControlConnection.Refusal) in
                        throw ControlConnection.Refusal(message: isReceiving ? ControlConnection.tooSlow : nil)
                    }
                }
            }
            if let acceptsAgainAt {
                guard acceptsAgainAt <= now else { continue }
            } else if polls[1].revents == 0 {
                continue
            }
            while let (descriptor, isAllowed) = acceptClient(at: listener, &acceptsAgainAt, reportFailure) {
                let client = ControlConnection(descriptor, at: now)
                if !isAllowed {
                    client.refuse(refusal("you may not control this appliance; join its group"), at: now)
                } else if clients.count >= maxClients, !disconnectIdle() {
                    client.refuse(refusal("\(maxClients) clients are already connected; try again later"), at: now)
                }
                // A refused client gets its message immediately and is not added to `clients`.
                if client.unsentBytes > 0 {
                    _ = client.write(at: now)
                    continue
                }
                lastID += 1
                clients[lastID] = client
                exchange.addClient(lastID)
            }
        }
        for id in Array(clients.keys) { drop(id) }
    }

    /// Waits until one of these descriptors is ready. If RLIMIT_NOFILE was lowered, poll(2) may refuse that many
    /// descriptors; each one is then polled separately, ten times a second.
    private static func wait(for polls: inout [pollfd], _ milliseconds: Int32) throws(DeviceError) {
        if uninterrupted({ poll(&polls, nfds_t(polls.count), milliseconds) }) >= 0 { return }
        guard errno == EINVAL else { throw .system("poll", on: "control socket") }
        for index in polls.indices {
            let timeout: Int32 = index > 0 ? 0 : milliseconds < 0 ? 100 : min(milliseconds, 100)
            if uninterrupted({ poll(&polls[index], 1, timeout) }) < 0 { throw .system("poll", on: "control socket") }
        }
    }

    /// Accepts the next client; returns nil if none is waiting, or if it cannot be accepted now.
    private static func acceptClient(
        at listener: borrowing ControlListener, _ acceptsAgainAt: inout Duration?,
        _ reportFailure: (DeviceError) -> Void
    ) -> (connection: Int32, isAllowed: Bool)? {
        do throws(DeviceError) {
            let client = try listener.accept()
            acceptsAgainAt = nil
            return client
        } catch {
            if acceptsAgainAt == nil { reportFailure(error) }
            acceptsAgainAt = now + acceptPause
            return nil
        }
    }

    private static func refusal(_ message: String) -> [UInt8] {
        ControlLine.encode(ControlResponse(DeviceError(.denied, "control", message)))
    }
}
