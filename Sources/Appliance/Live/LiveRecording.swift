import Audio
import Core
import Maintenance
import Recognition
import Settings
import System

/// One recording with its transcription: what happens between two presses of the button.
///
/// The recording goes on whatever the recognition does; a recognition that fails is a fault, and its work is left for
/// later.
package final class LiveRecording: Sendable {
    /// How it went.
    package struct Outcome: Sendable {
        package var id: Int
        /// Where it lies.
        package var folder: RecordingFolder
        /// How the recording itself ended.
        package var recording: RecordingResult

        /// What the transcription cost, or why it did not come to its end.
        package var transcription: Result<Statistics, any Error>?
    }

    private let configuration: Configuration
    let archive: any Archive
    private let hub: EventHub
    private let session: RecordingSession
    let observer: LiveObserver

    /// From one attempt to tell a full disk's archive how the recording ended to the next.
    private static let patience = Duration.seconds(2)

    /// The recording's number.
    let id: Int

    /// Where the recording lies.
    let folder: RecordingFolder

    /// Enters a new recording into the archive and makes its folder; `run` then records.
    ///
    /// - Parameter capture: what is recorded, from its first sample, whether it has begun or not. Where its microphone
    ///   has a pre-roll, the recording begins with that, and with the wall time of then.
    /// - Throws: `DeviceError`, `full` where the disk has less than its reserve left; the capture is then ended.
    package init(
        configuration: Configuration, archive: any Archive, capture: CaptureSession, hub: EventHub
    ) async throws {
        var isWhole = false
        defer { if !isWhole { capture.stop(reason: nil) } }
        let reserve = configuration.reserve
        // A folder that was renamed is not made again beside it.
        try await archive.checkPlace()
        try makeFolder(reserve.directory)
        try reserve.check()
        // Without it a recording still records.
        try? reserve.keepBallast()
        self.configuration = configuration
        self.archive = archive
        self.hub = hub
        id = try await archive.beginRecording(
            startedAt: MonotonicClock.wallSeconds - capture.prerollSeconds,
            clock: MonotonicClock.wallIsSynchronized ? .synchronized : .unverified,
            microphone: capture.microphone.name)
        folder = RecordingFolder(storage: configuration.storage.directory, recording: id)
        do {
            // It may have been renamed before the number was there.
            try await archive.checkPlace()
            try makeFolder(folder.path)
        } catch {
            try? await archive.discard(recording: id)
            throw error
        }
        observer = LiveObserver(recording: id, path: folder.audio, hub: hub)
        session = RecordingSession(capture, path: folder.audio, sink: observer)
        isWhole = true
    }

    /// How far it has come: where a mark goes that is made now.
    var position: SamplePosition { session.position }

    /// Behind the last sample that was taken: as `position`, but for what was lost or left out since.
    var heard: SamplePosition { session.heard }

    /// Where it was paused, up to what is on the disk; the pause that goes on is behind what was heard.
    var pauses: [SampleRange] { observer.pauses }

    /// Returns once everything before a position is on the disk.
    ///
    /// - Throws: `CancellationError` where the recording has ended before.
    func settle(upTo position: SamplePosition) async throws {
        session.sync(upTo: position)
        do { try await observer.isDurable(upTo: position) } catch {
            // All that there is of it then is.
            guard observer.isClosed else { throw error }
        }
    }

    /// Monotonic time at which bytes of it last reached the disk; nil before the first.
    var diskProgress: Duration? { observer.diskProgress }

    /// Whether the microphone is there; while it is not, what is lost becomes a gap.
    var microphoneIsAlive: Bool { observer.faults[DeviceError.Code.disconnected.rawValue] == nil }

    /// What is wrong with it now, the message by the code of its `Event.fault`; what is over is gone.
    var faults: [String: String] { observer.faults }

    /// Keeps a mark at the place that was recorded so long ago.
    @discardableResult
    func mark(_ text: String = "", ago: Duration = .zero) async throws -> Bookmark {
        let back = Int64(SamplePosition.rate) * ago.milliseconds / 1_000
        let mark = Bookmark(max(.zero, position - back), text: text)
        try await archive.add(mark, recording: id)
        hub.publish(.mark(recording: id, mark: mark))
        return mark
    }

    /// Waits until so much is recorded; false where the recording ends before.
    package func reaches(_ position: SamplePosition) async -> Bool { await observer.reaches(position) }

    /// Takes nothing from now on, until it shall go on; from any thread.
    func setPaused(_ isPaused: Bool) { session.setPaused(isPaused) }

    /// Whether nothing is taken.
    var isPaused: Bool { session.isPaused }

    /// Ends the recording, from any thread; `run` returns once its transcription has caught up.
    package func stop(reason: StopReason) {
        hub.publish(.state(.stopping))
        session.stop(reason: reason)
    }

    /// Records until `stop`, and transcribes meanwhile with the pool's workers; without a pool it only records.
    ///
    /// - Parameter waitsForRoom: whether a disk that has no room for how the recording ended is waited for, until the task is
    ///   cancelled; else that is thrown, and the next start makes up for it.
    /// - Throws: `DeviceError` where the microphone cannot be opened or the file cannot be made: then nothing was
    ///   recorded, and the archive forgets the number. `CancellationError` where it was erased meanwhile.
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
        do { result = try await session.run() } catch {
            observer.end(at: .zero)
            try await archive.discard(recording: id)
            throw error
        }
        observer.end(at: result.length)
        if let error = result.error { hub.publish(fault: error) }
        do { try await enterEnd(of: result, waitsForRoom: waitsForRoom) } catch { throw await unlessErased(error) }
        return result
    }

    /// Says in the archive how the recording ended. Others may have filled the disk to its last block, reserve and all.
    private func enterEnd(of result: RecordingResult, waitsForRoom: Bool) async throws {
        var isTold = false
        while true {
            do {
                return try await archive.endRecording(id, length: result.length, reason: result.reason)
            } catch let error as DeviceError where error.code == .full && waitsForRoom {
                if !isTold { hub.publish(fault: error) }
                isTold = true
                try await Task.sleep(for: Self.patience)
            }
        }
    }

    private func archiveGaps() async throws {
        for await gap in observer.gaps {
            do { try await archive.add(gap, recording: id) } catch { throw await unlessErased(error) }
        }
    }

    /// What fails of a recording that was erased is nobody's fault.
    private func unlessErased(_ error: any Error) async -> any Error {
        if error is CancellationError { return error }
        let isErased = await Erasure.hasTaken(id, storage: configuration.storage.directory, archive: archive)
        return isErased ? CancellationError() : error
    }

    private func transcribe(_ pool: WorkerPool?, alternatives: Int) async -> Result<Statistics, any Error>? {
        guard let pool else { return nil }
        do {
            // Workers take seconds to load: one that cannot record at all is told of before.
            guard await observer.reaches(SamplePosition(1)) else { return nil }
            let engine = try await pool.prepare()
            let pass = try await archive.beginPass(recording: id, engine: engine, profile: await pool.profile)
            await hub.publish(complaintOf: pool)
            var settings = configuration.transcriberSettings(for: engine)
            settings.alternatives = alternatives
            settings.hearsEarly = true
            let statistics = try await Transcriber(pool: pool, settings: settings).run(
                observer.source,
                into: ArchiveSink(archive: archive, recording: id, pass: pass, engine: engine, hub: hub) {
                    [observer, session] position in
                    session.sync(upTo: position)
                    try await observer.isDurable(upTo: position)
                })
            try await archive.endPass(pass, recording: id)
            BoardSpeed(configuration).keep(statistics, profile: await pool.profile)
            return .success(statistics)
        } catch {
            let error = await unlessErased(error)
            // Where the workers were ended, the rest of the text is written later.
            if !(error is CancellationError) { hub.publish(fault: DeviceError(wrapping: error)) }
            return .failure(error)
        }
    }
}

extension CaptureSession {
    /// What is captured of a microphone by these settings.
    ///
    /// - Parameter length: where the recording ends by itself; nil for never.
    package convenience init(
        _ microphone: any MicrophoneProvider, configuration: Configuration, length: SamplePosition? = nil
    ) {
        var settings = RecordingSession.Settings()
        settings.syncSeconds = configuration.capture.syncSeconds
        settings.length = length
        settings.reserve = configuration.reserve
        self.init(microphone: microphone, settings: settings)
    }
}

extension Configuration {
    /// What recordings leave free on the disk of `storage.directory`.
    package var reserve: DiskReserve {
        DiskReserve(directory: storage.directory, megabytes: storage.reserveMegabytes)
    }
}
