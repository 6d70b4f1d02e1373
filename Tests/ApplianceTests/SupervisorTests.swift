import Synchronization
import Testing

@testable import Appliance
@testable import Core

@Suite("The supervisor") struct SupervisorTests {
    @Test("a failed service is restarted any number of times, with increasing delays")
    func backoff() {
        var policy = RestartPolicy()
        let delays = (0..<10).map { _ in policy.nextPause(afterRunning: .seconds(1)) }
        #expect(delays.prefix(4) == [.milliseconds(500), .seconds(1), .seconds(2), .seconds(4)])
        #expect(delays.suffix(3) == [.seconds(60), .seconds(60), .seconds(60)])
        #expect(policy.nextPause(afterRunning: .seconds(59)) == .seconds(60))
        #expect(policy.nextPause(afterRunning: .seconds(60)) == .milliseconds(500))
        #expect(policy.nextPause(afterRunning: .seconds(1)) == .seconds(1))
    }

    /// A service that fails or returns a few times and then runs until it is stopped. It logs each run and stop.
    private final class UnreliableService: Service {
        let name: String
        private let log: Log
        private let returns: Bool
        private let failures: Mutex<Int>
        private let (stops, stopContinuation) = AsyncStream<Void>.makeStream()

        init(_ name: String, failures: Int, returns: Bool = false, log: Log) {
            self.name = name
            self.returns = returns
            self.log = log
            self.failures = Mutex(failures)
        }

        func run() async throws {
            log.add("\(name) runs")
            let fails = failures.withLock { remaining in
                remaining -= 1
                return remaining >= 0
            }
            if fails, returns { return }
            if fails { throw DeviceError(.failed, "test", "\(name) fails") }
            for await _ in stops {}
        }

        func stop() async {
            log.add("\(name) stops")
            stopContinuation.finish()
        }
    }

    private final class Log: Sendable {
        private let lines = Mutex<[String]>([])
        private let (changes, changeContinuation) = AsyncStream<Void>.makeStream()

        func add(_ line: String) {
            lines.withLock { $0.append(line) }
            changeContinuation.yield()
        }

        var all: [String] { lines.withLock { $0 } }

        func wait(for line: String) async {
            for await _ in changes where all.contains(line) { return }
        }
    }

    @Test("failed services are restarted, and all services stop in order")
    func order() async {
        let log = Log()
        let services = [
            UnreliableService("panel", failures: 0, log: log), UnreliableService("socket", failures: 2, log: log),
            UnreliableService("recorder", failures: 0, log: log),
        ]
        let supervisor = Supervisor(services, policy: RestartPolicy(first: .milliseconds(1))) { service, error in
            log.add("\(service.name) failed: \(error)")
        }
        let (stopRequests, stopContinuation) = AsyncStream<Void>.makeStream()
        async let ended: Void = supervisor.run(until: stopRequests)
        while log.all.filter({ $0 == "socket runs" }).count < 3 || !log.all.contains("recorder runs")
            || !log.all.contains("panel runs")
        {
            await Task.yield()
        }
        stopContinuation.finish()
        await ended
        #expect(log.all.filter { $0.hasSuffix("stops") } == ["panel stops", "socket stops", "recorder stops"])
        #expect(log.all.filter { $0 == "socket failed: socket fails" }.count == 2)
        #expect(log.all.filter { $0 == "panel runs" }.count == 1)
    }

    @Test("a service that returns before it is stopped is reported and restarted; a stopped one is not")
    func unexpectedReturn() async {
        let log = Log()
        let services = [UnreliableService("backlog", failures: 2, returns: true, log: log)]
        let supervisor = Supervisor(services, policy: RestartPolicy(first: .milliseconds(1))) { service, error in
            log.add("\(service.name) failed: \(error)")
        }
        let (stopRequests, stopContinuation) = AsyncStream<Void>.makeStream()
        async let ended: Void = supervisor.run(until: stopRequests)
        while log.all.filter({ $0 == "backlog runs" }).count < 3 { await Task.yield() }
        stopContinuation.finish()
        await ended
        let failureLine = "backlog failed: backlog: stopped unexpectedly; it is being restarted"
        #expect(
            log.all == [
                "backlog runs", failureLine, "backlog runs", failureLine, "backlog runs", "backlog stops",
            ])
    }

    @Test("a service that waits to be restarted does not delay the shutdown")
    func shutdownBeforeRestart() async {
        let log = Log()
        let supervisor = Supervisor(
            [UnreliableService("panel", failures: 9, log: log)],
            policy: RestartPolicy(first: .seconds(3_600), maximum: .seconds(3_600))
        ) { _, _ in log.add("failed") }
        let (stopRequests, stopContinuation) = AsyncStream<Void>.makeStream()
        async let ended: Void = supervisor.run(until: stopRequests)
        await log.wait(for: "failed")
        stopContinuation.finish()
        await ended
        #expect(log.all == ["panel runs", "failed", "panel stops"])
    }
}
