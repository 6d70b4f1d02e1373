import Audio
import Core
import Maintenance
import Recognition
import Synchronization
import System

/// What the writer thread tells of a recording, handed on to those who follow it.
final class LiveObserver: RecordingSink {
    let source: LiveAudioSource

    /// Gaps as they come; ends with the recording.
    let gaps: AsyncStream<Gap>

    private let recording: Int
    private let hub: EventHub
    private let progress = RecordingProgress()
    private let durable = RecordingProgress()
    private let lostGaps: AsyncStream<Gap>.Continuation
    private let synced = Atomic<Int64>(0)
    private let inFile = Atomic<Int64>(0)
    private let hasClosed = Atomic<Bool>(false)
    private let present = Mutex<[String: String]>([:])
    private let found = Mutex<[Gap]>([])

    init(recording: Int, path: String, hub: EventHub) {
        self.recording = recording
        self.hub = hub
        source = LiveAudioSource(path: path, progress: progress)
        (gaps, lostGaps) = AsyncStream<Gap>.makeStream()
    }

    /// Monotonic time at which bytes last reached the disk; nil before the first.
    var diskProgress: Duration? {
        let time = synced.load(ordering: .acquiring)
        return time > 0 ? .nanoseconds(time) : nil
    }

    /// What is wrong now: message by code.
    var faults: [String: String] { present.withLock { $0 } }

    /// The pauses that have ended, up to what is in the file.
    var pauses: [SampleRange] { found.withLock { $0.paused } }

    /// Asked anew each time: listeners come and go.
    var wantsLevel: Bool { hub.wantsPartials }

    /// How far it is in its file, whatever of that is safe.
    var writtenUpTo: SamplePosition { SamplePosition(inFile.load(ordering: .acquiring)) }

    /// Grows with each sample that is in the file, and with each sync.
    var growth: Int64 { inFile.load(ordering: .acquiring) &+ synced.load(ordering: .acquiring) }

    /// Whether its file is closed.
    var isClosed: Bool { hasClosed.load(ordering: .acquiring) }

    func closed(at position: SamplePosition, reason: StopReason) { hasClosed.store(true, ordering: .releasing) }

    func written(upTo position: SamplePosition) {
        inFile.store(position.samples, ordering: .releasing)
        progress.written(upTo: position)
    }

    func synced(upTo position: SamplePosition) {
        synced.store(MonotonicClock.nanoseconds, ordering: .releasing)
        durable.written(upTo: position)
    }

    func level(rms: Double, peak: Double) { hub.publish(.level(rms: rms, peak: peak)) }

    func lost(_ gap: Gap) {
        source.lost(gap)
        found.withLock { $0.append(gap) }
        lostGaps.yield(gap)
        hub.publish(.gap(recording: recording, gap: gap))
    }

    func fault(code: String, message: String) {
        present.withLock { $0[code] = message }
        hub.publish(.fault(code: code, message: message))
    }

    func recovered(code: String) { present.withLock { _ = $0.removeValue(forKey: code) } }

    /// Waits until so much is recorded; false where the recording ends before.
    func reaches(_ position: SamplePosition) async -> Bool {
        if case .available = await progress.next(after: position - 1) { return true }
        return false
    }

    /// Waits until everything before `position` is on the disk, or the recording has ended.
    func isDurable(upTo position: SamplePosition) async throws {
        if case .cancelled = await durable.next(after: position - 1) { throw CancellationError() }
    }

    /// Ends the sequences of all who follow.
    func end(at position: SamplePosition) {
        progress.end(at: position)
        durable.end(at: position)
        lostGaps.finish()
    }
}
