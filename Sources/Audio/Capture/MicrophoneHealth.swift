import Core

/// Hears whether a microphone works, from what it gives: a muted switch, a broken capsule, too much gain. Pure, and
/// allocates nothing per block.
///
/// Each trouble comes once, when it has lasted, and goes once. What the disk or the sound card lost is not heard.
struct MicrophoneHealth: Sendable {
    /// What may be wrong with a microphone; the raw values are codes of faults.
    enum Trouble: String, Sendable, CaseIterable {
        /// Nothing but zeros for 3 s.
        case silent = "microphone-silent"
        /// One and the same value for 3 s.
        case stuck = "microphone-stuck"
        /// For 10 s a floor below that of any room.
        case faint = "microphone-faint"
        /// A hundredth of a second's samples at full scale.
        case clipping = "microphone-clipping"
        /// The sample rate is not what it says; see `RateWatch`.
        case rate = "microphone-rate"
        /// Two channels were asked for, and there is one, or twice the same for 10 s.
        case channels = "microphone-channels"
        /// The channels that are mixed into one are each other's negative.
        case cancelling = "microphone-cancelling"

        /// What it means and what a person can do.
        ///
        /// - Parameter channel: which one of two; nil where it is all of them.
        func message(microphone: String, channel: Int? = nil) -> String {
            let remedy =
                switch self {
                case .silent: "gives nothing but zeros; check its switch, its plug and the capture volume (alsamixer)"
                case .stuck: "gives a constant value; unplug it and plug it in again, or replace it"
                case .faint: "is quieter than any room; check its plug and raise the capture volume (alsamixer)"
                case .clipping: "is too loud and distorts; lower the capture volume (alsamixer) or move it away"
                case .channels:
                    "has the same in both channels, or one alone, so nobody can be told apart by them; set "
                        + "capture.channels = 1, or use a device with two microphones"
                case .cancelling:
                    "has channels that cancel each other, as with a balanced plug in a stereo input, so the louder one alone "
                        + "is recorded; use an adapter, or set capture.channels = 2"
                case .rate: "has a wrong sample rate; set capture.rate to one it offers, or replace it"
                }
            let which = channel.map { ", channel \($0 + 1)" } ?? ""
            return "microphone \(microphone)\(which): \(remedy)"
        }
    }

    /// 100 ms, the unit of all that follows.
    static let window = SamplePosition.rate / 10
    static let silentWindows = 30
    static let faintWindows = 100
    /// How long a sound has to be there again.
    static let soundWindows = 10

    /// -85 dBFS, as the mean square of 16-bit samples.
    static let faintMeanSquare = 32_768.0 * 32_768.0 * 3.162_277_660_168_38e-9

    private var window = Window()
    private var clipping = Clipping()
    /// Windows in a row without a change of value, and which value that is.
    private var flat = 0
    private var flatValue: Int16 = 0
    /// Windows in a row below the floor, and whether any of them had a sound at all.
    private var quiet = 0
    private var quietHasSound = false
    private var sound = 0
    private var loud = 0
    private var present: Set<Trouble> = []

    /// Nothing is known of the microphone yet.
    init() { present.reserveCapacity(Trouble.allCases.count) }

    /// Takes samples; calls `report` with what has come (true) or gone (false).
    mutating func hear(_ samples: UnsafeBufferPointer<Int16>, report: (Trouble, Bool) -> Void) {
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
    /// What 100 ms were like.
    private struct Window {
        var count = 0
        var low = Int16.max
        var high = Int16.min
        var fullScale = 0
        private var sum: Int64 = 0
        private var squares: Int64 = 0

        /// About the mean: a constant offset is no sound.
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

    /// The share of samples at full scale, by the second: comes with a hundredth, goes after 3 s below a thousandth.
    private struct Clipping {
        private var windows = 0
        private var fullScale = 0
        private var clean = 0

        /// Takes 100 ms; whether it clips, at the end of a second that tells.
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
