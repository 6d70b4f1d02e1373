import Audio
import Core
import Recognition
import Synchronization
import System

/// Receives the writer thread's reports about a recording, publishes them, and keeps what other tasks need to know.
final class LiveObserver: RecordingSink {
    private struct State {
        /// Nanoseconds on the monotonic clock; 0 before the first sync.
        var syncedAt: Int64 = 0
        var faults: [String: String] = [:]
        var gaps: [Gap] = []
    }

    let source: LiveAudioSource

    /// The gaps, as they are found. Finishes when the recording ends.
    let gaps: AsyncStream<Gap>

    private let recording: Int
    private let hub: EventHub
    private let progress = RecordingProgress()
    private let durable = RecordingProgress()
    private let gapContinuation: AsyncStream<Gap>.Continuation
    private let state = Mutex(State())

    init(recording: Int, path: String, hub: EventHub) {
        self.recording = recording
        self.hub = hub
        source = LiveAudioSource(path: path, progress: progress)
        (gaps, gapContinuation) = AsyncStream<Gap>.makeStream()
    }

    /// The monotonic time of the last sync; nil before the first one.
    var syncedAt: Duration? {
        let time = state.withLock { $0.syncedAt }
        return time > 0 ? .nanoseconds(time) : nil
    }

    /// The messages of the current faults, by code.
    var faults: [String: String] { state.withLock { $0.faults } }

    /// The pauses that have ended.
    var pauses: [SampleRange] { state.withLock { $0.gaps }.paused }

    // Computed each time, because subscribers come and go.
    var wantsLevel: Bool { hub.wantsPartials }

    /// The end of the file, whether synced or not.
    var writtenUpTo: SamplePosition { progress.position }

    /// A number that grows with each sample in the file and with each sync.
    var growth: Int64 { writtenUpTo.samples &+ state.withLock { $0.syncedAt } }

    /// Whether the file is closed, or was never created.
    var isClosed: Bool { durable.hasEnded }

    func closed(at position: SamplePosition, reason: StopReason) { durable.end(at: position) }

    func written(upTo position: SamplePosition) { progress.written(upTo: position) }

    func synced(upTo position: SamplePosition) {
        state.withLock { $0.syncedAt = MonotonicClock.nanoseconds }
        durable.written(upTo: position)
    }

    func level(rms: Double, peak: Double) { hub.publish(.level(rms: rms, peak: peak)) }

    func lost(_ gap: Gap) {
        source.addGap(gap)
        state.withLock { $0.gaps.append(gap) }
        gapContinuation.yield(gap)
        hub.publish(.gap(recording: recording, gap: gap))
    }

    func fault(code: String, message: String) {
        state.withLock { $0.faults[code] = message }
        hub.publish(.fault(code: code, message: message))
    }

    func recovered(code: String) { state.withLock { _ = $0.faults.removeValue(forKey: code) } }

    /// Waits until everything before `position` is in the file. Returns false if the recording ends first or the task
    /// is cancelled.
    func waitUntilWritten(upTo position: SamplePosition) async -> Bool {
        if case .available = await progress.next(after: position - 1) { return true }
        return false
    }

    /// Waits until everything before `position` is on the disk, or until the recording has ended.
    ///
    /// - Throws: `CancellationError` if the task is cancelled first.
    func waitUntilDurable(upTo position: SamplePosition) async throws {
        if case .cancelled = await durable.next(after: position - 1) { throw CancellationError() }
    }

    /// Ends all waits and the sequence of gaps.
    func end(at position: SamplePosition) {
        progress.end(at: position)
        durable.end(at: position)
        gapContinuation.finish()
    }
}
