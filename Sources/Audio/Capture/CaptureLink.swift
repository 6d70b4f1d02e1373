import Core
import Synchronization
import System

/// State shared by the capture thread, the writer thread and the threads that stop or pause them.
final class CaptureLink: Sendable {
    enum Outcome {
        /// `stop` was called.
        case stopped
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

    /// Wakes the writer when samples arrive, when the microphone opens and when capture ends.
    let data = Wakeup()

    /// Wakes a capture thread that is waiting for space in the ring. The writer signals it.
    let space = Wakeup()
    private let stopping = StopFlag()
    private let paused = Atomic<Bool>(false)
    private let opened = Atomic<Bool>(false)
    private let ended = Atomic<Bool>(false)
    private let reason = Mutex<StopReason?>(nil)
    private let outcome = Mutex<Outcome>(.stopped)
    private let events = Mutex<[Event]>([])
    private let captured = Atomic<Int64>(0)
    private let audioCapturedUpTo = Atomic<Int64>(0)
    private let syncRequested = Atomic<Int64>(0)

    /// - Parameter channels: The maximum number of channels.
    init(ringSamples: Int, channels: Int) { ring = SampleRing(capacity: ringSamples, channels: channels) }

    /// Any thread: stops capturing. The first non-nil reason counts.
    func stop(reason newReason: StopReason?) {
        if let newReason { reason.withLock { $0 = $0 ?? newReason } }
        stopping.raise()
        space.signal()
    }

    var stopReason: StopReason? { reason.withLock { $0 } }

    var isStopping: Bool { stopping.isRaised }

    func setPaused(_ isPaused: Bool) { paused.store(isPaused, ordering: .releasing) }

    var isPaused: Bool { paused.load(ordering: .acquiring) }

    /// Capture: waits until the ring has space, or capture is stopping.
    func waitForSpace(for count: Int) {
        while !ring.hasSpace(for: count), !isStopping { space.wait() }
    }

    /// Capture: sleeps, but returns early if capture is stopping.
    func sleep(nanoseconds: Int64) {
        let end = MonotonicClock.nanoseconds + nanoseconds
        while !isStopping {
            let remaining = end - MonotonicClock.nanoseconds
            guard remaining > 0 else { return }
            space.wait(timeout: .nanoseconds(remaining))
        }
    }

    /// Capture: adds samples that were captured or lost.
    func advance(by samples: Int) { captured.wrappingAdd(Int64(samples), ordering: .relaxed) }

    /// Any thread: the end of everything captured or lost so far, whether written or not.
    var position: SamplePosition { SamplePosition(captured.load(ordering: .relaxed)) }

    /// Capture: marks everything captured so far as being in the ring.
    func markAudioCaptured() { audioCapturedUpTo.store(captured.load(ordering: .relaxed), ordering: .relaxed) }

    /// Any thread: the end of the last audio that was put into the ring.
    var capturedAudioEnd: SamplePosition { SamplePosition(audioCapturedUpTo.load(ordering: .relaxed)) }

    func report(_ event: Event) {
        events.withLock { $0.append(event) }
        data.signal()
    }

    /// Writer: returns the events since the last call.
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

    /// Writer: the position up to which a sync was requested.
    var syncRequestedUpTo: SamplePosition { SamplePosition(syncRequested.load(ordering: .acquiring)) }

    /// Capture: reports that the microphone is open.
    func captureOpened(channels: Int) {
        ring.use(channels: channels)
        opened.store(true, ordering: .releasing)
        data.signal()
    }

    /// Capture: reports that no more samples will follow.
    func captureEnded(_ finalOutcome: Outcome) {
        outcome.withLock { $0 = finalOutcome }
        ended.store(true, ordering: .releasing)
        data.signal()
    }

    /// Writer: the outcome; nil while capture is running. Once it is set, all samples in the ring are visible.
    var captureOutcome: Outcome? { ended.load(ordering: .acquiring) ? outcome.withLock { $0 } : nil }

    /// Writer: waits until the microphone is open.
    func awaitOpening() throws(DeviceError) {
        while !opened.load(ordering: .acquiring) {
            if case .refused(let error) = captureOutcome { throw error }
            data.wait()
        }
    }
}
