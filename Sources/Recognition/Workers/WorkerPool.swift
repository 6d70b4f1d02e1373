import Core
import System

/// A pool that starts decode workers on demand, and replaces workers that die.
package actor WorkerPool {
    /// An utterance that a worker has accepted.
    struct Session: Sendable {
        /// 1 plus the number of workers that died before their first reply.
        fileprivate var attempts = 1
        let worker: Lease
        fileprivate let reply: WorkerProtocol.Reply

        /// The state after this utterance; nil if the engine reports none.
        var adaptation: AdaptationState? { reply.adaptation }
    }

    /// The delays before restarting a dead worker.
    private static let backoff: [Duration] = [.milliseconds(100), .milliseconds(400), .milliseconds(1600)]

    /// The command of the worker for partial results.
    nonisolated let partials: WorkerCommand
    /// Either `preferred` or `fallback`.
    private var command: WorkerCommand
    private let preferred: WorkerCommand
    private let fallback: WorkerCommand?
    /// Whether the preferred workers cannot be started at all, so that the pool does not try them again.
    private var isBroken = false
    /// The error that made the pool use the fallback, or the error from a stalled worker, until it is reported.
    private var engineError: DeviceError?
    package var profile: String { command.profile }
    private let size: Int
    private let niceness: Int32
    private var idleWorkers: [Lease] = []
    private var workerCount = 0
    private var waiters: [CheckedContinuation<Lease?, Never>] = []
    /// The workers that were started and still exist.
    private var startedWorkers: [WeakLease] = []
    private var startsInProgress = 0
    private var hasEnded = false
    private let pace = WorkerPace()

    /// - Parameters:
    ///   - size: the maximum number of workers, 1 or more.
    ///   - fallback: the command to use if the preferred workers cannot be started or die repeatedly.
    ///   - partials: the command for partial results; nil for `command`.
    ///   - engineError: the reason why the preferred engine is not used from the beginning; nil if it is used.
    package init(
        _ command: WorkerCommand, size: Int, niceness: Int32 = 0, fallback: WorkerCommand? = nil,
        partials: WorkerCommand? = nil, engineError: DeviceError? = nil
    ) {
        self.engineError = engineError
        self.command = command
        preferred = command
        self.fallback = fallback
        self.partials = partials ?? command
        self.size = max(1, size)
        self.niceness = niceness
    }

    /// Starts one worker and returns its engine, to detect a missing or damaged model early.
    package func prepare() async throws -> EngineDescription {
        let worker = try await acquire()
        release(worker)
        return worker.process.engine
    }

    /// Returns the preferred engine's error and clears it; nil if there is none.
    package func consumeEngineError() -> DeviceError? {
        defer { engineError = nil }
        return engineError
    }

    /// Keeps an error for `consumeEngineError` if it reports a stalled worker and no other error is kept.
    private func noteStall(_ error: any Error) {
        if let error = error as? DeviceError, error.cause == .stall, engineError == nil {
            engineError = error
        }
    }

    /// Switches from the failed command to the fallback. Returns whether the pool has switched, now or in an earlier
    /// call.
    private func fallBack(from failed: WorkerCommand, because error: any Error, isBroken: Bool) -> Bool {
        guard let fallback, failed != fallback, !hasEnded, !(error is CancellationError) else { return false }
        guard command == failed else { return true }
        let error = error as? DeviceError ?? DeviceError(.failed, "decode-worker", "\(error)")
        command = fallback
        self.isBroken = isBroken
        engineError = DeviceError(
            error.code, error.operation, status: error.status,
            "\(error.message) (\(fallback.model) is used instead)")
        discard(idleWorkers.count)
        idleWorkers = []
        return true
    }

    /// Sends an utterance to the next free worker. Returns after the worker's first reply, which may have an adaptation
    /// state. If the worker dies, retries with other workers after increasing delays, and then with the fallback.
    ///
    /// - Parameter parts: the ranges with speech if several utterances are decoded as one; otherwise empty.
    /// - Throws: `DeviceError` after every attempt has failed.
    func begin(
        _ samples: [Int16], adaptation: AdaptationState?, alternatives: Int, parts: [SampleRange] = []
    ) async throws -> Session {
        let limit = Self.backoff.count + 1
        var deaths = 0
        while true {
            let worker = try await acquire()
            do {
                let reply = try await worker.blocking {
                    try worker.process.open(adaptation: adaptation, alternatives: alternatives, parts: parts)
                    try worker.process.append(samples)
                    return try worker.process.close(samples.count)
                }
                return Session(attempts: 1 + deaths, worker: worker, reply: reply)
            } catch {
                discard(because: error)
                try await recover(from: error, of: worker, deaths: deaths + 1, limit: limit)
                deaths = (deaths + 1) % limit
            }
        }
    }

    /// Waits for the result. If the worker dies, another one decodes the utterance again.
    ///
    /// - Throws: `DeviceError` after every attempt has failed.
    func finish(
        _ session: Session, _ samples: [Int16], adaptation: AdaptationState?, alternatives: Int,
        parts: [SampleRange] = []
    ) async throws -> Decoded {
        var session = session
        var attempts = session.attempts
        var deaths = 0
        while true {
            let (worker, reply) = (session.worker, session.reply)
            do {
                let result = try await worker.blocking { try worker.process.finish(samples.count, after: reply) }
                release(worker)
                let seconds = Double(samples.count) / Double(SamplePosition.rate)
                Log.debug(
                    .recognizing, "decoded",
                    [
                        "process": "\(worker.process.id)", "seconds": "\(seconds)",
                        "cpuSeconds": "\(result.cpuSeconds)",
                        "words": "\(result.words.count)", "attempts": "\(attempts)",
                    ])
                let hypothesis = Hypothesis(
                    words: result.words, alternatives: result.alternatives, score: result.score, voice: result.voice,
                    voices: result.voices ?? [])
                return Decoded(
                    hypothesis: hypothesis, engine: worker.process.engine, cpuSeconds: result.cpuSeconds,
                    attempts: attempts)
            } catch {
                discard(because: error)
                deaths += 1
                Log.debug(.recognizing, "failed", ["process": "\(worker.process.id)", "message": "\(error)"])
                try await recover(from: error, of: worker, deaths: deaths, limit: Self.backoff.count)
                session = try await begin(samples, adaptation: adaptation, alternatives: alternatives, parts: parts)
                attempts += session.attempts
            }
        }
    }

    /// Decodes audio in a single attempt, without adaptation. Returns nil if it fails; the pool then keeps its engine.
    func decodeOnce(_ samples: [Int16], parts: [SampleRange]) async throws -> Decoded? {
        try await attemptOnce { worker in
            try worker.open(adaptation: nil, alternatives: 0, parts: parts)
            try worker.append(samples)
            let result = try worker.finish(samples.count, after: worker.close(samples.count))
            return Decoded(
                hypothesis: Hypothesis(words: result.words), engine: worker.engine, cpuSeconds: result.cpuSeconds,
                attempts: 1)
        }
    }

    /// Starts to decode the utterance that is being spoken. Returns the worker; nil if none is free.
    func beginEarly(adaptation: AdaptationState?, alternatives: Int) async throws -> Lease? {
        guard !hasEnded, waiters.isEmpty, !idleWorkers.isEmpty || workerCount < size else { return nil }
        let worker = try await acquire()
        try await blocking(worker) { try $0.open(adaptation: adaptation, alternatives: alternatives, parts: []) }
        return worker
    }

    /// Sends more of the utterance. If this throws, the worker has been discarded.
    func append(_ samples: [Int16], to worker: Lease) async throws {
        try await blocking(worker) { try $0.append(samples) }
    }

    /// Sends the rest of the utterance, which is now complete. If this throws, the worker has been discarded.
    func close(_ worker: Lease, after rest: [Int16], of cut: UtteranceCutter.Cut) async throws -> Session {
        let reply = try await blocking(worker) {
            try $0.append(rest)
            return try $0.close(cut.samples.count)
        }
        return Session(worker: worker, reply: reply)
    }

    /// Kills a worker whose result is no longer needed, even in the middle of an utterance.
    func abandon(_ worker: Lease) {
        worker.kill()
        discard()
    }

    /// Runs blocking work on the worker's thread; discards the worker if it fails.
    private func blocking<Value: Sendable>(
        _ worker: Lease, _ body: @escaping @Sendable (any Worker) throws -> Value
    ) async throws -> Value {
        do { return try await worker.blocking { try body(worker.process) } } catch {
            discard(because: error)
            throw error
        }
    }

    /// Adapts a state to an utterance without decoding it. Returns nil if the engine does not adapt or can learn
    /// nothing from the utterance, or if the worker dies.
    ///
    /// - Throws: `DeviceError` if no worker can be started.
    func survey(_ samples: [Int16], into state: AdaptationState?) async throws -> SurveyResult? {
        try await attemptOnce { try $0.survey(samples, into: state) } ?? nil
    }

    /// Runs blocking work on the next free worker. Returns nil and discards the worker if the work fails.
    private func attemptOnce<Value: Sendable>(
        _ body: @escaping @Sendable (any Worker) throws -> Value
    ) async throws -> Value? {
        let worker = try await acquire()
        guard let value = try? await blocking(worker, body) else { return nil }
        release(worker)
        return value
    }

    package var isEmpty: Bool { workerCount == 0 }

    /// Stops idle workers. New workers are started on demand.
    package func releaseIdle() {
        workerCount -= idleWorkers.count
        idleWorkers = []
        // If an utterance crashed the preferred workers, they may still work for the next recording.
        if workerCount == 0, !isBroken { command = preferred }
    }

    /// Kills all workers, even in the middle of an utterance. Waiting callers get `CancellationError`.
    package func end() {
        hasEnded = true
        releaseIdle()
        for lease in startedWorkers { lease.lease?.kill() }
        for waiter in waiters { waiter.resume(returning: nil) }
        waiters = []
    }

    /// Kills all workers and waits up to 5 s until they are reaped. The parent's resource usage then includes theirs.
    package func finish() async {
        end()
        for _ in 0..<500 where startsInProgress > 0 || startedWorkers.contains(where: { $0.lease != nil }) {
            try? await Task.sleep(for: .milliseconds(10))
        }
    }

    /// Waits before another attempt; switches to the fallback after `limit` deaths.
    ///
    /// - Throws: the error if there is no fallback, or if the fallback's workers die as well.
    private func recover(from error: any Error, of worker: Lease, deaths: Int, limit: Int) async throws {
        if hasEnded { throw CancellationError() }
        if deaths < limit { return try await Task.sleep(for: Self.backoff[deaths - 1]) }
        guard deaths == limit, fallBack(from: worker.command, because: error, isBroken: false) else { throw error }
    }

    private func acquire() async throws -> Lease {
        while true {
            if hasEnded { throw CancellationError() }
            if let worker = idleWorkers.popLast() { return worker }
            if workerCount < size { return try await start() }
            if let worker = await withCheckedContinuation({ waiters.append($0) }) { return worker }
        }
    }

    /// Starts a worker, or all missing workers if they share their model.
    private func start() async throws -> Lease {
        let command = command
        let missing = command.makesCopies ? size - workerCount : 1
        workerCount += missing
        do {
            let workers = try await startWorkers(missing, with: command)
            if hasEnded { throw CancellationError() }
            discard(missing - workers.count)
            for worker in workers.dropFirst() { release(worker) }
            return workers[0]
        } catch {
            discard(missing)
            guard fallBack(from: command, because: error, isBroken: true) else { throw error }
            return try await start()
        }
    }

    private func startWorkers(_ missing: Int, with command: WorkerCommand) async throws -> [Lease] {
        startsInProgress += 1
        defer { startsInProgress -= 1 }
        for pause in Self.backoff {
            do {
                let workers =
                    if let local = command.local {
                        [try await Lease.start(local, command, niceness: niceness)]
                    } else {
                        try await onThread(named: "worker-start", niceness: niceness) { [pace] in
                            try WorkerProcess.start(command, count: missing, pace: pace).map { Lease($0, command) }
                        }
                    }
                startedWorkers = startedWorkers.filter { $0.lease != nil } + workers.map { WeakLease(lease: $0) }
                for worker in workers {
                    Log.debug(
                        .recognizing, "worker",
                        [
                            "process": "\(worker.process.id)", "engine": worker.process.engine.name,
                            "profile": command.profile, "model": command.model,
                        ])
                }
                return workers
            } catch let error as DeviceError
                where error.code == .disconnected || error.cause == .stall
            {
                noteStall(error)
                try await Task.sleep(for: pause)
            }
        }
        throw DeviceError(
            .damaged, "decode-worker", on: "\(command.model)", "the decoder crashes while it loads this model",
            remedy: "reinstall its package, or set recognizer.model to another model")
    }

    private func release(_ worker: Lease) {
        guard worker.command == command else { return discard() }
        if waiters.isEmpty { idleWorkers.append(worker) } else { waiters.removeFirst().resume(returning: worker) }
    }

    /// Removes a failed worker from the count, and keeps the error if the worker stalled.
    private func discard(because error: any Error) {
        discard()
        noteStall(error)
    }

    /// Removes dead workers from the count, so that waiting callers can start new ones.
    private func discard(_ deadCount: Int = 1) {
        workerCount -= deadCount
        for _ in 0..<min(deadCount, waiters.count) { waiters.removeFirst().resume(returning: nil) }
    }
}
