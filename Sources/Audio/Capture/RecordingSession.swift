import Core
import System

/// One recording, from opening the microphone to closing the file.
///
/// A capture thread fills a ring, a writer thread empties it into the file: the microphone never waits for the disk.
package final class RecordingSession: Sendable {
    /// How a recording is kept.
    package struct Settings: Sendable {
        /// How long the disk may take nothing before audio is lost, in seconds. The default is 30.
        var ringSeconds = 30.0

        /// How much audio a power cut may take, in seconds, on a disk that keeps up: see `SyncPace`. The default is 1.
        package var syncSeconds = 1.0

        /// Priority of the capture thread, 1 to 99, or nil for none; needs the privilege. The default is 20.
        var realtimePriority: Int32? = 20

        /// Where the recording ends by itself, what was lost included. The default is nil: nowhere.
        package var length: SamplePosition?

        /// What recordings leave free on their disk. The default is nil: nothing.
        package var reserve: DiskReserve?

        /// How long a disk that refuses a second new file is left alone before the next, in seconds; four times as
        /// long after that. The default is 0.5.
        var retrySeconds = 0.5

        /// So many samples of a recording in parts are joined before its end is told, in a second or two of any card. More is
        /// left to whoever looks after recordings: the next one does not wait for it.
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

    /// A recording of `microphone` to a file that does not yet exist; its folder does.
    convenience init(
        microphone: any MicrophoneProvider, path: String, settings: Settings = Settings(), sink: any RecordingSink
    ) {
        self.init(CaptureSession(microphone: microphone, settings: settings), path: path, sink: sink)
    }

    /// A recording of what is captured, from the first sample, to a file that does not yet exist; its folder does.
    package init(_ capture: CaptureSession, path: String, sink: any RecordingSink) {
        self.capture = capture
        self.path = path
        self.sink = sink
    }

    /// How far the capture has come; what is on the disk is up to a sync behind it. From any thread.
    package var position: SamplePosition { link.position }

    /// Behind the last sample that was taken, in the ring or the file. From any thread.
    package var heard: SamplePosition { link.heard }

    /// Asks that everything before a position, which is recorded already, goes to the disk at once. From any thread.
    package func sync(upTo position: SamplePosition) { link.wantSync(upTo: position) }

    /// Records until the microphone ends, `stop` is called, the task is cancelled, or the disk fails. Once a session.
    ///
    /// What fails after the file was made does not throw: the result tells of it, and of what was saved.
    /// - Throws: `DeviceError` where the microphone cannot be opened (then no file was made) or the file cannot be made,
    ///   `full` where less than the reserve is free.
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

    /// Takes nothing from now on, until it shall go on: the time between is silence in the file and one gap, told when it is
    /// over. A recording that ends while it is paused ends where the pause began. From any thread.
    package func setPaused(_ isPaused: Bool) { capture.setPaused(isPaused) }

    /// Whether nothing is taken.
    package var isPaused: Bool { capture.isPaused }

    /// Ends the recording, from any thread: `run` returns once everything captured so far is in the closed file.
    ///
    /// The first reason counts; later calls change nothing.
    package func stop(reason: StopReason) { capture.stop(reason: reason) }

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
