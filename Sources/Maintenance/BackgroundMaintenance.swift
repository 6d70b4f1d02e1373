import Archive
import Core
import Settings
import Synchronization
import System

/// Works on earlier recordings while nothing is recorded. Completes the start's repairs, erases by
/// `storage.after-export`, transcribes missing text, runs the second pass, identifies speakers and seals. Also runs the
/// second pass of recordings that a private key has opened, and seals them again.
package struct BackgroundMaintenance: Sendable {
    /// How a run ended.
    package enum End: Hashable, Sendable {
        case done
        /// It was asked to stop.
        case interrupted
        case failed(DeviceError)
    }

    private let configuration: Configuration
    private let archive: SQLiteArchive
    private let hub: EventHub
    private let workers: DecodeWorkers
    private let repairs: Repairs?
    private let unreadable = UnreadableRecordings()
    private let reported = ReportedFaults()
    private let progress: SecondPassProgress
    private let opened: OpenedRecordings?
    private let writes: @Sendable (Bool) -> Void

    /// - Parameters:
    ///   - opened: nil if no private key can open recordings.
    ///   - repairs: those that remain after the start; nil without any.
    ///   - writes: called when transcription starts and stops.
    package init(
        configuration: Configuration, archive: SQLiteArchive, hub: EventHub, workers: DecodeWorkers,
        progress: SecondPassProgress, opened: OpenedRecordings? = nil, repairs: Repairs? = nil,
        writes: @escaping @Sendable (Bool) -> Void
    ) {
        self.configuration = configuration
        self.archive = archive
        self.hub = hub
        self.workers = workers
        self.progress = progress
        self.opened = opened
        self.repairs = repairs
        self.writes = writes
    }

    /// Does all work until it is asked to stop: a new recording's text has priority, and a small board lacks memory for
    /// two sets of workers.
    ///
    /// - Parameter asked: ends when the run must stop.
    package func run(until asked: AsyncStream<Never>) async -> End {
        do {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await work() }
                group.addTask {
                    for await _ in asked {}
                    throw CancellationError()
                }
                let first = await group.nextResult()
                group.cancelAll()
                await workers.endRereaders()
                try first?.get()
            }
            return .done
        } catch { return error is CancellationError ? .interrupted : .failed(DeviceError(wrapping: error)) }
    }

    private func work() async throws {
        // Work that frees space comes first.
        let steps = [
            erase, repair, sign, transcribeBacklog, runSecondPass, identifySpeakers, learnVoices, seal,
            runOpenedSecondPass,
        ]
        for step in steps {
            // The storage folder's path may lead to another archive by now.
            try archive.checkPlace()
            try await step()
        }
    }

    /// All other work continues without signatures; their absence is reported once per start.
    private func sign() async throws {
        let storage = configuration.storage.directory
        do {
            for error in try await SigningRecordings(storage: storage, archive: archive).run()
            where reported.isNew(error) {
                Log.report(.warning, "unsigned", ["message": error.message])
            }
        } catch let error as DeviceError where !error.isOfDatabase {
            if reported.isNew(error) { Log.report(.notice, "unsigned", ["message": error.message]) }
        }
    }

    /// A recording that cannot be sealed stays as it is; each failure is reported as a fault.
    private func seal() async throws {
        let sealing = SealingRecordings(configuration, archive: archive, unreadable: unreadable)
        do {
            let failures = try await sealing.run { Log.report(.notice, "sealed", ["recording": "\($0)"]) }
            for (_, error) in failures.sorted(by: { $0.key < $1.key }) { hub.publish(fault: error) }
        } catch let error as DeviceError where !error.isOfDatabase { hub.publish(fault: error) }
        // Each problem is reported once per start.
        let erasure = Erasure(storage: configuration.storage.directory, archive: archive)
        for finding in try await erasure.keptBesideSealed() {
            let error = DeviceError(.damaged, "seal", on: finding.file, finding.message)
            if reported.isNew(error) { Log.report(.notice, "unsealed", ["message": error.message]) }
        }
    }

    /// Failed erasures do not stop other work; each failure is reported as a fault.
    private func erase() async throws {
        let storage = configuration.storage
        do {
            let outcome = try await Retention(storage.afterExport).apply(
                to: archive, storage: storage.directory)
            for id in outcome.erased {
                Log.report(.notice, "erased", ["recording": "\(id)", "reason": "after-export"])
            }
            for (_, error) in outcome.refused.sorted(by: { $0.key < $1.key }) { hub.publish(fault: error) }
        } catch { hub.publish(fault: DeviceError(wrapping: error)) }
    }

    /// Repairs that need disk space do not stop other work.
    private func repair() async throws {
        do { try await repairs?.run { Log.report($0) } } catch let error as DeviceError where error.code == .full {
            hub.publish(fault: error)
        }
    }

    private func transcribeBacklog() async throws {
        let backlog = Backlog(configuration: configuration, archive: archive, hub: hub, unreadable: unreadable)
        guard try await !backlog.waiting().isEmpty else { return }
        writes(true)
        defer { writes(false) }
        let pool = try workers.readers()
        for id in try await backlog.run(pool: pool) {
            Log.report(.information, "transcribed", ["recording": "\(id)"])
        }
        await pool.releaseIdle()
    }

    /// Sealing continues without speakers. A missing model is reported once, because nothing is lost.
    private func identifySpeakers() async throws {
        let diarization = DiarizationJob(
            configuration: configuration, archive: archive, hub: hub, unreadable: unreadable)
        guard try await !diarization.waiting().isEmpty else { return }
        await workers.releaseIdle()
        do {
            for (id, count) in try await diarization.run() {
                Log.report(.information, "speakers", ["recording": "\(id)", "count": "\(count)"])
            }
        } catch let error as DeviceError where !error.isOfDatabase {
            if reported.isNew(error) { hub.publish(fault: error) }
        }
    }

    /// Proposes names in earlier recordings; a failure does not stop other work.
    private func learnVoices() async throws {
        do {
            for id in try await VoiceprintJob(configuration: configuration, archive: archive).run() {
                Log.report(.information, "names proposed", ["recording": "\(id)"])
            }
        } catch let error as DeviceError where !error.isOfDatabase {
            if reported.isNew(error) { hub.publish(fault: error) }
        }
    }

    /// A recording that is locked in the meantime is not a fault. A recording's failure is reported once, and does not
    /// affect others.
    private func runOpenedSecondPass() async throws {
        guard configuration.readsTwice, !configuration.storage.seal.isEmpty, let opened else { return }
        let done = try await OpenedSecondPass(
            configuration: configuration, archive: archive, opened: opened, hub: hub, progress: progress
        ).run {
            await workers.releaseIdle()
            return try workers.rereaders()
        } report: { error in
            if reported.isNew(error) { hub.publish(fault: error) }
        }
        for id in done { Log.report(.notice, "resealed", ["recording": "\(id)"]) }
    }

    private func runSecondPass() async throws {
        guard configuration.readsTwice else { return }
        let secondPass = SecondPassJob(
            configuration: configuration, archive: archive, hub: hub, unreadable: unreadable, progress: progress)
        guard try await !secondPass.waiting().isEmpty else { return }
        await workers.releaseIdle()
        for id in try await secondPass.run(pool: workers.rereaders()) {
            Log.report(.information, "reread", ["recording": "\(id)"])
        }
    }
}

/// The reported faults, so that each is reported once.
private final class ReportedFaults: Sendable {
    private let messages = Mutex<Set<String>>([])

    /// Returns whether an error is new, and remembers it.
    func isNew(_ error: DeviceError) -> Bool { messages.withLock { $0.insert(error.message).inserted } }
}
