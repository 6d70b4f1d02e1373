import Core
import Synchronization
import System

/// The first half of a recording: from the microphone into memory. It may begin before the place of its file is known,
/// so that no word waits for the disk; `RecordingSession` then takes everything from the first sample.
package final class CaptureSession: Sendable {
    /// What is recorded.
    package let microphone: any MicrophoneProvider
    let settings: RecordingSession.Settings
    let link: CaptureLink
    private let hasBegun = Atomic<Bool>(false)

    /// How much of it the microphone had heard before, in seconds.
    package let prerollSeconds: Double

    /// Takes memory for the ring; the microphone is not opened yet.
    package init(microphone: any MicrophoneProvider, settings: RecordingSession.Settings) {
        self.microphone = microphone
        self.settings = settings
        prerollSeconds = microphone.prerollSeconds
        link = CaptureLink(
            ringSamples: Int(settings.ringSeconds * Double(SamplePosition.rate)), channels: microphone.channels)
    }

    /// Opens the microphone and listens, on a thread of its own, until it ends or is stopped. Where it has been called
    /// before it returns at once.
    package func run() async throws {
        guard !hasBegun.exchange(true, ordering: .acquiringAndReleasing) else { return }
        try await onThread(named: "capture", realtimePriority: settings.realtimePriority) { [self] in
            Capture(provider: microphone, link: link, length: settings.length, clock: settings.clock).run()
        }
    }

    /// Takes nothing from now on, until it shall go on; what is left out becomes one gap. From any thread.
    func setPaused(_ isPaused: Bool) { link.setPaused(isPaused) }

    /// Whether nothing is taken.
    var isPaused: Bool { link.isPaused }

    /// Ends it, from any thread. The first reason counts; nil is none, for what nobody records.
    package func stop(reason: StopReason?) { link.stop(reason: reason) }
}
