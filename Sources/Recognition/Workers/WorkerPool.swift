import Core
import Glibc
import System

/// Decode workers that share the work: processes, started when they are needed, started anew when they die.
package actor WorkerPool {
    /// What an utterance came to.
    package struct Decoded: Sendable {
        /// What was read; its times count from the first sample of the utterance.
        var hypothesis: Hypothesis
        /// What has read it: the wanted engine, or its fallback.
        var engine: EngineDescription
        /// CPU time that the worker spent on it.
        var cpuSeconds: Double
        /// Sessions that this took: more than one where a worker died and the utterance was decoded again.
        var attempts: Int
    }

    /// An utterance that a worker has taken.
    package struct Session: Sendable {
        /// The adaptation state after this utterance, where the engine knows it.
        var adaptation: AdaptationState?
        /// One, and one for each worker that died before its first answer.
        fileprivate var attempts = 1
        fileprivate var worker: Lease
        fileprivate var reply: WorkerProtocol.Reply
    }

    /// What a recording has taught the engine so far.
    struct Surveyed: Sendable {
        var state: AdaptationState
        /// `Adaptation.candidates`.
        var candidates: [[AdaptationState]]
    }

    /// An utterance that a worker hears while it is still being spoken.
    struct Hearing: Sendable {
        fileprivate var worker: Lease
    }

    /// Waits before a worker that died is started anew: the restart's backoff.
    private static let backoff: [Duration] = [.milliseconds(100), .milliseconds(400), .milliseconds(1600)]

    /// How the worker for volatile readings is started.
    nonisolated let partials: WorkerCommand
    /// How workers are started now: as wanted, or where those cannot read, as `fallback` says.
    private var command: WorkerCommand
    private let wanted: WorkerCommand
    private let fallback: WorkerCommand?
    /// Whether the wanted ones cannot even be started, so that they are not tried again.
    private var isBroken = false
    /// Why `fallback` reads, until somebody has taken it.
    private var complaint: DeviceError?
    /// Names the settings that its workers read with.
    package var profile: String { command.profile }
    private let size: Int
    private let niceness: Int32
    private var idle: [Lease] = []
    private var count = 0
    private var waiting: [CheckedContinuation<Lease?, Never>] = []
    /// Every worker that has been started and is not yet gone.
    private var started: [WeakLease] = []
    /// How many calls are starting some.
    private var starting = 0
    private var hasEnded = false
    private let pace = WorkerPace()

    /// - Parameters:
    ///   - size: the most workers at a time, 1 or more.
    ///   - fallback: what reads on where the wanted workers cannot be started, or die again and again.
    ///   - partials: what gives volatile readings; nil: the same.
    ///   - complaint: why another engine reads than the one that is wanted.
    package init(
        _ command: WorkerCommand, size: Int, niceness: Int32 = 0, fallback: WorkerCommand? = nil,
        partials: WorkerCommand? = nil, complaint: DeviceError? = nil
    ) {
        self.complaint = complaint
        self.command = command
        wanted = command
        self.fallback = fallback
        self.partials = partials ?? command
        self.size = max(1, size)
        self.niceness = niceness
    }

    /// Starts one worker, so that a missing or damaged model is known at once, and tells its engine.
    package func prepare() async throws -> EngineDescription {
        let worker = try await acquire()
        release(worker)
        return worker.process.engine
    }

    /// Why another engine reads than the one that is wanted; once each time that it came to that.
    package func takeComplaint() -> DeviceError? {
        defer { complaint = nil }
        return complaint
    }

    /// Tells of a worker that was replaced since it did nothing.
    private func note(_ error: any Error) {
        if let error = error as? DeviceError, error.operation == WorkerStall.operation, complaint == nil {
            complaint = error
        }
    }

    /// Lets the fallback read from here on, in the place of workers that were started so; false where it cannot, and where it
    /// was these. Somebody else may have come to that before.
    private func fallBack(from failed: WorkerCommand, because error: any Error, isBroken: Bool) -> Bool {
        guard let fallback, failed != fallback, !hasEnded, !(error is CancellationError) else { return false }
        guard command == failed else { return true }
        let error = error as? DeviceError ?? DeviceError(.failed, "decode-worker", "\(error)")
        command = fallback
        self.isBroken = isBroken
        complaint = DeviceError(
            error.code, error.operation, status: error.status,
            "\(error.message) (in the meantime \(fallback.model) is used)")
        discard(idle.count)
        idle = []
        return true
    }

    /// Hands an utterance to the next free worker. Returns once the adaptation state is known, or that it cannot be.
    ///
    /// - Parameter parts: where speech is, of several utterances that are read as one; else empty.
    /// - Throws: `DeviceError`, after every attempt has failed.
    package func begin(
        _ samples: [Int16], adaptation: AdaptationState?, alternatives: Int, parts: [SampleRange] = []
    ) async throws -> Session {
        try await again { worker in
            let reply = try await worker.blocking {
                try worker.process.open(adaptation: adaptation, alternatives: alternatives, parts: parts)
                try worker.process.hear(samples)
                return try worker.process.close(samples.count)
            }
            return Session(adaptation: reply.adaptation, worker: worker, reply: reply)
        }
    }

    /// Waits for the reading of the utterance. A worker that dies meanwhile is replaced, and the utterance decoded again.
    ///
    /// - Throws: `DeviceError`, after every attempt has failed.
    package func finish(
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
                Log.debug(
                    .recognizing, "decoded",
                    [
                        "process": "\(worker.process.id)",
                        "seconds": "\(Double(samples.count) / Double(SamplePosition.rate))",
                        "cpuSeconds": "\(result.cpuSeconds)", "words": "\(result.words.count)",
                        "attempts": "\(attempts)",
                    ])
                return Decoded(
                    hypothesis: Hypothesis(
                        words: result.words, alternatives: result.alternatives, score: result.score,
                        voice: result.voice,
                        voices: result.voices ?? []),
                    engine: worker.process.engine, cpuSeconds: result.cpuSeconds, attempts: attempts)
            } catch {
                discard()
                note(error)
                deaths += 1
                Log.debug(.recognizing, "failed", ["process": "\(worker.process.id)", "message": "\(error)"])
                if hasEnded { throw CancellationError() }
                if deaths == Self.backoff.count {
                    guard fallBack(from: worker.command, because: error, isBroken: false) else { throw error }
                } else if deaths > Self.backoff.count {
                    throw error
                } else {
                    try await Task.sleep(for: Self.backoff[deaths - 1])
                }
                session = try await begin(samples, adaptation: adaptation, alternatives: alternatives, parts: parts)
                attempts += session.attempts
            }
        }
    }

    /// Hands an utterance that is still being spoken to a worker that is free at once; nil where none is.
    func hear(adaptation: AdaptationState?, alternatives: Int) async throws -> Hearing? {
        guard !hasEnded, waiting.isEmpty, !idle.isEmpty || count < size else { return nil }
        let worker = try await acquire()
        try await keeping {
            try await worker.blocking { try worker.process.open(adaptation: adaptation, alternatives: alternatives) }
        }
        return Hearing(worker: worker)
    }

    /// Hands the worker more of the utterance. Where this throws, the worker is gone.
    func hear(_ samples: [Int16], by hearing: Hearing) async throws {
        try await keeping { try await hearing.worker.blocking { try hearing.worker.process.hear(samples) } }
    }

    /// Hands the worker the rest of an utterance that is now complete. Where this throws, the worker is gone.
    func close(_ hearing: Hearing, behind rest: [Int16], of cut: UtteranceCutter.Cut) async throws -> Session {
        let reply = try await keeping {
            try await hearing.worker.blocking {
                try hearing.worker.process.hear(rest)
                return try hearing.worker.process.close(cut.samples.count)
            }
        }
        return Session(adaptation: reply.adaptation, worker: hearing.worker, reply: reply)
    }

    /// Lets go of a worker in the midst of an utterance.
    func abandon(_ hearing: Hearing) { abandon(hearing.worker) }

    /// Lets go of a worker that reads an utterance for nobody.
    func abandon(_ session: Session) { abandon(session.worker) }

    private func abandon(_ worker: Lease) {
        worker.kill()
        discard()
    }

    private func keeping<Value: Sendable>(_ body: () async throws -> Value) async throws -> Value {
        do { return try await body() } catch {
            discard()
            note(error)
            throw error
        }
    }

    /// Adds to a state what an utterance teaches, without reading it; nil where the engine does not tell.
    ///
    /// - Throws: `DeviceError` where no worker can be started; one that dies is no error, the utterance is left out.
    func survey(_ samples: [Int16], into state: AdaptationState?) async throws -> Surveyed? {
        let worker = try await acquire()
        do {
            let surveyed = try await worker.blocking { try worker.process.survey(samples, into: state) }
            release(worker)
            return surveyed
        } catch {
            discard()
            note(error)
            return nil
        }
    }

    /// Whether no worker is there.
    package var isEmpty: Bool { count == 0 }

    /// Ends the workers that wait for work; others are started when they are needed.
    package func releaseIdle() {
        count -= idle.count
        idle = []
        // What died of an utterance may read the next recording.
        if count == 0, !isBroken { command = wanted }
    }

    /// Ends all workers, also in mid-utterance: who waits for one is told that it was cancelled.
    package func end() {
        hasEnded = true
        releaseIdle()
        // A worker that is still held has not been waited for, so that its number is nobody else's yet.
        for lease in started { lease.lease?.kill() }
        for waiter in waiting { waiter.resume(returning: nil) }
        waiting = []
    }

    /// Ends all workers, and returns once each is gone and waited for, so that what it has used is counted as its parent's; one
    /// that cannot end keeps nobody for longer than 5 s.
    package func finish() async {
        end()
        for _ in 0..<500 where starting > 0 || started.contains(where: { $0.lease != nil }) {
            try? await Task.sleep(for: .milliseconds(10))
        }
    }

    private func again(_ attempt: (Lease) async throws -> Session) async throws -> Session {
        for (deaths, pause) in Self.backoff.enumerated() {
            let worker = try await acquire()
            do {
                var session = try await attempt(worker)
                session.attempts += deaths
                return session
            } catch {
                discard()
                note(error)
                try await Task.sleep(for: pause)
            }
        }
        let worker = try await acquire()
        do {
            var session = try await attempt(worker)
            session.attempts += Self.backoff.count
            return session
        } catch {
            discard()
            note(error)
            if hasEnded { throw CancellationError() }
            guard fallBack(from: worker.command, because: error, isBroken: false) else { throw error }
            return try await again(attempt)
        }
    }

    private func acquire() async throws -> Lease {
        while true {
            if hasEnded { throw CancellationError() }
            if let worker = idle.popLast() { return worker }
            if count < size { return try await start() }
            if let worker = await withCheckedContinuation({ waiting.append($0) }) { return worker }
        }
    }

    /// Starts a worker, and with it all that are missing where they share what they load.
    private func start() async throws -> Lease {
        let command = command
        let missing = command.makesCopies ? size - count : 1
        count += missing
        do {
            let workers = try await started(missing, by: command)
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

    private func started(_ missing: Int, by command: WorkerCommand) async throws -> [Lease] {
        starting += 1
        defer { starting -= 1 }
        for pause in Self.backoff {
            do {
                let workers = try await onThread(named: "worker-start", niceness: niceness) { [pace] in
                    try WorkerProcess.start(command, count: missing, pace: pace).map { Lease($0, command) }
                }
                started = started.filter { $0.lease != nil } + workers.map { WeakLease(lease: $0) }
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
                where error.code == .disconnected || error.operation == WorkerStall.operation
            {
                note(error)
                try await Task.sleep(for: pause)
            }
        }
        throw DeviceError(
            .damaged, "decode-worker", on: "\(command.model)", "the decoder crashes while loading this model",
            remedy: "reinstall its package, or name another with recognizer.model")
    }

    private func release(_ worker: Lease) {
        guard worker.command == command else { return discard() }
        if waiting.isEmpty { idle.append(worker) } else { waiting.removeFirst().resume(returning: worker) }
    }

    /// Forgets workers that are of no more use, and lets the next in line start others.
    private func discard(_ gone: Int = 1) {
        count -= gone
        for _ in 0..<min(gone, waiting.count) { waiting.removeFirst().resume(returning: nil) }
    }
}
