import Core
import Synchronization
import System

/// The preroll buffer: a preallocated ring that overwrites its oldest samples, and the one recording that reads it.
final class PrerollTape: Sendable {
    enum Phase {
        /// `PrerollMicrophone.run` is not running.
        case off
        case opening
        case live
        case failed(DeviceError)
    }

    private struct State {
        var phase = Phase.off
        /// Counts the openings of the base microphone.
        var session = 0
        /// The channel count of the ring's content.
        var channels: Int
        /// The first session with the current channel count.
        var firstAlike = 0
        /// The total number of samples per channel; all counts are per channel.
        var written = 0
        /// The first sample since the last discontinuity.
        var first = 0
        var isCancelling = false
        /// Losses during playback, each before the sample with the given number.
        var losses: [(index: Int, count: Int)] = []
        var isPlaying = false
        /// The ring, allocated with its full capacity, so that it never moves.
        var storage: [Int16]
    }

    /// How many samples a reader may lag behind.
    private static let slack = 5 * SamplePosition.rate
    private static let maxLosses = 64

    private let keptSamples: Int
    private let capacity: Int
    private let state: Mutex<State>
    /// Wakes the reader.
    private let data = Wakeup()

    /// - Parameter channels: the maximum channel count.
    init(keeping samples: Int, channels: Int) {
        keptSamples = samples
        capacity = samples > 0 ? samples + Self.slack : 0
        var state = State(channels: channels, storage: [Int16](repeating: 0, count: capacity * channels))
        state.losses.reserveCapacity(Self.maxLosses)
        self.state = Mutex(state)
    }

    /// The length of the preroll that a recording would get now, in samples.
    var kept: Int {
        state.withLock { state in
            guard case .live = state.phase else { return 0 }
            return min(keptSamples, state.written - state.first)
        }
    }

    var failure: DeviceError? {
        state.withLock { if case .failed(let error) = $0.phase { error } else { nil } }
    }

    // MARK: Listening thread

    /// Call with `opening` before opening the base microphone.
    func set(_ phase: Phase) {
        state.withLock { $0.phase = phase }
        data.signal()
    }

    /// Starts a session. The time between it and the previous session's samples is unknown.
    ///
    /// - Parameter channels: at most the maximum channel count.
    func begin(channels: Int) {
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

    /// Notes that samples were lost before the next ones.
    func lose(_ count: Int) {
        state.withLock { state in
            if !state.isPlaying {
                state.first = state.written
            } else if let last = state.losses.last, last.index == state.written || state.losses.count == Self.maxLosses
            {
                state.losses[state.losses.count - 1].count += count
            } else {
                state.losses.append((state.written, count))
            }
        }
    }

    // MARK: Recording

    /// Starts playback with the preroll; nil if `run` is not running. Waits while the base microphone is being opened.
    ///
    /// - Throws: the error of the base microphone, or `busy`.
    func play() throws(DeviceError) -> (any Microphone)? {
        while true {
            let answer: Player?? = try state.withLock { state throws(DeviceError) -> Player?? in
                switch state.phase {
                case .off: return .some(nil)
                case .opening: return nil
                case .failed(let error): throw error
                case .live:
                    guard !state.isPlaying else {
                        throw DeviceError(
                            .busy, "open", "the microphone is being recorded already", remedy: "stop that first")
                    }
                    state.isPlaying = true
                    state.losses.removeAll(keepingCapacity: true)
                    let before = min(keptSamples, state.written - state.first)
                    return Player(
                        self, session: state.session, channels: state.channels, from: state.written - before,
                        prerollSamples: before)
                }
            }
            if let answer { return answer }
            data.wait()
        }
    }

    /// Reads the next block after `index`, and advances it; returns nil if there is none yet.
    private func block(
        of session: Int, from index: inout Int, into buffer: UnsafeMutableBufferPointer<Int16>, most: Int
    ) throws(DeviceError) -> CaptureBlock? {
        try state.withLock { state throws(DeviceError) -> CaptureBlock? in
            if let loss = state.losses.first, loss.index <= index {
                state.losses.removeFirst()
                return .lost(samples: loss.count)
            }
            let oldest = state.written - capacity
            if index < oldest {
                defer { index = oldest }
                return .lost(samples: oldest - index)
            }
            let isCurrent = session == state.session
            let end = min(isCurrent ? state.written : state.first, state.losses.first?.index ?? .max)
            let channels = state.channels
            // Samples with another channel count have been overwritten.
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
                return .samples(count)
            }
            switch state.phase {
            case .live where isCurrent: return nil
            case .failed(let error): throw error
            case .off, .opening, .live:
                throw DeviceError(
                    .disconnected, "read", "the microphone was closed in the meantime", remedy: "it is reopened")
            }
        }
    }

    func put(isCancelling: Bool) { state.withLock { $0.isCancelling = isCancelling } }

    private func stop() { state.withLock { $0.isPlaying = false } }

    /// The reader of the tape, as a microphone.
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
            if let block = try tape.block(of: session, from: &index, into: buffer, most: maximumBlock) { return block }
            // Return regularly, so that a stop is noticed even without samples.
            tape.data.wait(timeout: .milliseconds(250))
            return .samples(0)
        }
    }
}
