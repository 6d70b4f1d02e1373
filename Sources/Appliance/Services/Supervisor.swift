import Core
import System

/// Keeps the appliance's services running, and stops them in order.
///
/// If a service throws or returns unexpectedly, the supervisor reports that and restarts the service, after a longer
/// pause each time. The other services keep running.
struct Supervisor: Sendable {
    /// The services in the order in which they stop.
    let services: [any Service]
    let policy: RestartPolicy
    let reportFailure: @Sendable (any Service, any Error) -> Void

    init(
        _ services: [any Service], policy: RestartPolicy = RestartPolicy(),
        reportFailure: @escaping @Sendable (any Service, any Error) -> Void
    ) {
        self.services = services
        self.policy = policy
        self.reportFailure = reportFailure
    }

    /// Runs until `stopRequests` has an element or finishes, then stops the services one by one.
    func run(until stopRequests: AsyncStream<Void>) async {
        await withDiscardingTaskGroup { group in
            let stopFlags = services.map { _ in StopFlag() }
            for (service, stop) in zip(services, stopFlags) {
                group.addTask { await supervise(service, until: stop) }
            }
            for await _ in stopRequests { break }
            for (service, stop) in zip(services, stopFlags) {
                stop.raise()
                await service.stop()
            }
            group.cancelAll()
        }
    }

    private func supervise(_ service: any Service, until stop: StopFlag) async {
        var policy = policy
        while !Task.isCancelled, !stop.isRaised {
            let startedAt = MonotonicClock.nanoseconds
            do {
                try await service.run()
                if Task.isCancelled || stop.isRaised { return }
                reportFailure(
                    service,
                    DeviceError(.failed, service.name, "\(service.name): stopped unexpectedly; it is being restarted"))
            } catch {
                if Task.isCancelled { return }
                reportFailure(service, error)
            }
            let pause = policy.nextPause(afterRunning: .nanoseconds(MonotonicClock.nanoseconds - startedAt))
            guard (try? await Task.sleep(for: pause)) != nil else { return }
        }
    }
}

/// The pauses before a failed service is restarted. Each is twice as long as the previous one, up to a maximum. The
/// number of restarts is not limited.
struct RestartPolicy: Hashable, Sendable {
    /// If a service ran for this long, its next failure counts as the first.
    private static let stableTime = Duration.seconds(60)

    private let first: Duration
    private let maximum: Duration
    private var pause: Duration

    /// - Parameters:
    ///   - first: the pause after the first failure.
    ///   - maximum: the maximum pause.
    init(first: Duration = .milliseconds(500), maximum: Duration = .seconds(60)) {
        self.first = first
        self.maximum = maximum
        pause = min(first, maximum)
    }

    /// Returns the pause after the next failure of a service, which had run for `runTime`.
    mutating func nextPause(afterRunning runTime: Duration) -> Duration {
        if runTime >= Self.stableTime { pause = min(first, maximum) }
        defer { pause = min(pause * 2, maximum) }
        return pause
    }
}
