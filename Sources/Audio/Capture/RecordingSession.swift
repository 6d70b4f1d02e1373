import Core
import System

/// Records a microphone to a file.
///
/// A capture thread fills a ring; a writer thread empties it into the file. So the microphone never waits for the disk.
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

    private let capture: CaptureSession
    private let path: String
    private let sink: any RecordingSink

    private var link: CaptureLink { capture.link }
    private var settings: Settings { capture.settings }

    /// Records `microphone` to a new file in an existing folder.
    convenience init(
        microphone: any MicrophoneProvider, path: String, settings: Settings = Settings(), sink: any RecordingSink
    ) {
        self.init(CaptureSession(microphone: microphone, settings: settings), path: path, sink: sink)
    }

    /// Writes everything from a capture, from its first sample, to a new file in an existing folder.
    package init(_ capture: CaptureSession, path: String, sink: any RecordingSink) {
        self.capture = capture
        self.path = path
        self.sink = sink
    }

    /// The end of everything captured so far; the disk may be one sync behind. Any thread may read it.
    package var position: SamplePosition { link.position }

    /// The end of the last sample that was not lost or paused. Any thread may read it.
    package var heard: SamplePosition { link.heard }

    /// Requests an immediate sync of everything recorded before a position. Any thread may call it.
    package func sync(upTo position: SamplePosition) { link.requestSync(upTo: position) }

    /// Records until the microphone ends, `stop` is called, the task is cancelled, or the disk fails. Call it once.
    ///
    /// An error after the file was created does not throw; it is part of the result.
    /// - Throws: `DeviceError` if the microphone or the file cannot be opened; no audio is then saved. `full` if less than
    ///   the reserve is free.
    package func run() async throws -> RecordingResult {
        try settings.reserve?.check()
        return try await withTaskCancellationHandler {
            async let captured: Void = capture.run()
            async let result = onThread(named: "writer") { try self.write() }
            try await captured
            return try await result
        } onCancel: {
            stop(reason: .shutdown)
        }
    }

    /// Pauses or resumes, from any thread. A pause is silence in the file and one gap, reported when the pause ends. A
    /// recording that ends during a pause ends where the pause began.
    package func setPaused(_ isPaused: Bool) { link.setPaused(isPaused) }

    /// Whether the recording is paused.
    package var isPaused: Bool { link.isPaused }

    /// Ends the recording, from any thread. `run` returns once everything captured is in the closed file. The first reason
    /// counts.
    package func stop(reason: StopReason) { link.stop(reason: reason) }

    private func write() throws -> RecordingResult {
        try link.awaitOpening()
        do {
            let writer = try Writer(
                path: path, link: link, sink: sink, settings: settings, microphone: capture.microphone)
            return writer.run()
        } catch {
            link.stop(reason: .disk)
            throw error
        }
    }
}
