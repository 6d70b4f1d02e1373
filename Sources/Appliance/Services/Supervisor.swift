import Core
import System

/// Keeps the appliance's services running, and stops them in order.
///
/// A service that fails, or ends without being asked to, is reported and restarted, later each time; the others keep running.
struct Supervisor: Sendable {
    /// In the order in which they stop.
    let services: [any Service]
    let policy: RestartPolicy

    /// Called with each failure.
    let failed: @Sendable (any Service, any Error) -> Void

    init(
        _ services: [any Service], policy: RestartPolicy = RestartPolicy(),
        failed: @escaping @Sendable (any Service, any Error) -> Void
    ) {
        self.services = services
        self.policy = policy
        self.failed = failed
    }

    /// Runs until `stopRequests` has an element or ends, then stops the services one after the other.
    func run(until stopRequests: AsyncStream<Void>) async {
        await withDiscardingTaskGroup { group in
            let stops = services.map { _ in StopFlag() }
            for (service, stop) in zip(services, stops) {
                group.addTask { await keep(service, until: stop) }
            }
            for await _ in stopRequests { break }
            for (service, stop) in zip(services, stops) {
                stop.raise()
                await service.stop()
            }
            group.cancelAll()
        }
    }

    private func keep(_ service: any Service, until stop: StopFlag) async {
        var policy = policy
        while !Task.isCancelled, !stop.isRaised {
            let began = MonotonicClock.nanoseconds
            do {
                try await service.run()
                if Task.isCancelled || stop.isRaised { return }
                failed(
                    service,
                    DeviceError(.failed, service.name, "\(service.name): ended unexpectedly; it is being restarted"))
            } catch {
                if Task.isCancelled { return }
                failed(service, error)
            }
            let pause = policy.failed(after: .nanoseconds(MonotonicClock.nanoseconds - began))
            guard (try? await Task.sleep(for: pause)) != nil else { return }
        }
    }
}

/// The pauses before a failed service is restarted: short at first, then longer, without a limit on their number.
struct RestartPolicy: Hashable, Sendable {
    /// After a service ran for this long, its next failure counts as the first.
    private static let settled = Duration.seconds(60)

    private let first: Duration
    private let longest: Duration
    private var pause: Duration

    /// - Parameters:
    ///   - first: the pause after the first failure.
    ///   - longest: the longest pause; each is twice the previous one.
    init(first: Duration = .milliseconds(500), longest: Duration = .seconds(60)) {
        self.first = first
        self.longest = longest
        pause = min(first, longest)
    }

    /// Returns the pause after the failure of a service that had run for `length`.
    mutating func failed(after length: Duration) -> Duration {
        if length >= Self.settled { pause = min(first, longest) }
        defer { pause = min(pause * 2, longest) }
        return pause
    }
}
