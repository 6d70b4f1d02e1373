import Core
import Synchronization
import System

/// State shared by the capture thread, the writer thread and the threads that stop or pause them.
final class CaptureLink: Sendable {
    enum Outcome {
        /// `stop` was called.
        case stopped
        /// The microphone ended, or the recording reached its maximum length.
        case ended
        /// The microphone could not be opened.
        case refused(DeviceError)
        /// The microphone failed after it had been opened.
        case failed(DeviceError)
    }

    /// An event that the capture thread reports.
    enum Event {
        case microphoneLost(DeviceError)
        case microphoneBack
        /// The relative deviation of the sample rate; 0 once the rate is correct again.
        case rate(Double)
        /// Whether the microphone's channels cancel each other out.
        case cancelling(Bool)
    }

    let ring: SampleRing

    /// Wakes the writer thread for samples, events and sync requests, and when capture begins or ends.
    let data = Wakeup()

    /// Wakes a capture thread that is sleeping or waiting for space in the ring.
    let space = Wakeup()
    private let stopping = StopFlag()
    private let pauseFlag = Atomic<Bool>(false)
    private let isOpen = Atomic<Bool>(false)
    private let hasEnded = Atomic<Bool>(false)
    private let reason = Mutex<StopReason?>(nil)
    private let outcome = Mutex<Outcome>(.stopped)
    private let events = Mutex<[Event]>([])
    private let capturedSamples = Atomic<Int64>(0)
    private let audioCapturedUpTo = Atomic<Int64>(0)
    private let syncRequested = Atomic<Int64>(0)

    /// - Parameter channels: The maximum number of channels.
    init(ringSamples: Int, channels: Int) { ring = SampleRing(capacity: ringSamples, channels: channels) }

    /// Any thread: stops capturing. If several calls give a reason, the first one counts.
    func stop(reason newReason: StopReason?) {
        if let newReason { reason.withLock { $0 = $0 ?? newReason } }
        stopping.raise()
        space.signal()
    }

    var stopReason: StopReason? { reason.withLock { $0 } }

    var isStopping: Bool { stopping.isRaised }

    func setPaused(_ isPaused: Bool) { pauseFlag.store(isPaused, ordering: .releasing) }

    var isPaused: Bool { pauseFlag.load(ordering: .acquiring) }

    /// Capture thread: waits until the ring has space, or capture is stopping.
    func waitForSpace(for count: Int) {
        while !ring.hasSpace(for: count), !isStopping { space.wait() }
    }

    /// Capture thread: sleeps, but returns early if capture is stopping.
    func sleep(nanoseconds: Int64) {
        let end = MonotonicClock.nanoseconds + nanoseconds
        while !isStopping {
            let remaining = end - MonotonicClock.nanoseconds
            guard remaining > 0 else { return }
            space.wait(timeout: .nanoseconds(remaining))
        }
    }

    /// Capture thread: counts samples that were captured or lost.
    func advance(by samples: Int) { capturedSamples.wrappingAdd(Int64(samples), ordering: .relaxed) }

    /// Any thread: the end of everything captured or lost so far, whether written or not.
    var position: SamplePosition { SamplePosition(capturedSamples.load(ordering: .relaxed)) }

    /// Capture thread: marks the current position as the end of captured audio.
    func markAudioCaptured() { audioCapturedUpTo.store(capturedSamples.load(ordering: .relaxed), ordering: .relaxed) }

    /// Any thread: the end of the last audio that the microphone delivered outside of pauses.
    var capturedAudioEnd: SamplePosition { SamplePosition(audioCapturedUpTo.load(ordering: .relaxed)) }

    func report(_ event: Event) {
        events.withLock { $0.append(event) }
        data.signal()
    }

    /// Writer thread: returns the events since the last call.
    func drainEvents() -> [Event] {
        events.withLock { events in
            defer { events.removeAll() }
            return events
        }
    }

    /// Any thread: requests an immediate sync of everything before a position.
    func requestSync(upTo position: SamplePosition) {
        syncRequested.max(position.samples, ordering: .releasing)
        data.signal()
    }

    /// Writer thread: the position up to which a sync was requested.
    var syncRequestedUpTo: SamplePosition { SamplePosition(syncRequested.load(ordering: .acquiring)) }

    /// Capture thread: reports that the microphone is open.
    func captureOpened(channels: Int) {
        ring.use(channels: channels)
        isOpen.store(true, ordering: .releasing)
        data.signal()
    }

    /// Capture thread: reports that no more samples will follow.
    func captureEnded(_ finalOutcome: Outcome) {
        outcome.withLock { $0 = finalOutcome }
        hasEnded.store(true, ordering: .releasing)
        data.signal()
    }

    /// Writer thread: the outcome; nil while capture is running. Once it is set, all samples in the ring are visible.
    var captureOutcome: Outcome? { hasEnded.load(ordering: .acquiring) ? outcome.withLock { $0 } : nil }

    /// Writer thread: waits until the microphone is open. Throws if it cannot be opened.
    func awaitOpening() throws(DeviceError) {
        while !isOpen.load(ordering: .acquiring) {
            if case .refused(let error) = captureOutcome { throw error }
            data.wait()
        }
    }
}
