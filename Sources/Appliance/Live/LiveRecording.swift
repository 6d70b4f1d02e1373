import Audio
import Core
import Maintenance
import Recognition
import Settings
import System

/// A recording in progress and its transcription.
///
/// If recognition fails, the recording continues: a fault is published, and the recording is transcribed later.
package final class LiveRecording: Sendable {
    /// The result of a recording and its transcription.
    package struct Outcome: Sendable {
        package var id: Int
        package var folder: RecordingFolder
        package var recording: RecordingResult
        /// The statistics of the transcription, or why it failed; nil if it did not begin.
        package var transcription: Result<Statistics, any Error>?
    }

    private let configuration: Configuration
    let archive: any Archive
    private let hub: EventHub
    let session: RecordingSession
    let observer: LiveObserver

    /// The pause between two attempts to write the end of the recording to a full disk.
    private static let retryInterval = Duration.seconds(2)

    let id: Int
    let folder: RecordingFolder

    /// Adds a new recording to the archive and creates its folder; `run` then records.
    ///
    /// - Parameter session: the source, which may already be capturing. The recording begins with its first sample; if
    ///   the microphone has a pre-roll, that is the start of the pre-roll.
    /// - Throws: `DeviceError`, with `full` if the free space is below the reserve. The session is then stopped.
    package init(
        configuration: Configuration, archive: any Archive, capture session: RecordingSession, hub: EventHub
    ) async throws {
        var isComplete = false
        defer { if !isComplete { session.stop(reason: nil) } }
        let reserve = configuration.reserve
        // If the storage folder was renamed, do not create a new one under its old name.
        try await archive.checkLocation()
        try makeFolder(reserve.directory)
        try reserve.check()
        // Recording works without the ballast.
        try? reserve.ensureBallast()
        self.configuration = configuration
        self.archive = archive
        self.hub = hub
        id = try await archive.beginRecording(
            startedAt: MonotonicClock.wallSeconds - session.prerollSeconds,
            clock: MonotonicClock.wallIsSynchronized ? .synchronized : .unverified,
            microphone: session.microphone.name)
        folder = RecordingFolder(storage: configuration.storage.directory, recording: id)
        do {
            // The storage folder may have been renamed since the first check.
            try await archive.checkLocation()
            try makeFolder(folder.path)
        } catch {
            await Self.discard(id, in: archive, hub)
            throw error
        }
        observer = LiveObserver(recording: id, path: folder.audio, hub: hub)
        self.session = session
        isComplete = true
    }

    /// Removes a recording that has no sound. The error that ended it is more important, so another one is published.
    private static func discard(_ id: Int, in archive: any Archive, _ hub: EventHub) async {
        do { try await archive.discard(recording: id) } catch { hub.publish(fault: DeviceError(wrapping: error)) }
    }

    /// The current end of the recording, where a bookmark set now would be.
    var position: SamplePosition { session.position }

    /// Waits until everything before a position is on the disk, or until the recording has ended.
    ///
    /// - Throws: `CancellationError` if the task is cancelled first.
    func flush(upTo position: SamplePosition) async throws {
        session.sync(upTo: position)
        do { try await observer.waitUntilDurable(upTo: position) } catch {
            // A closed file is completely on the disk.
            guard observer.isClosed else { throw error }
        }
    }

    /// Whether the microphone is connected. While it is disconnected, the recording has a gap.
    var microphoneIsAlive: Bool { observer.faults[DeviceError.Code.disconnected.rawValue] == nil }

    /// Adds a bookmark at the position that was recorded a given time ago.
    @discardableResult
    func mark(_ text: String = "", ago: Duration = .zero) async throws -> Bookmark {
        let samplesAgo = Int64(SamplePosition.rate) * ago.milliseconds / 1_000
        let mark = Bookmark(max(.zero, position - samplesAgo), text: text)
        try await archive.add(mark, recording: id)
        hub.publish(.mark(recording: id, mark: mark))
        return mark
    }

    /// Waits until everything before `position` is in the file. Returns false if the recording ends first or the task
    /// is cancelled.
    package func waitUntilWritten(upTo position: SamplePosition) async -> Bool {
        await observer.waitUntilWritten(upTo: position)
    }

    /// Stops the recording. Callable from any thread. `run` returns once the transcription has caught up or failed.
    package func stop(reason: StopReason) {
        hub.publish(.state(.stopping))
        session.stop(reason: reason)
    }

    /// Records until `stop` is called. If there is a pool, transcribes with its workers meanwhile.
    ///
    /// - Parameter waitsForSpace: if the disk is full, whether to wait until there is space to save how the recording
    ///   ended. Otherwise `run` throws, and the next start repairs the recording.
    /// - Throws: `DeviceError` if the microphone cannot be opened or the file cannot be created; the recording is then
    ///   removed from the archive. Also throws the archive's errors, and `CancellationError` if the task is cancelled
    ///   or the recording was erased meanwhile.
    package func run(
        pool: WorkerPool?, alternatives: Int, waitsForSpace: Bool = false
    ) async throws -> Outcome {
        hub.publish(.state(.recording))
        async let recorded = record(waitsForSpace: waitsForSpace)
        async let gaps: Void = archiveGaps()
        let transcription = await transcribe(pool, alternatives: alternatives)
        let result = try await recorded
        try await gaps
        return Outcome(id: id, folder: folder, recording: result, transcription: transcription)
    }

    private func record(waitsForSpace: Bool) async throws -> RecordingResult {
        let result: RecordingResult
        do { result = try await session.record(to: folder.audio, sink: observer) } catch {
            observer.end(at: .zero)
            await Self.discard(id, in: archive, hub)
            throw error
        }
        observer.end(at: result.length)
        if let error = result.error { hub.publish(fault: error) }
        do { try await saveEnd(of: result, waitsForSpace: waitsForSpace) } catch {
            throw await cancellationIfErased(error)
        }
        return result
    }

    /// Saves in the archive how the recording ended. Other programs may have filled the disk, including the reserve.
    private func saveEnd(of result: RecordingResult, waitsForSpace: Bool) async throws {
        var isReported = false
        while true {
            do {
                return try await archive.endRecording(id, length: result.length, reason: result.reason)
            } catch let error as DeviceError where error.code == .full && waitsForSpace {
                if !isReported { hub.publish(fault: error) }
                isReported = true
                try await Task.sleep(for: Self.retryInterval)
            }
        }
    }

    private func archiveGaps() async throws {
        for await gap in observer.gaps {
            do { try await archive.add(gap, recording: id) } catch { throw await cancellationIfErased(error) }
        }
    }

    /// Returns `CancellationError` if the recording was erased, otherwise the given error.
    private func cancellationIfErased(_ error: any Error) async -> any Error {
        if error is CancellationError { return error }
        let isErased = await Erasure.hasErased(id, storage: configuration.storage.directory, archive: archive)
        return isErased ? CancellationError() : error
    }

    private func transcribe(_ pool: WorkerPool?, alternatives: Int) async -> Result<Statistics, any Error>? {
        guard let pool else { return nil }
        do {
            // Loading the workers takes seconds, so they are not loaded for a recording that fails at once.
            guard await observer.waitUntilWritten(upTo: SamplePosition(1)) else { return nil }
            let engine = try await pool.prepare()
            let profile = await pool.profile
            let pass = try await archive.beginPass(recording: id, engine: engine, profile: profile)
            await hub.publish(engineErrorOf: pool)
            var settings = configuration.transcriberSettings(for: engine, profile: profile)
            settings.alternatives = alternatives
            settings.decodesDuringSpeech = true
            let statistics = try await Transcriber(pool: pool, settings: settings).run(
                observer.source,
                into: archiveSink(archive, recording: id, pass: pass, engine: engine, hub: hub) {
                    [observer, session] position in
                    session.sync(upTo: position)
                    try await observer.waitUntilDurable(upTo: position)
                })
            try await archive.endPass(pass, recording: id)
            BoardSpeed(configuration).store(statistics, profile: await pool.profile)
            return .success(statistics)
        } catch {
            let error = await cancellationIfErased(error)
            // Cancellation is no fault: the rest is transcribed later.
            if !(error is CancellationError) { hub.publish(fault: DeviceError(wrapping: error)) }
            return .failure(error)
        }
    }
}

extension RecordingSession {
    /// Creates a session with the configured settings.
    ///
    /// - Parameter length: the maximum length; nil for no limit.
    package convenience init(
        _ microphone: any MicrophoneProvider, configuration: Configuration, length: SamplePosition? = nil
    ) {
        var settings = Settings()
        settings.syncSeconds = configuration.capture.syncSeconds
        settings.length = length
        settings.reserve = configuration.reserve
        self.init(microphone: microphone, settings: settings)
    }
}

extension Configuration {
    /// The space that recordings leave free on the disk of `storage.directory`.
    package var reserve: DiskReserve {
        DiskReserve(directory: storage.directory, megabytes: storage.reserveMegabytes)
    }
}
