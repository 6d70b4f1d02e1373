import Archive
import Core
import Settings
import Synchronization
import System

/// What earlier recordings lack: mends what a start has left to be mended, erases what `storage.after-export` lets go, writes down what
/// was not, reads once more what was, tells who spoke, and seals it where `storage.seal` says so; and what a private key has opened is read
/// once more, too, and sealed again.
package struct Upkeep: Sendable {
    /// How a run ended.
    package enum End: Hashable, Sendable {
        case done
        /// It was asked to end before.
        case brokenOff
        case failed(DeviceError)
    }

    private let configuration: Configuration
    private let archive: SQLiteArchive
    private let hub: EventHub
    private let workers: DecodeWorkers
    private let repairs: Repairs?
    private let unreadable = UnreadableRecordings()
    private let complaints = Complaints()
    private let progress: SecondPassProgress
    private let opened: OpenedRecordings?

    /// Hears whether text is being written now.
    private let writes: @Sendable (Bool) -> Void

    /// - Parameters:
    ///   - workers: what reads.
    ///   - progress: is told what is being read again.
    ///   - opened: what a private key has opened; nil: nothing can be.
    ///   - repairs: what a start has left to be done; nil: nothing.
    ///   - writes: hears whether text is being written now.
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

    /// Does all there is to do, unless it is asked to end before: a new recording's own text comes first, and two sets of
    /// workers are too many for a small board.
    ///
    /// - Parameter asked: ends when it is to be broken off.
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
        } catch { return error is CancellationError ? .brokenOff : .failed(DeviceError(wrapping: error)) }
    }

    private func work() async throws {
        // First what makes room.
        let steps = [erase, repair, sign, writeDown, readAgain, tellSpeakers, rememberVoices, seal, readOpened]
        for step in steps {
            // What has the storage folder's path now may be another archive.
            try archive.checkPlace()
            try await step()
        }
    }

    /// Without signatures all else goes on; that there are none is told once a start.
    private func sign() async throws {
        let storage = configuration.storage.directory
        do {
            for error in try await SigningRecordings(storage: storage, archive: archive).run()
            where complaints.take(error) {
                Log.tell(.warning, "unsigned", ["message": error.message])
            }
        } catch let error as DeviceError where !error.isOfDatabase {
            if complaints.take(error) { Log.tell(.notice, "unsigned", ["message": error.message]) }
        }
    }

    /// What cannot be sealed stays as it is, which is a fault each time it was tried.
    private func seal() async throws {
        let sealing = SealingRecordings(configuration, archive: archive, unreadable: unreadable)
        do {
            let failures = try await sealing.run { Log.tell(.notice, "sealed", ["recording": "\($0)"]) }
            for (_, error) in failures.sorted(by: { $0.key < $1.key }) { hub.publish(fault: error) }
        } catch let error as DeviceError where !error.isOfDatabase { hub.publish(fault: error) }
        // Each is told of once a start.
        let erasure = Erasure(storage: configuration.storage.directory, archive: archive)
        for finding in try await erasure.keptBesideSealed() {
            let error = DeviceError(.damaged, "seal", on: finding.file, finding.message)
            if complaints.take(error) { Log.tell(.notice, "unsealed", ["message": error.message]) }
        }
    }

    /// What cannot be erased keeps nothing from being read; it is a fault each time it was tried.
    private func erase() async throws {
        let storage = configuration.storage
        do {
            let outcome = try await Retention(storage.afterExport).apply(
                to: archive, storage: storage.directory)
            for id in outcome.erased { Log.tell(.notice, "erased", ["recording": "\(id)", "reason": "after-export"]) }
            for (_, error) in outcome.refused.sorted(by: { $0.key < $1.key }) { hub.publish(fault: error) }
        } catch { hub.publish(fault: DeviceError(wrapping: error)) }
    }

    /// What a full disk leaves as it is keeps nothing from being read.
    private func repair() async throws {
        do { try await repairs?.run { Log.tell($0) } } catch let error as DeviceError where error.code == .full {
            hub.publish(fault: error)
        }
    }

    private func writeDown() async throws {
        let backlog = Backlog(configuration: configuration, archive: archive, hub: hub, unreadable: unreadable)
        guard try await !backlog.waiting().isEmpty else { return }
        writes(true)
        defer { writes(false) }
        let pool = try workers.readers()
        for id in try await backlog.run(pool: pool) {
            Log.tell(.information, "transcribed", ["recording": "\(id)"])
        }
        await pool.releaseIdle()
    }

    /// What cannot be told keeps nothing from being sealed. That there is no model is told once: nobody has lost anything.
    private func tellSpeakers() async throws {
        let telling = DiarizationJob(configuration: configuration, archive: archive, hub: hub, unreadable: unreadable)
        guard try await !telling.waiting().isEmpty else { return }
        await workers.releaseIdle()
        do {
            for (id, count) in try await telling.run() {
                Log.tell(.information, "speakers", ["recording": "\(id)", "count": "\(count)"])
            }
        } catch let error as DeviceError where !error.isOfDatabase {
            if complaints.take(error) { hub.publish(fault: error) }
        }
    }

    /// Names of earlier recordings that are proposed; what keeps that from being done keeps nothing else from it.
    private func rememberVoices() async throws {
        do {
            for id in try await VoiceprintJob(configuration: configuration, archive: archive).run() {
                Log.tell(.information, "names proposed", ["recording": "\(id)"])
            }
        } catch let error as DeviceError where !error.isOfDatabase {
            if complaints.take(error) { hub.publish(fault: error) }
        }
    }

    /// What is locked meanwhile is no fault, and what fails for one keeps no other from being read; it is told once.
    private func readOpened() async throws {
        guard configuration.readsTwice, !configuration.storage.seal.isEmpty, let opened else { return }
        let done = try await OpenedSecondPass(
            configuration: configuration, archive: archive, opened: opened, hub: hub, progress: progress
        ).run {
            await workers.releaseIdle()
            return try workers.rereaders()
        } complain: { error in
            if complaints.take(error) { hub.publish(fault: error) }
        }
        for id in done { Log.tell(.notice, "resealed", ["recording": "\(id)"]) }
    }

    private func readAgain() async throws {
        guard configuration.readsTwice else { return }
        let rereading = SecondPassJob(
            configuration: configuration, archive: archive, hub: hub, unreadable: unreadable, progress: progress)
        guard try await !rereading.waiting().isEmpty else { return }
        await workers.releaseIdle()
        for id in try await rereading.run(pool: workers.rereaders()) {
            Log.tell(.information, "reread", ["recording": "\(id)"])
        }
    }
}

/// What was told, so that it is told once.
private final class Complaints: Sendable {
    private let told = Mutex<Set<String>>([])

    /// Whether it was not told yet.
    func take(_ error: DeviceError) -> Bool { told.withLock { $0.insert(error.message).inserted } }
}
