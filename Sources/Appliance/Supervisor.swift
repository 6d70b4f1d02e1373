import Core
import Platform

/// Keeps the appliance's services running, and ends them in order.
///
/// A service that fails is told of and started again, later each time; the others do not notice.
struct Supervisor: Sendable {
    /// In the order in which they stop.
    let services: [any Service]
    let policy: RestartPolicy

    /// Hears of each failure.
    let failed: @Sendable (any Service, any Error) -> Void

    init(
        _ services: [any Service], policy: RestartPolicy = RestartPolicy(),
        failed: @escaping @Sendable (any Service, any Error) -> Void
    ) {
        self.services = services
        self.policy = policy
        self.failed = failed
    }

    /// Runs until `stopRequests` brings something or ends, then stops the services one after the other.
    func run(until stopRequests: AsyncStream<Void>) async {
        await withDiscardingTaskGroup { group in
            for service in services { group.addTask { await keep(service) } }
            for await _ in stopRequests { break }
            for service in services { await service.stop() }
            group.cancelAll()
        }
    }

    private func keep(_ service: any Service) async {
        var policy = policy
        while !Task.isCancelled {
            let began = MonotonicClock.nanoseconds
            do { return try await service.run() } catch {
                if Task.isCancelled { return }
                failed(service, error)
                let pause = policy.failed(after: .nanoseconds(MonotonicClock.nanoseconds - began))
                guard (try? await Task.sleep(for: pause)) != nil else { return }
            }
        }
    }
}
