import Archive
import Core
import Settings
import Synchronization
import System

/// Works on earlier recordings while nothing is recorded. Erases recordings according to `storage.after-export`,
/// completes the repairs that the start left, signs recordings, transcribes missing text, runs the second pass,
/// identifies speakers, learns voices and seals recordings. Also runs the second pass for recordings that were opened
/// with a private key, and seals them again.
package struct BackgroundMaintenance: Sendable {
    /// The reason why a run ended.
    package enum End: Hashable, Sendable {
        case done
        case interrupted
        case failed(DeviceError)
    }

    private let configuration: Configuration
    private let archive: SQLiteArchive
    private let hub: EventHub
    private let workers: DecodeWorkers
    private let repairs: Repairs?
    private let unreadable = UnreadableRecordings()
    private let reportedErrors = ReportedErrors()
    private let progress: SecondPassProgress
    private let opened: OpenedRecordings?
    private let onTranscribing: @Sendable (Bool) -> Void

    /// - Parameters:
    ///   - opened: the opened recordings; nil if no private key can open recordings.
    ///   - repairs: the repairs that remain after the start; nil if there are none.
    ///   - onTranscribing: called with true when transcription starts, and with false when it stops.
    package init(
        configuration: Configuration, archive: SQLiteArchive, hub: EventHub, workers: DecodeWorkers,
        progress: SecondPassProgress, opened: OpenedRecordings? = nil, repairs: Repairs? = nil,
        onTranscribing: @escaping @Sendable (Bool) -> Void
    ) {
        self.configuration = configuration
        self.archive = archive
        self.hub = hub
        self.workers = workers
        self.progress = progress
        self.opened = opened
        self.repairs = repairs
        self.onTranscribing = onTranscribing
    }

    /// Does all work, or stops early when asked: transcribing a new recording has priority, and a small board has too
    /// little memory for two sets of workers.
    ///
    /// - Parameter stop: a stream that ends when the run must stop.
    package func run(until stop: AsyncStream<Never>) async -> End {
        do {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await work() }
                group.addTask {
                    for await _ in stop {}
                    throw CancellationError()
                }
                let first = await group.nextResult()
                group.cancelAll()
                await workers.stopSecondPass()
                try first?.get()
            }
            return .done
        } catch { return error is CancellationError ? .interrupted : .failed(DeviceError(wrapping: error)) }
    }

    private func work() async throws {
        // Work that frees space comes first.
        let steps = [
            erase, repair, sign, transcribeBacklog, runSecondPass, identifySpeakers, learnVoices, seal,
            runSecondPassForOpenedRecordings,
        ]
        for step in steps {
            // By now, another archive may be at the storage directory's path.
            try archive.checkLocation()
            try await step()
        }
    }

    /// Signs recordings. A failure does not stop other work, and is reported once per start.
    private func sign() async throws {
        let storage = configuration.storage.directory
        do {
            for error in try await SigningJob(storage: storage, archive: archive).run()
            where reportedErrors.isNew(error) {
                Log.report(.warning, "unsigned", ["message": error.message])
            }
        } catch let error as DeviceError where !error.concernsWholeDatabase {
            if reportedErrors.isNew(error) { Log.report(.notice, "unsigned", ["message": error.message]) }
        }
    }

    /// Seals recordings. A failure does not affect other recordings, and is reported as a fault.
    private func seal() async throws {
        let sealing = SealingJob(configuration, archive: archive, unreadable: unreadable)
        do {
            let failures = try await sealing.run { Log.report(.notice, "sealed", ["recording": "\($0)"]) }
            for (_, error) in failures.sorted(by: { $0.key < $1.key }) { hub.publish(fault: error) }
        } catch let error as DeviceError where !error.concernsWholeDatabase { hub.publish(fault: error) }
        // Each database that was set aside is reported once per start.
        let erasure = Erasure(storage: configuration.storage.directory, archive: archive)
        for finding in try await erasure.findingsBesideSealed() {
            let error = DeviceError(.damaged, "seal", on: finding.file, finding.message)
            if reportedErrors.isNew(error) { Log.report(.notice, "unsealed", ["message": error.message]) }
        }
    }

    /// Erases recordings. Failures do not stop other work, and each is reported as a fault.
    private func erase() async throws {
        let storage = configuration.storage
        do {
            let outcome = try await Retention(storage.afterExport).apply(
                to: archive, storage: storage.directory)
            for id in outcome.erased {
                Log.report(.notice, "erased", ["recording": "\(id)", "reason": "after-export"])
            }
            for (_, error) in outcome.failures.sorted(by: { $0.key < $1.key }) { hub.publish(fault: error) }
        } catch { hub.publish(fault: DeviceError(wrapping: error)) }
    }

    /// Completes repairs. A repair that lacks disk space does not stop other work.
    private func repair() async throws {
        do { try await repairs?.run { Log.report($0) } } catch let error as DeviceError where error.code == .full {
            hub.publish(fault: error)
        }
    }

    private func transcribeBacklog() async throws {
        let backlog = Backlog(configuration: configuration, archive: archive, hub: hub, unreadable: unreadable)
        guard try await !backlog.waiting().isEmpty else { return }
        onTranscribing(true)
        defer { onTranscribing(false) }
        let pool = try workers.liveWorkers()
        for id in try await backlog.run(pool: pool) {
            Log.report(.information, "transcribed", ["recording": "\(id)"])
        }
        await pool.releaseIdle()
    }

    /// Identifies speakers. If that fails, recordings are sealed without speakers, and the failure is reported once per
    /// start.
    private func identifySpeakers() async throws {
        let diarization = DiarizationJob(
            configuration: configuration, archive: archive, hub: hub, unreadable: unreadable)
        guard try await !diarization.waiting().isEmpty else { return }
        await workers.releaseIdle()
        do {
            for (id, count) in try await diarization.run() {
                Log.report(.information, "speakers", ["recording": "\(id)", "count": "\(count)"])
            }
        } catch let error as DeviceError where !error.concernsWholeDatabase {
            if reportedErrors.isNew(error) { hub.publish(fault: error) }
        }
    }

    /// Learns voices and proposes names in other recordings. A failure does not stop other work.
    private func learnVoices() async throws {
        do {
            for id in try await VoiceprintJob(configuration: configuration, archive: archive).run() {
                Log.report(.information, "names proposed", ["recording": "\(id)"])
            }
        } catch let error as DeviceError where !error.concernsWholeDatabase {
            if reportedErrors.isNew(error) { hub.publish(fault: error) }
        }
    }

    /// Runs the second pass for opened recordings. A failure is reported once and does not affect other recordings.
    private func runSecondPassForOpenedRecordings() async throws {
        guard configuration.usesSecondPass, !configuration.storage.seal.isEmpty, let opened else { return }
        let resealed = try await OpenedRecordingsSecondPass(
            configuration: configuration, archive: archive, opened: opened, hub: hub, progress: progress
        ).run {
            await workers.releaseIdle()
            return try workers.secondPassWorkers()
        } report: { error in
            if reportedErrors.isNew(error) { hub.publish(fault: error) }
        }
        for id in resealed { Log.report(.notice, "resealed", ["recording": "\(id)"]) }
    }

    private func runSecondPass() async throws {
        guard configuration.usesSecondPass else { return }
        let secondPass = SecondPassJob(
            configuration: configuration, archive: archive, hub: hub, unreadable: unreadable, progress: progress)
        guard try await !secondPass.waiting().isEmpty else { return }
        await workers.releaseIdle()
        for id in try await secondPass.run(pool: workers.secondPassWorkers()) {
            Log.report(.information, "reread", ["recording": "\(id)"])
        }
    }
}

/// The messages of the reported errors, so that each is reported only once.
private final class ReportedErrors: Sendable {
    private let messages = Mutex<Set<String>>([])

    /// Adds an error, and returns whether it is new.
    func isNew(_ error: DeviceError) -> Bool { messages.withLock { $0.insert(error.message).inserted } }
}
