import Core
import Synchronization
import System

/// What a listening microphone has heard last: a preallocated ring that overwrites its oldest samples, and the one
/// recording that plays it.
final class PrerollTape: Sendable {
    private enum Phase {
        /// Nobody listens.
        case off
        /// The base microphone is being opened.
        case opening
        case live
        case failed(DeviceError)
    }

    private struct State {
        var phase = Phase.off
        /// Counts the openings of the base microphone.
        var session = 0
        /// What the ring holds now.
        var channels: Int
        /// The first session with so many.
        var firstAlike = 0
        /// Samples of a channel put in since the beginning; so is everything counted.
        var written = 0
        /// The first sample that belongs without a break to all that follow.
        var first = 0
        var isCancelling = false
        /// Where samples were lost while they were played: before the sample of that number.
        var losses: [(index: Int, count: Int)] = []
        var isPlaying = false
        /// The ring: as long as the capacity from the beginning on, so that it never moves.
        var storage: [Int16]
    }

    /// Samples by which a recording may be late.
    private static let slack = 5 * SamplePosition.rate
    private static let mostLosses = 64

    private let keeps: Int
    private let capacity: Int
    private let state: Mutex<State>
    /// Wakes who plays.
    private let data = Wakeup()

    /// - Parameter channels: the most that may come.
    init(keeping samples: Int, channels: Int = 1) {
        keeps = samples
        capacity = samples > 0 ? samples + Self.slack : 0
        var state = State(channels: channels, storage: [Int16](repeating: 0, count: capacity * channels))
        state.losses.reserveCapacity(Self.mostLosses)
        self.state = Mutex(state)
    }

    /// How many samples a recording would begin with now.
    var kept: Int {
        state.withLock { state in
            guard case .live = state.phase else { return 0 }
            return min(keeps, state.written - state.first)
        }
    }

    var failure: DeviceError? {
        state.withLock { if case .failed(let error) = $0.phase { error } else { nil } }
    }

    // MARK: the listener

    /// It is about to open the base microphone.
    func expect() { set(.opening) }

    /// The base microphone is open; what was heard before has no true distance from what follows.
    ///
    /// - Parameter channels: that it gives, no more than there is room for.
    func begin(channels: Int = 1) {
        state.withLock { state in
            state.phase = .live
            state.session += 1
            if state.channels != channels { state.firstAlike = state.session }
            state.channels = channels
            state.first = state.written
            state.losses.removeAll(keepingCapacity: true)
        }
        data.signal()
    }

    func fail(_ error: DeviceError) { set(.failed(error)) }

    func end() { set(.off) }

    func put(_ samples: UnsafeBufferPointer<Int16>) {
        guard !samples.isEmpty else { return }
        state.withLock { state in
            let channels = state.channels
            let samples = samples.suffix(capacity * channels)
            guard let source = UnsafeBufferPointer(rebasing: samples).baseAddress else { return }
            let count = samples.count / channels
            let place = state.written % capacity
            let head = min(count, capacity - place)
            state.storage.withUnsafeMutableBufferPointer { storage in
                guard let storage = storage.baseAddress else { return }
                (storage + place * channels).update(from: source, count: head * channels)
                storage.update(from: source + head * channels, count: (count - head) * channels)
            }
            state.written += count
        }
        data.signal()
    }

    /// So many samples were lost before the next.
    func lose(_ count: Int) {
        state.withLock { state in
            if !state.isPlaying {
                state.first = state.written
            } else if let last = state.losses.last, last.index == state.written || state.losses.count == Self.mostLosses
            {
                state.losses[state.losses.count - 1].count += count
            } else {
                state.losses.append((state.written, count))
            }
        }
    }

    private func set(_ phase: Phase) {
        state.withLock { $0.phase = phase }
        data.signal()
    }

    // MARK: the recording

    /// Plays from as far back as is kept; nil where nobody listens. Waits while the base microphone is being opened.
    ///
    /// - Throws: why the base microphone does not open, or `busy`.
    func play() throws(DeviceError) -> (any Microphone)? {
        while true {
            let answer: Result<Player?, DeviceError>? = state.withLock { state in
                switch state.phase {
                case .off: return .success(nil)
                case .opening: return nil
                case .failed(let error): return .failure(error)
                case .live:
                    guard !state.isPlaying else {
                        return .failure(
                            DeviceError(
                                .busy, "open", "the microphone is being recorded already", remedy: "stop that first"))
                    }
                    state.isPlaying = true
                    state.losses.removeAll(keepingCapacity: true)
                    let before = min(keeps, state.written - state.first)
                    return .success(
                        Player(
                            self, session: state.session, channels: state.channels, from: state.written - before,
                            prerollSamples: before))
                }
            }
            if let answer { return try answer.get() }
            data.wait()
        }
    }

    private enum Step {
        case block(CaptureBlock)
        case failure(DeviceError)
        case wait
    }

    /// The next block after `index`, which it moves on.
    private func step(
        of session: Int, from index: inout Int, into buffer: UnsafeMutableBufferPointer<Int16>, most: Int
    ) -> Step {
        state.withLock { state in
            if let loss = state.losses.first, loss.index <= index {
                state.losses.removeFirst()
                return .block(.lost(samples: loss.count))
            }
            let oldest = state.written - capacity
            if index < oldest {
                defer { index = oldest }
                return .block(.lost(samples: oldest - index))
            }
            let isCurrent = session == state.session
            let end = min(isCurrent ? state.written : state.first, state.losses.first?.index ?? .max)
            let channels = state.channels
            // What another number of channels has overwritten is gone.
            let isAlike = session >= state.firstAlike
            let count = isAlike ? min(end - index, most, buffer.count / channels) : 0
            if count > 0, let target = buffer.baseAddress {
                let place = index % capacity
                let head = min(count, capacity - place)
                state.storage.withUnsafeBufferPointer { storage in
                    guard let storage = storage.baseAddress else { return }
                    target.update(from: storage + place * channels, count: head * channels)
                    (target + head * channels).update(from: storage, count: (count - head) * channels)
                }
                index += count
                return .block(.samples(count))
            }
            switch state.phase {
            case .live where isCurrent: return .wait
            case .failed(let error): return .failure(error)
            case .off, .opening, .live:
                return .failure(
                    DeviceError(
                        .disconnected, "read", "the microphone was closed in the meantime", remedy: "it is reopened"))
            }
        }
    }

    /// Notes whether the base microphone's channels cancel each other.
    func put(isCancelling: Bool) { state.withLock { $0.isCancelling = isCancelling } }

    private func stop() { state.withLock { $0.isPlaying = false } }

    /// The tape as a microphone.
    private final class Player: Microphone {
        let maximumBlock = SamplePosition.rate / 10
        let prerollSamples: Int
        let channels: Int
        var channelsCancel: Bool { tape.state.withLock { $0.isCancelling } }
        private let tape: PrerollTape
        private let session: Int
        private var index: Int

        init(_ tape: PrerollTape, session: Int, channels: Int, from index: Int, prerollSamples: Int) {
            self.channels = channels
            self.tape = tape
            self.session = session
            self.index = index
            self.prerollSamples = prerollSamples
        }

        deinit { tape.stop() }

        func read(into buffer: UnsafeMutableBufferPointer<Int16>) throws(DeviceError) -> CaptureBlock {
            switch tape.step(of: session, from: &index, into: buffer, most: maximumBlock) {
            case .block(let block): return block
            case .failure(let error): throw error
            case .wait:
                // In time for a stop, even where nothing comes.
                tape.data.wait(timeout: .milliseconds(250))
                return .samples(0)
            }
        }
    }
}
