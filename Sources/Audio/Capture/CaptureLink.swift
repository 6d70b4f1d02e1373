import Core
import Synchronization
import System

/// What the capture thread, the writer thread and whoever stops them share.
final class CaptureLink: Sendable {
    /// How the capture thread ended.
    enum Outcome {
        /// It was told to.
        case stopped
        /// The microphone ended by itself.
        case ended
        /// The microphone could not be opened.
        case refused(DeviceError)
        /// The microphone failed after it had been opened.
        case failed(DeviceError)
    }

    /// What the capture thread has to say besides samples.
    enum News {
        case microphoneLost(DeviceError)
        case microphoneBack
        /// How far the rate is off, as a share; 0 once it is right again.
        case rate(Double)
        /// Whether the microphone's channels cancel each other.
        case cancelling(Bool)
    }

    let ring: SampleRing

    /// Wakes the writer: there are samples, or capture has opened the microphone, or ended.
    let data = Wakeup()

    /// Wakes a capture thread that waits for room.
    private let room = Wakeup()
    private let stopping = Atomic<Bool>(false)
    private let paused = Atomic<Bool>(false)
    private let opened = Atomic<Bool>(false)
    private let ended = Atomic<Bool>(false)
    private let reason = Mutex<StopReason?>(nil)
    private let outcome = Mutex<Outcome>(.stopped)
    private let news = Mutex<[News]>([])
    private let captured = Atomic<Int64>(0)
    private let taken = Atomic<Int64>(0)
    private let wanted = Atomic<Int64>(0)

    /// - Parameter channels: the most that may come.
    init(ringSamples: Int, channels: Int = 1) { ring = SampleRing(capacity: ringSamples, channels: channels) }

    /// Any thread: ends the capture. The first reason counts; nil gives none.
    func stop(reason new: StopReason?) {
        if let new { reason.withLock { $0 = $0 ?? new } }
        stopping.store(true, ordering: .releasing)
        room.signal()
    }

    /// Why the recording was stopped, where it was.
    var stopReason: StopReason? { reason.withLock { $0 } }

    /// Capture: whether it shall end.
    var isStopping: Bool { stopping.load(ordering: .acquiring) }

    /// Any thread: nothing is taken from now on, or something again.
    func setPaused(_ isPaused: Bool) { paused.store(isPaused, ordering: .releasing) }

    /// Capture: whether what is heard is to be left out.
    var isPaused: Bool { paused.load(ordering: .acquiring) }

    /// Capture: waits until the ring takes so many samples, or it shall end.
    func waitForRoom(for count: Int) {
        while !ring.hasRoom(for: count), !isStopping { room.wait() }
    }

    /// Capture: waits for so long, or until it shall end.
    func pause(nanoseconds: Int64) {
        let end = MonotonicClock.nanoseconds + nanoseconds
        while !isStopping {
            let left = end - MonotonicClock.nanoseconds
            guard left > 0 else { return }
            room.wait(timeout: .nanoseconds(left))
        }
    }

    /// Capture: so many more samples were captured or lost.
    func advance(by samples: Int) { captured.wrappingAdd(Int64(samples), ordering: .relaxed) }

    /// Any thread: how far the capture has come, whatever of it has been written.
    var position: SamplePosition { SamplePosition(captured.load(ordering: .relaxed)) }

    /// Capture: what was captured last went into the ring.
    func took() { taken.store(captured.load(ordering: .relaxed), ordering: .relaxed) }

    /// Any thread: behind the last sample that went into the ring.
    var heard: SamplePosition { SamplePosition(taken.load(ordering: .relaxed)) }

    /// Capture: something to tell.
    func tell(_ item: News) {
        news.withLock { $0.append(item) }
        data.signal()
    }

    /// Writer: what was told since it last asked.
    func takeNews() -> [News] {
        news.withLock { news in
            defer { news.removeAll() }
            return news
        }
    }

    /// Any thread: asks that everything before a position goes to the disk at once.
    func wantSync(upTo position: SamplePosition) {
        wanted.max(position.samples, ordering: .releasing)
        data.signal()
    }

    /// Writer: how far somebody waits for the disk.
    var syncWantedUpTo: SamplePosition { SamplePosition(wanted.load(ordering: .acquiring)) }

    /// Writer: says that there is more room.
    func freed() { room.signal() }

    /// Capture: the microphone is open, and gives so many channels.
    func captureOpened(channels: Int = 1) {
        ring.use(channels: channels)
        opened.store(true, ordering: .releasing)
        data.signal()
    }

    /// Capture: nothing more will come.
    func captureEnded(_ how: Outcome) {
        outcome.withLock { $0 = how }
        ended.store(true, ordering: .releasing)
        data.signal()
    }

    /// Writer: how capture ended; nil as long as it has not. Everything put into the ring before is seen after.
    var captureOutcome: Outcome? { ended.load(ordering: .acquiring) ? outcome.withLock { $0 } : nil }

    /// Writer, once the microphone was open: how many channels the recording has, whatever is plugged in later.
    var channels: Int { ring.channels }

    /// Writer: returns once the microphone is open, or throws what kept it from opening.
    func awaitOpening() throws(DeviceError) {
        while !opened.load(ordering: .acquiring) {
            if case .refused(let error) = captureOutcome { throw error }
            data.wait()
        }
    }
}
