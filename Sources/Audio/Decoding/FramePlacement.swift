/// Where decoded frames lie on the clock that players show, and what is missing between them. Pure.
///
/// Positions are samples of a channel at 16 kHz.
struct FramePlacement {
    /// Silence that stands before a decoded sample.
    struct Silence: Equatable, Sendable {
        var at: Int64
        var count: Int64
        /// Whether sound is missing there; otherwise the container has none.
        var isLoss: Bool
    }

    /// Bytes between frames that are none, by the time of the frame behind them.
    struct Junk: Equatable, Sendable {
        var time: Int64
        var count: Int64
    }

    /// What browsers' clocks stray, and no more: what is missing for longer is filled up.
    private static let jitter: Int64 = 1_600
    /// Decoders need some samples before they give any: that is no later start.
    private static let delay: Int64 = 800
    /// A jump that needs no other sign to be a loss: between packets of silence some encoders leave out 0.4 s.
    private static let pause: Int64 = 8_000
    /// A longer jump is another recording's beginning, unless the container promises as much.
    private static let longestJump: Int64 = 600 * 16_000

    private(set) var silences: [Silence] = []
    /// Samples that were decoded.
    private(set) var decoded: Int64 = 0
    private(set) var silent: Int64 = 0
    /// Samples of frames that were found and could not be decoded, where ffmpeg counts frames.
    private(set) var undecoded: Int64 = 0
    /// Complaints of ffmpeg that no missing frame has answered yet.
    private var errors = 0
    private var hasErrors = false

    private let isRaw: Bool
    private let promised: Int64
    private var junk: ArraySlice<Junk>
    /// What is added to times since one recording followed another.
    private var base: Int64 = 0
    private var previousEnd: Int64?

    /// - Parameters:
    ///   - isRaw: whether times are counted from frames, so that they do not know what is missing.
    ///   - promised: the container's own length, 0 if unknown.
    init(isRaw: Bool = false, promised: Int64 = 0, junk: [Junk] = []) {
        self.isRaw = isRaw
        self.promised = promised
        self.junk = junk[...]
    }

    /// Where the next frame will lie unless its time says otherwise.
    var end: Int64 { decoded + silent }

    /// Notes that ffmpeg has complained, before the next frame.
    mutating func addError() {
        hasErrors = true
        errors += 1
    }

    /// Adds a frame.
    ///
    /// - Parameters:
    ///   - time: nil if it has none.
    ///   - isFirst: whether it is the first behind a change of format, whose time ffmpeg computes with the wrong rate.
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
