import Core

/// Detects microphone faults from the samples: a muted switch, a broken capsule, too much gain. Allocates nothing per block.
///
/// Each fault is reported when it has lasted for its time, and again when it is over. Lost samples are not checked.
struct MicrophoneHealth: Sendable {
    /// The microphone faults; the raw values are fault codes.
    enum Trouble: String, Sendable, CaseIterable {
        /// Only zeros for 3 s.
        case silent = "microphone-silent"
        /// One constant value for 3 s.
        case stuck = "microphone-stuck"
        /// A noise floor below that of any room for 10 s.
        case faint = "microphone-faint"
        /// 1 % of a second's samples at full scale.
        case clipping = "microphone-clipping"
        /// A wrong sample rate; see `RateWatch`.
        case rate = "microphone-rate"
        /// Two channels were requested, but there is one, or both were identical for 10 s.
        case channels = "microphone-channels"
        /// The mixed channels are each other's negative.
        case cancelling = "microphone-cancelling"

        /// The description of the fault with its remedy.
        ///
        /// - Parameter channel: the affected channel of two; nil for all channels.
        func message(microphone: String, channel: Int? = nil) -> String {
            let remedy =
                switch self {
                case .silent: "delivers only zeros; check its switch, its plug and the capture volume (alsamixer)"
                case .stuck: "delivers a constant value; unplug it and plug it in again, or replace it"
                case .faint: "is quieter than any room; check its plug and raise the capture volume (alsamixer)"
                case .clipping: "is too loud and distorts; lower the capture volume (alsamixer) or move it away"
                case .channels:
                    "has one channel, or two identical ones, so speakers cannot be identified by channel; set "
                        + "capture.channels = 1, or use a device with two microphones"
                case .cancelling:
                    "has channels that cancel each other, as with a balanced plug in a stereo input, so only the louder one "
                        + "is recorded; use an adapter, or set capture.channels = 2"
                case .rate: "has a wrong sample rate; set capture.rate to one it offers, or replace it"
                }
            let which = channel.map { ", channel \($0 + 1)" } ?? ""
            return "microphone \(microphone)\(which): \(remedy)"
        }
    }

    /// 100 ms.
    static let window = SamplePosition.rate / 10
    static let silentWindows = 30
    static let faintWindows = 100
    /// How long sound must be present before a fault ends.
    static let soundWindows = 10

    /// -85 dBFS, as the mean square of 16-bit samples.
    static let faintMeanSquare = 32_768.0 * 32_768.0 * 3.162_277_660_168_38e-9

    private var window = Window()
    private var clipping = Clipping()
    /// The number of consecutive windows with one constant value.
    private var flat = 0
    private var flatValue: Int16 = 0
    /// The number of consecutive windows below the floor, and whether any of them was not constant.
    private var quiet = 0
    private var quietHasSound = false
    private var sound = 0
    private var loud = 0
    private var present: Set<Trouble> = []

    init() { present.reserveCapacity(Trouble.allCases.count) }

    /// Calls `report` with each fault, and whether it began or ended.
    mutating func append(_ samples: UnsafeBufferPointer<Int16>, report: (Trouble, Bool) -> Void) {
        var rest = samples[...]
        while !rest.isEmpty {
            let part = rest.prefix(Self.window - window.count)
            window.add(part)
            rest = rest.dropFirst(part.count)
            guard window.count == Self.window else { continue }
            judge(report)
            window = Window()
        }
    }

    private mutating func judge(_ report: (Trouble, Bool) -> Void) {
        let isFlat = window.low == window.high
        if isFlat, flat == 0 || flatValue == window.low { flat += 1 } else { flat = isFlat ? 1 : 0 }
        flatValue = window.low
        sound = isFlat ? 0 : sound + 1
        let isQuiet = window.meanSquare < Self.faintMeanSquare
        quiet = isQuiet ? quiet + 1 : 0
        quietHasSound = isQuiet && (quietHasSound || !isFlat)
        loud = isQuiet ? 0 : loud + 1

        set(.silent, come: flat >= Self.silentWindows && flatValue == 0, gone: sound >= Self.soundWindows, report)
        set(.stuck, come: flat >= Self.silentWindows && flatValue != 0, gone: sound >= Self.soundWindows, report)
        let isDead = present.contains(.silent) || present.contains(.stuck)
        set(
            .faint, come: quiet >= Self.faintWindows && quietHasSound && !isDead, gone: loud >= Self.soundWindows,
            report)
        if let isClipping = clipping.add(window.fullScale) { set(.clipping, come: isClipping, gone: true, report) }
    }

    private mutating func set(_ trouble: Trouble, come: Bool, gone: Bool, _ report: (Trouble, Bool) -> Void) {
        if come {
            if present.insert(trouble).inserted { report(trouble, true) }
        } else if gone, present.remove(trouble) != nil {
            report(trouble, false)
        }
    }
}

extension MicrophoneHealth {
    private struct Window {
        var count = 0
        var low = Int16.max
        var high = Int16.min
        var fullScale = 0
        private var sum: Int64 = 0
        private var squares: Int64 = 0

        /// The mean square around the mean: a constant offset is not sound.
        var meanSquare: Double {
            let mean = Double(sum) / Double(max(1, count))
            return Double(squares) / Double(max(1, count)) - mean * mean
        }

        mutating func add(_ samples: UnsafeBufferPointer<Int16>.SubSequence) {
            for sample in samples {
                low = min(low, sample)
                high = max(high, sample)
                if sample == .max || sample <= -.max { fullScale += 1 }
                sum += Int64(sample)
                squares += Int64(sample) * Int64(sample)
            }
            count += samples.count
        }
    }

    /// Detects clipping per second: begins at 1 % of samples at full scale, ends after 3 s below 0.1 %.
    private struct Clipping {
        private var windows = 0
        private var fullScale = 0
        private var clean = 0

        /// Adds the full-scale count of 100 ms. At the end of a second, returns whether it clips, or nil if undecided.
        mutating func add(_ count: Int) -> Bool? {
            windows += 1
            fullScale += count
            guard windows == 10 else { return nil }
            defer { (windows, fullScale) = (0, 0) }
            clean = fullScale * 1_000 < SamplePosition.rate ? clean + 1 : 0
            if fullScale * 100 >= SamplePosition.rate { return true }
            return clean >= 3 ? false : nil
        }
    }
}
