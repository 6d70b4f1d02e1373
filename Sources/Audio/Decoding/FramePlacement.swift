/// Places decoded frames on the clock that players show, and finds what is missing between them.
///
/// Positions are samples per channel at 16 kHz.
struct FramePlacement {
    /// Silence before a decoded sample.
    struct Silence: Equatable, Sendable {
        var at: Int64
        var count: Int64
        /// Whether audio is missing; otherwise the container has none there.
        var isLoss: Bool
    }

    /// Bytes that are not frames, by the time of the following frame.
    struct Junk: Equatable, Sendable {
        var time: Int64
        var count: Int64
    }

    /// The timestamp jitter of browsers; longer gaps are filled with silence.
    private static let jitter: Int64 = 1_600
    /// The delay of decoders; a start this late is not a gap.
    private static let delay: Int64 = 800
    /// A longer jump is a loss without further evidence; some encoders skip 0.4 s of silence.
    private static let pause: Int64 = 8_000
    /// A longer jump begins another recording, unless the container promises such a length.
    private static let longestJump: Int64 = 600 * 16_000

    private(set) var silences: [Silence] = []
    private(set) var decoded: Int64 = 0
    private(set) var silent: Int64 = 0
    /// Samples of frames that were found but not decoded, if ffmpeg counts frames.
    private(set) var undecoded: Int64 = 0
    /// ffmpeg errors not yet explained by a missing frame.
    private var errors = 0
    private var hasErrors = false

    private let isRaw: Bool
    private let promised: Int64
    private var junk: ArraySlice<Junk>
    /// The offset of the times of the current recording.
    private var base: Int64 = 0
    private var previousEnd: Int64?

    /// - Parameters:
    ///   - isRaw: whether times are counted from frames, so that they do not show losses.
    ///   - promised: the container's length, 0 if unknown.
    init(isRaw: Bool = false, promised: Int64 = 0, junk: [Junk] = []) {
        self.isRaw = isRaw
        self.promised = promised
        self.junk = junk[...]
    }

    /// The position of the next frame unless its timestamp differs.
    var end: Int64 { decoded + silent }

    /// Notes an ffmpeg error before the next frame.
    mutating func addError() {
        hasErrors = true
        errors += 1
    }

    /// Adds a frame.
    ///
    /// - Parameters:
    ///   - time: nil without a timestamp.
    ///   - isFirst: whether the format changed before it; ffmpeg then computes the time with the wrong rate.
    mutating func add(time: Int64?, count: Int64, isFirst: Bool = false) {
        defer { decoded += count }
        guard let time, !isFirst || decoded == 0, time.magnitude < 1 << 46 else {
            previousEnd = nil
            return
        }
        if isRaw {
            while let next = junk.first, next.time <= time {
                insert(next.count, isLoss: true)
                junk.removeFirst()
            }
            if errors > 0, let previousEnd, (320...16_000).contains(time - previousEnd) {
                errors -= 1
                insert(time - previousEnd, isLoss: false)
                undecoded += time - previousEnd
            }
            previousEnd = time + count
            return
        }
        let jump = time + base - end
        let most = max(Self.longestJump, promised - end)
        if jump > most || jump < -Self.pause || (decoded == 0 && jump < Self.delay) {
            base -= jump
        } else if decoded == 0 {
            insert(jump, isLoss: false)
        } else if jump >= Self.jitter {
            insert(jump, isLoss: jump >= Self.pause || hasErrors)
        }
    }

    private mutating func insert(_ count: Int64, isLoss: Bool) {
        guard count > 0 else { return }
        silent += count
        if let last = silences.last, last.at == decoded, last.isLoss == isLoss {
            silences[silences.count - 1].count += count
        } else {
            silences.append(Silence(at: decoded, count: count, isLoss: isLoss))
        }
    }
}
