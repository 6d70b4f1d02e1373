/// Positions decoded frames on the clock that players show, and finds missing audio between them.
///
/// Positions are samples per channel at 16 kHz.
struct FramePlacement {
    /// Silence before a decoded sample.
    struct Silence: Equatable, Sendable {
        var at: Int64
        var count: Int64
        /// Whether to report a gap. If false, the container has no audio for this time, or its frames were not decoded,
        /// which `undecodedSamples` counts.
        var isLoss: Bool
    }

    /// A range of bytes without frames: the time of the following frame, and the estimated number of samples lost.
    struct Junk: Equatable, Sendable {
        var time: Int64
        var count: Int64
    }

    /// The maximum jitter of timestamps from browsers. Longer gaps are filled with silence.
    private static let jitter: Int64 = 1_600
    /// The maximum delay of decoders. If the audio starts later than that, silence is inserted before it.
    private static let delay: Int64 = 800
    /// The minimum jump that counts as a loss even if ffmpeg reports no error, since some encoders skip 0.4 s of silence.
    private static let minimumLoss: Int64 = 8_000
    /// The maximum jump within a recording, unless the container promises a greater length. A longer jump begins
    /// another recording.
    private static let maximumJump: Int64 = 600 * 16_000

    private(set) var silences: [Silence] = []
    private(set) var decodedSamples: Int64 = 0
    private(set) var silentSamples: Int64 = 0
    /// The number of samples in frames that were found but not decoded. Only known for formats without timestamps.
    private(set) var undecodedSamples: Int64 = 0
    /// The number of ffmpeg errors that have not been explained by a missing frame yet.
    private var unexplainedErrors = 0
    private var hasErrors = false

    private let isRaw: Bool
    private let promisedSamples: Int64
    private var junk: ArraySlice<Junk>
    /// The offset to add to timestamps of the current recording.
    private var base: Int64 = 0
    private var previousEnd: Int64?

    /// - Parameters:
    ///   - isRaw: Whether times are computed by counting frames, so that they do not reveal losses.
    ///   - promisedSamples: The container's length; 0 if unknown.
    init(isRaw: Bool = false, promisedSamples: Int64 = 0, junk: [Junk] = []) {
        self.isRaw = isRaw
        self.promisedSamples = promisedSamples
        self.junk = junk[...]
    }

    /// The position of the next frame unless its timestamp differs.
    var end: Int64 { decodedSamples + silentSamples }

    /// Records an ffmpeg error before the next frame.
    mutating func addError() {
        hasErrors = true
        unexplainedErrors += 1
    }

    /// Adds a frame.
    ///
    /// - Parameters:
    ///   - time: The timestamp; nil if there is none.
    ///   - isFirst: Whether this is the first frame, or the first after a format change. After a change, ffmpeg computes
    ///     the time with the wrong rate.
    mutating func add(time: Int64?, count: Int64, isFirst: Bool = false) {
        defer { decodedSamples += count }
        guard let time, !isFirst || decodedSamples == 0, time.magnitude < 1 << 46 else {
            previousEnd = nil
            return
        }
        if isRaw {
            while let next = junk.first, next.time <= time {
                insert(next.count, isLoss: true)
                junk.removeFirst()
            }
            if unexplainedErrors > 0, let previousEnd, (320...16_000).contains(time - previousEnd) {
                unexplainedErrors -= 1
                insert(time - previousEnd, isLoss: false)
                undecodedSamples += time - previousEnd
            }
            previousEnd = time + count
            return
        }
        let jump = time + base - end
        let maximum = max(Self.maximumJump, promisedSamples - end)
        if jump > maximum || jump < -Self.minimumLoss || (decodedSamples == 0 && jump < Self.delay) {
            base -= jump
        } else if decodedSamples == 0 {
            insert(jump, isLoss: false)
        } else if jump >= Self.jitter {
            insert(jump, isLoss: jump >= Self.minimumLoss || hasErrors)
        }
    }

    private mutating func insert(_ count: Int64, isLoss: Bool) {
        guard count > 0 else { return }
        silentSamples += count
        if let last = silences.last, last.at == decodedSamples, last.isLoss == isLoss {
            silences[silences.count - 1].count += count
        } else {
            silences.append(Silence(at: decodedSamples, count: count, isLoss: isLoss))
        }
    }
}
