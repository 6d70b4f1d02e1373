import Core
import Platform
import Synchronization

/// One recording, from opening the microphone to closing the file.
///
/// A capture thread fills a ring, a writer thread empties it into the file: the microphone never waits for the disk.
package final class RecordingSession: Sendable {
    package struct Settings: Sendable {
        /// How long the disk may take nothing before audio is lost, in seconds. The default is 30.
        package var ringSeconds = 30.0

        /// How much audio a power cut may take, in seconds: the time between two syncs. The default is 1.
        package var syncSeconds = 1.0

        /// Priority of the capture thread, 1 to 99, or nil for none; needs the privilege. The default is 20.
        package var realtimePriority: Int32? = 20

        package init() {}
    }

    /// Whether the sink is told the level; off at first, may be changed at any time.
    package let wantsLevel = Atomic<Bool>(false)

    private let microphone: any MicrophoneProvider
    private let path: String
    private let settings: Settings
    private let sink: any RecordingSink
    private let link: CaptureLink

    /// A recording of `microphone` to a file that does not yet exist; its folder does.
    package init(
        microphone: any MicrophoneProvider, path: String, settings: Settings = Settings(), sink: any RecordingSink
    ) {
        self.microphone = microphone
        self.path = path
        self.settings = settings
        self.sink = sink
        link = CaptureLink(ringSamples: Int(settings.ringSeconds * Double(SamplePosition.rate)))
    }

    /// Records until the microphone ends, `stop` is called, the task is cancelled, or the disk fails. Once a session.
    ///
    /// What fails after the file was made does not throw: the result tells of it, and of what was saved.
    /// - Throws: `DeviceError` where the microphone cannot be opened (then no file was made) or the file cannot be made.
    package func run() async throws -> RecordingResult {
        try await withTaskCancellationHandler {
            let capture = Capture(provider: microphone, link: link)
            async let captured: Void = onThread(named: "capture", realtimePriority: settings.realtimePriority) {
                capture.run()
            }
            async let result = onThread(named: "writer") { try self.write() }
            try await captured
            return try await result
        } onCancel: {
            stop(reason: .shutdown)
        }
    }

    /// Ends the recording, from any thread: `run` returns once everything captured so far is in the closed file.
    ///
    /// The first reason counts; later calls change nothing.
    package func stop(reason: StopReason) { link.stop(reason: reason) }

    private func write() throws -> RecordingResult {
        try link.awaitOpening()
        do {
            let writer = try Writer(path: path, link: link, sink: sink, syncSeconds: settings.syncSeconds) {
                self.wantsLevel.load(ordering: .relaxed)
            }
            return writer.run()
        } catch {
            link.stop(reason: .disk)
            throw error
        }
    }
}
