import Core
import System

/// Keeps the appliance's services running, and stops them in order.
///
/// If a service fails or returns unexpectedly, the supervisor reports it and restarts the service, after a longer pause
/// each time. The others keep running.
struct Supervisor: Sendable {
    /// The services in the order in which they stop.
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

    /// Runs until `stopRequests` has an element or finishes, then stops the services one by one.
    func run(until stopRequests: AsyncStream<Void>) async {
        await withDiscardingTaskGroup { group in
            let stops = services.map { _ in StopFlag() }
            for (service, stop) in zip(services, stops) {
                group.addTask { await supervise(service, until: stop) }
            }
            for await _ in stopRequests { break }
            for (service, stop) in zip(services, stops) {
                stop.raise()
                await service.stop()
            }
            group.cancelAll()
        }
    }

    private func supervise(_ service: any Service, until stop: StopFlag) async {
        var policy = policy
        while !Task.isCancelled, !stop.isRaised {
            let began = MonotonicClock.nanoseconds
            do {
                try await service.run()
                if Task.isCancelled || stop.isRaised { return }
                failed(
                    service,
                    DeviceError(.failed, service.name, "\(service.name): stopped unexpectedly; it is being restarted"))
            } catch {
                if Task.isCancelled { return }
                failed(service, error)
            }
            let pause = policy.failed(after: .nanoseconds(MonotonicClock.nanoseconds - began))
            guard (try? await Task.sleep(for: pause)) != nil else { return }
        }
    }
}

/// The pauses before a failed service is restarted: short at first, then longer. The number of restarts is unlimited.
struct RestartPolicy: Hashable, Sendable {
    /// If a service ran for this long, its next failure counts as the first.
    private static let stableTime = Duration.seconds(60)

    private let first: Duration
    private let maximum: Duration
    private var pause: Duration

    /// - Parameters:
    ///   - first: the pause after the first failure.
    ///   - maximum: the maximum pause; each pause is twice the previous one.
    init(first: Duration = .milliseconds(500), maximum: Duration = .seconds(60)) {
        self.first = first
        self.maximum = maximum
        pause = min(first, maximum)
    }

    /// Returns the pause after the failure of a service that had run for `length`.
    mutating func failed(after length: Duration) -> Duration {
        if length >= Self.stableTime { pause = min(first, maximum) }
        defer { pause = min(pause * 2, maximum) }
        return pause
    }
}
