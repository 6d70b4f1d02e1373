import Core
import Synchronization
import System

/// Records from a microphone to a file.
///
/// A capture thread fills a ring, and a writer thread writes its content to the file. The microphone therefore never
/// waits for the disk. Capturing can start before the file exists: `record` writes everything from the first sample on.
package final class RecordingSession: Sendable {
    /// Settings for a recording.
    package struct Settings: Sendable {
        /// How long the disk may stall before audio is lost, in seconds.
        var ringSeconds = 30.0

        /// How much audio a power cut may lose, in seconds, if the disk keeps up; see `SyncPace`.
        package var syncSeconds = 1.0

        /// The real-time priority of the capture thread, 1 to 99, used if permitted; nil for normal priority.
        var realtimePriority: Int32? = 20

        /// The maximum length, including gaps; nil for no limit.
        package var length: SamplePosition?

        /// The space to leave free on the disk; nil to use all space.
        package var reserve: DiskReserve?

        /// The delay before a second new file is tried, in seconds. Each further delay is four times as long.
        var retrySeconds = 0.5

        /// The maximum length of a recording, in samples of all channels, whose parts are joined before its end is
        /// reported. This takes a second or two on any card. Maintenance joins the parts of longer recordings.
        var immediateJoinLimit = Int64(8 << 20)

        var clock: @Sendable () -> Int64 = { MonotonicClock.nanoseconds }
        var faults: DiskFaults?
        var syncNanoseconds: Int64 { Int64(syncSeconds * 1e9) }
        var retryNanoseconds: Int64 { Int64(retrySeconds * 1e9) }

        package init() {}
    }

    package let microphone: any MicrophoneProvider
    /// The length of the audio captured before the recording, in seconds.
    package let prerollSeconds: Double

    private let settings: Settings
    private let link: CaptureLink
    private let hasBegun = StopFlag()

    /// Allocates the ring but does not open the microphone.
    package init(microphone: any MicrophoneProvider, settings: Settings = Settings()) {
        self.microphone = microphone
        self.settings = settings
        prerollSeconds = microphone.prerollSeconds
        link = CaptureLink(
            ringSamples: Int(settings.ringSeconds * Double(SamplePosition.rate)), channels: microphone.channels)
    }

    /// The end of everything captured so far, whether or not it is on the disk yet. Callable from any thread.
    package var position: SamplePosition { link.position }

    /// The end of the last audio that the microphone delivered outside of pauses. Callable from any thread.
    package var capturedAudioEnd: SamplePosition { link.capturedAudioEnd }

    /// Requests an immediate sync of everything recorded before a position. Callable from any thread.
    package func sync(upTo position: SamplePosition) { link.requestSync(upTo: position) }

    /// Captures into memory on a separate thread until the microphone ends or `stop` is called. Later calls return
    /// immediately.
    package func capture() async throws {
        guard hasBegun.raise() else { return }
        try await onThread(named: "capture", realtimePriority: settings.realtimePriority) { [self] in
            Capture(provider: microphone, link: link, length: settings.length, clock: settings.clock).run()
        }
    }

    /// Records to a new file in an existing folder until the microphone ends, the maximum length is reached, `stop` is
    /// called, the task is cancelled, or the disk fails. Call this only once.
    ///
    /// Errors after the file was created are not thrown but are part of the result.
    /// - Throws: `DeviceError` if the microphone or the file cannot be opened, in which case no audio is saved; `full`
    ///   if less than the reserve is free.
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

    /// Pauses or resumes. Callable from any thread. A pause becomes silence in the file and a gap, which is reported when
    /// the pause ends. If the recording stops during a pause, it ends where the pause began.
    package func setPaused(_ isPaused: Bool) { link.setPaused(isPaused) }

    package var isPaused: Bool { link.isPaused }

    /// Stops the recording. Callable from any thread. `record` returns once everything captured is in the closed file.
    /// If several calls give a reason, the first one counts. Pass nil if nothing is being recorded.
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

/// The result of a recording.
package struct RecordingResult: Hashable, Sendable {
    /// The length, including gaps.
    package var length: SamplePosition
    package var reason: StopReason

    var gaps: [Gap] = []

    /// The error if `reason` is `error` (from the microphone) or `disk`.
    package var error: DeviceError?
}
