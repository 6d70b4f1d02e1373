import Core
import Synchronization
import System

/// Records a microphone to a file.
///
/// A capture thread fills a ring; a writer thread empties it into the file. So the microphone never waits for the disk.
/// Capture can start before the file exists, so that no word is lost: `record` writes everything from the first sample.
package final class RecordingSession: Sendable {
    /// The settings of a recording.
    package struct Settings: Sendable {
        /// How long the disk may stall before audio is lost, in seconds.
        var ringSeconds = 30.0

        /// How much audio a power cut may lose, in seconds, if the disk keeps up; see `SyncPace`.
        package var syncSeconds = 1.0

        /// The priority of the capture thread, 1 to 99; nil for none. Needs the privilege.
        var realtimePriority: Int32? = 20

        /// The maximum length, including losses; nil for no limit.
        package var length: SamplePosition?

        /// The space to leave free on the disk; nil for none.
        package var reserve: DiskReserve?

        /// The delay after a second new file fails, in seconds; each further delay is four times as long.
        var retrySeconds = 0.5

        /// The longest recording in parts that is joined before the end is reported, in samples: a second or two on any card.
        /// Maintenance joins longer ones, so that the next recording need not wait.
        var joinedAtOnce = Int64(8 << 20)

        var clock: @Sendable () -> Int64 = { MonotonicClock.nanoseconds }
        var faults: DiskFaults?
        var syncNanoseconds: Int64 { Int64(syncSeconds * 1e9) }
        var retryNanoseconds: Int64 { Int64(retrySeconds * 1e9) }

        package init() {}
    }

    package let microphone: any MicrophoneProvider
    /// Audio captured before the recording.
    package let prerollSeconds: Double

    private let settings: Settings
    private let link: CaptureLink
    private let hasBegun = StopFlag()

    /// Allocates the ring; does not open the microphone.
    package init(microphone: any MicrophoneProvider, settings: Settings = Settings()) {
        self.microphone = microphone
        self.settings = settings
        prerollSeconds = microphone.prerollSeconds
        link = CaptureLink(
            ringSamples: Int(settings.ringSeconds * Double(SamplePosition.rate)), channels: microphone.channels)
    }

    /// The end of everything captured so far; the disk may be one sync behind. Any thread may read it.
    package var position: SamplePosition { link.position }

    /// The end of the last sample that was not lost or paused. Any thread may read it.
    package var heard: SamplePosition { link.heard }

    /// Requests an immediate sync of everything recorded before a position. Any thread may call it.
    package func sync(upTo position: SamplePosition) { link.requestSync(upTo: position) }

    /// Captures into memory on a thread of its own until the microphone ends or `stop` is called. Later calls return
    /// immediately.
    package func capture() async throws {
        guard hasBegun.raise() else { return }
        try await onThread(named: "capture", realtimePriority: settings.realtimePriority) { [self] in
            Capture(provider: microphone, link: link, length: settings.length, clock: settings.clock).run()
        }
    }

    /// Records to a new file in an existing folder until the microphone ends, `stop` is called, the task is cancelled, or
    /// the disk fails. Call it once.
    ///
    /// An error after the file was created does not throw; it is part of the result.
    /// - Throws: `DeviceError` if the microphone or the file cannot be opened; no audio is then saved. `full` if less than
    ///   the reserve is free.
    package func record(to path: String, sink: any RecordingSink) async throws -> RecordingResult {
        try settings.reserve?.check()
        return try await withTaskCancellationHandler {
            async let captured: Void = capture()
            async let result = onThread(named: "writer") { try self.write(to: path, sink) }
            try await captured
            return try await result
        } onCancel: {
            stop(reason: .shutdown)
        }
    }

    /// Pauses or resumes, from any thread. A pause is silence in the file and one gap, reported when the pause ends. A
    /// recording that ends during a pause ends where the pause began.
    package func setPaused(_ isPaused: Bool) { link.setPaused(isPaused) }

    package var isPaused: Bool { link.isPaused }

    /// Ends the recording, from any thread. `record` returns once everything captured is in the closed file. The first
    /// reason counts; pass nil if nothing is recorded.
    package func stop(reason: StopReason?) { link.stop(reason: reason) }

    private func write(to path: String, _ sink: any RecordingSink) throws -> RecordingResult {
        try link.awaitOpening()
        do {
            return try Writer(path: path, link: link, sink: sink, settings: settings, microphone: microphone).run()
        } catch {
            link.stop(reason: .disk)
            throw error
        }
    }
}

/// How a recording ended.
package struct RecordingResult: Hashable, Sendable {
    /// Includes the silence in gaps.
    package var length: SamplePosition
    package var reason: StopReason

    var gaps: [Gap] = []

    /// Set if `reason` is `error` (the microphone) or `disk`.
    package var error: DeviceError?
}
