import Core
import Synchronization
import System

/// The preroll: a preallocated ring that overwrites its oldest samples. One recording at a time can read it.
final class PrerollBuffer: Sendable {
    enum Phase {
        /// `PrerollMicrophone.run` is not running.
        case off
        case opening
        case live
        case failed(DeviceError)
    }

    private struct State {
        var phase = Phase.off
        /// The number of times that the base microphone was opened.
        var session = 0
        /// The channel count of the ring's content.
        var channels: Int
        /// The first of the consecutive sessions with the current channel count.
        var firstSessionWithSameChannels = 0
        /// The total number of samples. All counts are per channel.
        var written = 0
        /// The index of the first sample after the last discontinuity.
        var continuousStart = 0
        var isCancelling = false
        /// Losses during playback, each before the sample with the given index.
        var losses: [(index: Int, count: Int)] = []
        var isPlaying = false
        /// The ring, which is allocated with its full capacity, so that it never moves.
        var storage: [Int16]
    }

    /// The number of samples by which playback may lag behind without losses.
    private static let slack = 5 * SamplePosition.rate
    private static let maximumLosses = 64

    private let keptSamples: Int
    private let capacity: Int
    private let state: Mutex<State>
    private let data = Wakeup()

    /// - Parameter channels: The maximum number of channels.
    init(keeping samples: Int, channels: Int) {
        keptSamples = samples
        capacity = samples > 0 ? samples + Self.slack : 0
        var state = State(channels: channels, storage: [Int16](repeating: 0, count: capacity * channels))
        state.losses.reserveCapacity(Self.maximumLosses)
        self.state = Mutex(state)
    }

    /// The length of the preroll that a recording would get now, in samples.
    var availableSamples: Int {
        state.withLock { state in
            guard case .live = state.phase else { return 0 }
            return min(keptSamples, state.written - state.continuousStart)
        }
    }

    var failure: DeviceError? {
        state.withLock { if case .failed(let error) = $0.phase { error } else { nil } }
    }

    // MARK: Listening thread

    /// Sets the phase. Call this with `opening` before opening the base microphone.
    func set(_ phase: Phase) {
        state.withLock { $0.phase = phase }
        data.signal()
    }

    /// Starts a session, which is a discontinuity: the time since the previous session's last sample is unknown.
    func begin(channels: Int) {
        state.withLock { state in
            state.phase = .live
            state.session += 1
            if state.channels != channels { state.firstSessionWithSameChannels = state.session }
            state.channels = channels
            state.continuousStart = state.written
            state.losses.removeAll(keepingCapacity: true)
        }
        data.signal()
    }

    func append(_ samples: UnsafeBufferPointer<Int16>) {
        guard !samples.isEmpty else { return }
        state.withLock { state in
            let channels = state.channels
            let samples = samples.suffix(capacity * channels)
            guard let source = UnsafeBufferPointer(rebasing: samples).baseAddress else { return }
            let count = samples.count / channels
            let offset = state.written % capacity
            let head = min(count, capacity - offset)
            state.storage.withUnsafeMutableBufferPointer { storage in
                guard let storage = storage.baseAddress else { return }
                (storage + offset * channels).update(from: source, count: head * channels)
                storage.update(from: source + head * channels, count: (count - head) * channels)
            }
            state.written += count
        }
        data.signal()
    }

    /// Records that samples were lost before the next ones. If no recording is reading the preroll, it is emptied.
    func addLoss(_ count: Int) {
        state.withLock { state in
            if !state.isPlaying {
                state.continuousStart = state.written
            } else if let last = state.losses.last,
                last.index == state.written || state.losses.count == Self.maximumLosses
            {
                state.losses[state.losses.count - 1].count += count
            } else {
                state.losses.append((state.written, count))
            }
        }
    }

    // MARK: Recording

    /// Starts playback with the preroll. Returns nil if `PrerollMicrophone.run` is not running. Waits while the base
    /// microphone is being opened.
    ///
    /// - Throws: The base microphone's error, or `busy`.
    func play() throws(DeviceError) -> (any Microphone)? {
        while true {
            let player: Player?? = try state.withLock { state throws(DeviceError) -> Player?? in
                switch state.phase {
                case .off: return .some(nil)
                case .opening: return nil
                case .failed(let error): throw error
                case .live:
                    guard !state.isPlaying else {
                        throw DeviceError(
                            .busy, "open", "another recording is already using the microphone",
                            remedy: "stop that recording first")
                    }
                    state.isPlaying = true
                    state.losses.removeAll(keepingCapacity: true)
                    let preroll = min(keptSamples, state.written - state.continuousStart)
                    return Player(
                        self, session: state.session, channels: state.channels, from: state.written - preroll,
                        prerollSamples: preroll)
                }
            }
            if let player { return player }
            data.wait()
        }
    }

    /// Reads the next block after `index` and advances `index`. Returns nil if there is no block yet.
    private func block(
        of session: Int, from index: inout Int, into buffer: UnsafeMutableBufferPointer<Int16>, limit: Int
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
            let end = min(isCurrent ? state.written : state.continuousStart, state.losses.first?.index ?? .max)
            let channels = state.channels
            // The ring holds only samples with the current channel count.
            let hasSameChannels = session >= state.firstSessionWithSameChannels
            let count = hasSameChannels ? min(end - index, limit, buffer.count / channels) : 0
            if count > 0, let target = buffer.baseAddress {
                let offset = index % capacity
                let head = min(count, capacity - offset)
                state.storage.withUnsafeBufferPointer { storage in
                    guard let storage = storage.baseAddress else { return }
                    target.update(from: storage + offset * channels, count: head * channels)
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
                    .disconnected, "read", "the microphone was closed in the meantime", remedy: "it will be reopened")
            }
        }
    }

    func set(isCancelling: Bool) { state.withLock { $0.isCancelling = isCancelling } }

    private func stop() { state.withLock { $0.isPlaying = false } }

    /// The microphone that a recording reads: the preroll, followed by live audio.
    private final class Player: Microphone {
        let maximumBlock = SamplePosition.rate / 10
        let prerollSamples: Int
        let channels: Int
        var channelsCancel: Bool { preroll.state.withLock { $0.isCancelling } }
        private let preroll: PrerollBuffer
        private let session: Int
        private var index: Int

        init(_ preroll: PrerollBuffer, session: Int, channels: Int, from index: Int, prerollSamples: Int) {
            self.channels = channels
            self.preroll = preroll
            self.session = session
            self.index = index
            self.prerollSamples = prerollSamples
        }

        deinit { preroll.stop() }

        func read(into buffer: UnsafeMutableBufferPointer<Int16>) throws(DeviceError) -> CaptureBlock {
            let block = try preroll.block(of: session, from: &index, into: buffer, limit: maximumBlock)
            if let block { return block }
            // Return regularly, so that a stop is noticed even if there are no samples.
            preroll.data.wait(timeout: .milliseconds(250))
            return .samples(0)
        }
    }
}
