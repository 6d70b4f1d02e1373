import Core
import Glibc
import Settings
import Synchronization
import System

/// Serves the control socket. One thread reads and writes and never waits for a client; tasks answer the requests.
final class ControlSocket: Service {
    /// The maximum number of clients. If another connects, an idle one is disconnected, or the new one is refused.
    private static let maxClients = 16

    /// How long to wait after `accept` failed, for example because no descriptor was left.
    private static let acceptPause = Duration.seconds(1)

    let name = "control"
    private let path: String
    private let group: String
    private let responder: ControlResponder
    private let failed: @Sendable (DeviceError) -> Void
    let exchange = Mutex<ControlExchange?>(nil)

    /// Creates the service.
    ///
    /// - Parameter failed: called when accepting a client fails, once until it succeeds again.
    init(
        _ settings: Configuration.Control, handler: RecorderHandler,
        failed: @escaping @Sendable (DeviceError) -> Void
    ) {
        path = settings.socket
        group = settings.group
        responder = ControlResponder(handler: handler)
        self.failed = failed
    }

    /// Serves until `stop`, or until its task is cancelled.
    ///
    /// - Throws: `DeviceError` if the socket cannot be opened or polled.
    func run() async throws {
        let (path, group, responder, failed) = (path, group, responder, failed)
        // A new exchange for each run, so that no request outlives its client.
        let exchange = try ControlExchange()
        self.exchange.withLock { $0 = exchange }
        try await withTaskCancellationHandler {
            try await withThrowingTaskGroup(of: Void.self) { tasks in
                tasks.addTask {
                    try await onThread(named: "control") {
                        try makeFolder(folder(of: path), mode: 0o750)
                        try Self.serve(ControlListener(path: path, group: group), exchange, failed: failed)
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
                // If the socket cannot be opened, both tasks end.
                try await tasks.next()
                tasks.cancelAll()
                try await tasks.waitForAll()
            }
        } onCancel: {
            exchange.stop()
        }
    }

    /// Stops serving; `run` then returns.
    func stop() async { exchange.withLock { $0 }?.stop() }

    private static var now: Duration { .nanoseconds(MonotonicClock.nanoseconds) }

    private static func serve(
        _ listener: consuming ControlListener, _ exchange: ControlExchange, failed: (DeviceError) -> Void
    ) throws {
        var clients: [Int: ControlConnection] = [:]
        // The listener is not polled before this time, since a client that cannot be accepted would end each poll at once.
        var listensFrom: Duration?
        var lastID = 0
        func drop(_ id: Int) {
            clients.removeValue(forKey: id)
            exchange.disconnected(id)
        }
        func perform(_ id: Int, _ step: (ControlConnection) throws(ControlConnection.Refusal) -> [UInt8]?) {
            guard let client = clients[id] else { return }
            do throws(ControlConnection.Refusal) {
                if let request = try step(client) { exchange.requested(request, by: id) }
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
            for delivery in exchange.deliveries() {
                perform(delivery.client) { client throws(ControlConnection.Refusal) in
                    try client.append(delivery, at: now)
                }
            }
            let ids = Array(clients.keys)
            var polls = [
                pollfd(fd: exchange.wakeup.number, events: Int16(POLLIN), revents: 0),
                pollfd(fd: listensFrom == nil ? listener.number : -1, events: Int16(POLLIN), revents: 0),
            ]
            for id in ids { polls.append(clients[id]?.poll ?? pollfd(fd: -1, events: 0, revents: 0)) }
            let timeout = (clients.values.compactMap(\.deadline) + [listensFrom].compactMap { $0 }).min().map {
                $0 - now
            }
            try wait(for: &polls, pollMilliseconds(timeout))
            for (id, poll) in zip(ids, polls.dropFirst(2)) {
                if poll.revents & Int16(POLLOUT) != 0, let client = clients[id] {
                    if let count = client.write(at: now) { exchange.sent(count, client: id) } else { drop(id) }
                }
                if poll.revents & Int16(POLLIN) != 0 {
                    perform(id) { client throws(ControlConnection.Refusal) in try client.read(at: now) }
                } else if poll.revents & Int16(POLLERR | POLLHUP | POLLNVAL) != 0 {
                    drop(id)
                }
                if let deadline = clients[id]?.deadline, deadline <= now {
                    let isReceiving = clients[id]?.unsent == 0
                    perform(id) { _ throws(ControlConnection.Refusal) in
                        throw ControlConnection.Refusal(message: isReceiving ? ControlConnection.tooSlow : nil)
                    }
                }
            }
            if let from = listensFrom {
                guard from <= now else { continue }
            } else if polls[1].revents == 0 {
                continue
            }
            while let (number, isAllowed) = acceptClient(at: listener, &listensFrom, failed) {
                let client = ControlConnection(number, at: now)
                if !isAllowed {
                    client.refuse(refusal("you may not control this appliance; join its group"), at: now)
                } else if clients.count >= maxClients, !disconnectIdle() {
                    client.refuse(refusal("\(maxClients) clients are already connected; try again later"), at: now)
                }
                // A refused client gets its message immediately and is not added to `clients`.
                if client.unsent > 0 {
                    _ = client.write(at: now)
                    continue
                }
                lastID += 1
                clients[lastID] = client
                exchange.connected(lastID)
            }
        }
        for id in Array(clients.keys) { drop(id) }
    }

    /// Waits until one of these is ready. If RLIMIT_NOFILE was lowered, poll(2) may refuse that many descriptors; each is
    /// then polled separately, ten times a second.
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
        at listener: borrowing ControlListener, _ listensFrom: inout Duration?, _ failed: (DeviceError) -> Void
    ) -> (connection: Int32, isAllowed: Bool)? {
        do throws(DeviceError) {
            let client = try listener.accept()
            listensFrom = nil
            return client
        } catch {
            if listensFrom == nil { failed(error) }
            listensFrom = now + acceptPause
            return nil
        }
    }

    private static func refusal(_ message: String) -> [UInt8] {
        ControlLine.encode(ControlResponse(DeviceError(.denied, "control", message)))
    }
}
