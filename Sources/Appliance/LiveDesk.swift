import Core
import Recognizing
import Recording

/// What the writer thread tells of a recording, handed on to those who follow it.
final class LiveDesk: RecordingSink {
    let source: LiveAudioSource

    /// Gaps as they come; ends with the recording.
    let gaps: AsyncStream<Gap>

    private let recording: Int
    private let hub: EventHub
    private let progress = RecordingProgress()
    private let lostGaps: AsyncStream<Gap>.Continuation

    init(recording: Int, path: String, hub: EventHub) {
        self.recording = recording
        self.hub = hub
        source = LiveAudioSource(path: path, progress: progress)
        (gaps, lostGaps) = AsyncStream<Gap>.makeStream()
    }

    func written(upTo position: SamplePosition) { progress.written(upTo: position) }

    func level(rms: Double, peak: Double) { hub.publish(.level(rms: rms, peak: peak)) }

    func lost(_ gap: Gap) {
        source.lost(gap)
        lostGaps.yield(gap)
        hub.publish(.gap(recording: recording, gap: gap))
    }

    /// Waits until so much is recorded; false where the recording ends before.
    func reaches(_ position: SamplePosition) async -> Bool {
        if case .available = await progress.next(after: position - 1) { return true }
        return false
    }

    /// Ends the sequences of all who follow.
    func end(at position: SamplePosition) {
        progress.end(at: position)
        lostGaps.finish()
    }
}
