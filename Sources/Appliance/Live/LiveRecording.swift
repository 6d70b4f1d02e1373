import Audio
import Core
import Maintenance
import Recognition
import Settings
import System

/// One recording with its transcription, between two presses of the button.
///
/// Recording continues whatever recognition does. If recognition fails, that is a fault, and the text is written later.
package final class LiveRecording: Sendable {
    /// How the recording went.
    package struct Outcome: Sendable {
        package var id: Int
        package var folder: RecordingFolder
        /// How the recording itself ended.
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

    /// Adds a new recording to the archive and makes its folder; `run` then records.
    ///
    /// - Parameter session: the source, started or not. The recording begins with its first sample, or with its
    ///   microphone's pre-roll and the wall time of that.
    /// - Throws: `DeviceError`, `full` if the disk has less than its reserve left; the capture is then stopped.
    package init(
        configuration: Configuration, archive: any Archive, capture session: RecordingSession, hub: EventHub
    ) async throws {
        var isWhole = false
        defer { if !isWhole { session.stop(reason: nil) } }
        let reserve = configuration.reserve
        // If the storage folder was renamed, do not make a new one in its place.
        try await archive.checkPlace()
        try makeFolder(reserve.directory)
        try reserve.check()
        // Recording works without it.
        try? reserve.keepBallast()
        self.configuration = configuration
        self.archive = archive
        self.hub = hub
        id = try await archive.beginRecording(
            startedAt: MonotonicClock.wallSeconds - session.prerollSeconds,
            clock: MonotonicClock.wallIsSynchronized ? .synchronized : .unverified,
            microphone: session.microphone.name)
        folder = RecordingFolder(storage: configuration.storage.directory, recording: id)
        do {
            // It may have been renamed since the first check.
            try await archive.checkPlace()
            try makeFolder(folder.path)
        } catch {
            try? await archive.discard(recording: id)
            throw error
        }
        observer = LiveObserver(recording: id, path: folder.audio, hub: hub)
        self.session = session
        isWhole = true
    }

    /// The end of the recording, which is the position of a bookmark set now.
    var position: SamplePosition { session.position }

    /// Returns once everything before a position is on the disk.
    ///
    /// - Throws: `CancellationError` if the recording fails first.
    func settle(upTo position: SamplePosition) async throws {
        session.sync(upTo: position)
        do { try await observer.isDurable(upTo: position) } catch {
            // A closed file is completely on the disk.
            guard observer.isClosed else { throw error }
        }
    }

    /// Whether the microphone is connected; while it is not, the recording has a gap.
    var microphoneIsAlive: Bool { observer.faults[DeviceError.Code.disconnected.rawValue] == nil }

    /// Adds a bookmark at the position recorded this long ago.
    @discardableResult
    func mark(_ text: String = "", ago: Duration = .zero) async throws -> Bookmark {
        let back = Int64(SamplePosition.rate) * ago.milliseconds / 1_000
        let mark = Bookmark(max(.zero, position - back), text: text)
        try await archive.add(mark, recording: id)
        hub.publish(.mark(recording: id, mark: mark))
        return mark
    }

    /// Waits until everything before `position` is recorded; returns false if the recording ends first.
    package func reaches(_ position: SamplePosition) async -> Bool { await observer.reaches(position) }

    /// Ends the recording, from any thread; `run` returns once the transcription has caught up.
    package func stop(reason: StopReason) {
        hub.publish(.state(.stopping))
        session.stop(reason: reason)
    }

    /// Records until `stop`, and transcribes with the pool's workers; without a pool it only records.
    ///
    /// - Parameter waitsForRoom: whether to wait until a full disk has space for the end of the recording, or the task
    ///   is cancelled. Otherwise that is an error, and the next start repairs the recording.
    /// - Throws: `DeviceError` if the microphone cannot be opened or the file cannot be made; the recording is then removed from
    ///   the archive. `CancellationError` if it was erased meanwhile.
    package func run(
        pool: WorkerPool?, alternatives: Int, waitsForRoom: Bool = false
    ) async throws -> Outcome {
        hub.publish(.state(.recording))
        async let recorded = record(waitsForRoom: waitsForRoom)
        async let gaps: Void = archiveGaps()
        let transcription = await transcribe(pool, alternatives: alternatives)
        let result = try await recorded
        try await gaps
        return Outcome(id: id, folder: folder, recording: result, transcription: transcription)
    }

    private func record(waitsForRoom: Bool) async throws -> RecordingResult {
        let result: RecordingResult
        do { result = try await session.record(to: folder.audio, sink: observer) } catch {
            observer.end(at: .zero)
            try await archive.discard(recording: id)
            throw error
        }
        observer.end(at: result.length)
        if let error = result.error { hub.publish(fault: error) }
        do { try await enterEnd(of: result, waitsForRoom: waitsForRoom) } catch { throw await unlessErased(error) }
        return result
    }

    /// Writes to the archive how the recording ended. Other programs may have filled the disk, including the reserve.
    private func enterEnd(of result: RecordingResult, waitsForRoom: Bool) async throws {
        var isReported = false
        while true {
            do {
                return try await archive.endRecording(id, length: result.length, reason: result.reason)
            } catch let error as DeviceError where error.code == .full && waitsForRoom {
                if !isReported { hub.publish(fault: error) }
                isReported = true
                try await Task.sleep(for: Self.retryInterval)
            }
        }
    }

    private func archiveGaps() async throws {
        for await gap in observer.gaps {
            do { try await archive.add(gap, recording: id) } catch { throw await unlessErased(error) }
        }
    }

    /// Replaces the errors of an erased recording by `CancellationError`.
    private func unlessErased(_ error: any Error) async -> any Error {
        if error is CancellationError { return error }
        let isErased = await Erasure.hasTaken(id, storage: configuration.storage.directory, archive: archive)
        return isErased ? CancellationError() : error
    }

    private func transcribe(_ pool: WorkerPool?, alternatives: Int) async -> Result<Statistics, any Error>? {
        guard let pool else { return nil }
        do {
            // Workers take seconds to load; if nothing can be recorded, report that first.
            guard await observer.reaches(SamplePosition(1)) else { return nil }
            let engine = try await pool.prepare()
            let pass = try await archive.beginPass(recording: id, engine: engine, profile: await pool.profile)
            await hub.publish(engineErrorOf: pool)
            var settings = configuration.transcriberSettings(for: engine)
            settings.alternatives = alternatives
            settings.hearsEarly = true
            let statistics = try await Transcriber(pool: pool, settings: settings).run(
                observer.source,
                into: archiveSink(archive, recording: id, pass: pass, engine: engine, hub: hub) {
                    [observer, session] position in
                    session.sync(upTo: position)
                    try await observer.isDurable(upTo: position)
                })
            try await archive.endPass(pass, recording: id)
            BoardSpeed(configuration).keep(statistics, profile: await pool.profile)
            return .success(statistics)
        } catch {
            let error = await unlessErased(error)
            // If the workers were ended, the rest of the text is written later.
            if !(error is CancellationError) { hub.publish(fault: DeviceError(wrapping: error)) }
            return .failure(error)
        }
    }
}

extension RecordingSession {
    /// Creates a session with the configured settings.
    ///
    /// - Parameter length: where the recording ends; nil for no limit.
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
