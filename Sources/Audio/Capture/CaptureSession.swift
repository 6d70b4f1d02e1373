import Core
import Synchronization
import System

/// Captures a microphone into memory. Capture can start before the recording's file exists, so that no word waits for
/// the disk; `RecordingSession` then writes everything from the first sample.
package final class CaptureSession: Sendable {
    /// The recorded microphone.
    package let microphone: any MicrophoneProvider
    let settings: RecordingSession.Settings
    let link: CaptureLink
    private let hasBegun = Atomic<Bool>(false)

    /// The seconds of audio that the microphone captured before the recording.
    package let prerollSeconds: Double

    /// Allocates the ring; does not open the microphone.
    package init(microphone: any MicrophoneProvider, settings: RecordingSession.Settings) {
        self.microphone = microphone
        self.settings = settings
        prerollSeconds = microphone.prerollSeconds
        link = CaptureLink(
            ringSamples: Int(settings.ringSeconds * Double(SamplePosition.rate)), channels: microphone.channels)
    }

    /// Captures on a thread of its own until the microphone ends or `stop` is called. Later calls return immediately.
    package func run() async throws {
        guard !hasBegun.exchange(true, ordering: .acquiringAndReleasing) else { return }
        try await onThread(named: "capture", realtimePriority: settings.realtimePriority) { [self] in
            Capture(provider: microphone, link: link, length: settings.length, clock: settings.clock).run()
        }
    }

    /// Ends the capture, from any thread. The first reason counts; pass nil if nothing is recorded.
    package func stop(reason: StopReason?) { link.stop(reason: reason) }
}
