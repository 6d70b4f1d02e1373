import Core

/// Detects microphone faults in the samples, for example from a mute switch, a broken capsule or too much gain. Does not
/// allocate.
///
/// Each fault is reported once it has lasted for its minimum time, and again when it is over. Lost samples are not
/// checked.
struct MicrophoneHealth: Sendable {
    /// A microphone fault. The raw values are fault codes.
    enum Fault: String, Sendable, CaseIterable {
        /// Only zeros for 3 s.
        case silent = "microphone-silent"
        /// A constant value other than zero for 3 s.
        case stuck = "microphone-stuck"
        /// A level below the noise floor of any room for 10 s.
        case faint = "microphone-faint"
        /// At least 1 % of the samples in a second at full scale.
        case clipping = "microphone-clipping"
        /// The wrong sample rate; see `RateMonitor`.
        case rate = "microphone-rate"
        /// Two channels were requested, but there is only one, or both have been identical for 10 s.
        case channels = "microphone-channels"
        /// The mixed channels cancel each other out.
        case cancelling = "microphone-cancelling"

        /// Returns a description of the fault and its remedy.
        ///
        /// - Parameter channel: The affected channel; nil if all are affected.
        func message(microphone: String, channel: Int? = nil) -> String {
            let description =
                switch self {
                case .silent: "delivers only zeros; check its switch, its plug and the capture volume (alsamixer)"
                case .stuck: "delivers a constant value; unplug it and plug it in again, or replace it"
                case .faint: "is quieter than any room; check its plug and raise the capture volume (alsamixer)"
                case .clipping:
                    "is too loud and distorts; lower the capture volume (alsamixer) or move the microphone farther away"
                case .channels:
                    "has one channel, or two identical ones, so speakers cannot be identified by channel; set "
                        + "capture.channels = 1, or use a device with two microphones"
                case .cancelling:
                    "has channels that cancel each other out, as with a balanced plug in a stereo input, so only the "
                        + "louder one is recorded; use an adapter, or set capture.channels = 2"
                case .rate: "has the wrong sample rate; set capture.rate to a rate that it supports, or replace it"
                }
            let channelName = channel.map { ", channel \($0 + 1)" } ?? ""
            return "microphone \(microphone)\(channelName): \(description)"
        }
    }

    static let window = SamplePosition.rate / 10
    static let silentWindows = 30
    static let faintWindows = 100
    /// The number of consecutive windows with sound after which a fault other than clipping ends.
    static let soundWindows = 10

    /// The mean square of 16-bit samples at -85 dBFS.
    static let faintMeanSquare = 32_768.0 * 32_768.0 * 3.162_277_660_168_38e-9

    private var window = Window()
    private var clipping = Clipping()
    /// The number of consecutive windows with the same constant value.
    private var flatWindows = 0
    private var flatValue: Int16 = 0
    /// The number of consecutive quiet windows, and whether any of them was not constant.
    private var quietWindows = 0
    private var quietWindowsVary = false
    private var varyingWindows = 0
    private var loudWindows = 0
    private var activeFaults: Set<Fault> = []

    init() { activeFaults.reserveCapacity(Fault.allCases.count) }

    /// Checks samples. Calls `report` when a fault begins or ends, with the fault and whether it began.
    mutating func append(_ samples: UnsafeBufferPointer<Int16>, report: (Fault, Bool) -> Void) {
        var rest = samples[...]
        while !rest.isEmpty {
            let part = rest.prefix(Self.window - window.count)
            window.add(part)
            rest = rest.dropFirst(part.count)
            guard window.count == Self.window else { continue }
            evaluateWindow(report)
            window = Window()
        }
    }

    private mutating func evaluateWindow(_ report: (Fault, Bool) -> Void) {
        let isFlat = window.low == window.high
        if isFlat, flatWindows == 0 || flatValue == window.low {
            flatWindows += 1
        } else {
            flatWindows = isFlat ? 1 : 0
        }
        flatValue = window.low
        varyingWindows = isFlat ? 0 : varyingWindows + 1
        let isQuiet = window.variance < Self.faintMeanSquare
        quietWindows = isQuiet ? quietWindows + 1 : 0
        quietWindowsVary = isQuiet && (quietWindowsVary || !isFlat)
        loudWindows = isQuiet ? 0 : loudWindows + 1

        let isConstant = flatWindows >= Self.silentWindows
        let isVarying = varyingWindows >= Self.soundWindows
        update(.silent, begins: isConstant && flatValue == 0, ends: isVarying, report)
        update(.stuck, begins: isConstant && flatValue != 0, ends: isVarying, report)
        let isDead = activeFaults.contains(.silent) || activeFaults.contains(.stuck)
        update(
            .faint, begins: quietWindows >= Self.faintWindows && quietWindowsVary && !isDead,
            ends: loudWindows >= Self.soundWindows, report)
        if let isClipping = clipping.add(window.fullScaleSamples) {
            update(.clipping, begins: isClipping, ends: true, report)
        }
    }

    private mutating func update(_ fault: Fault, begins: Bool, ends: Bool, _ report: (Fault, Bool) -> Void) {
        if begins {
            if activeFaults.insert(fault).inserted { report(fault, true) }
        } else if ends, activeFaults.remove(fault) != nil {
            report(fault, false)
        }
    }
}

extension MicrophoneHealth {
    private struct Window {
        var count = 0
        var low = Int16.max
        var high = Int16.min
        var fullScaleSamples = 0
        private var sum: Int64 = 0
        private var squares: Int64 = 0

        /// The variance, since a constant offset is not sound.
        var variance: Double {
            let mean = Double(sum) / Double(max(1, count))
            return Double(squares) / Double(max(1, count)) - mean * mean
        }

        mutating func add(_ samples: UnsafeBufferPointer<Int16>.SubSequence) {
            for sample in samples {
                low = min(low, sample)
                high = max(high, sample)
                if sample == .max || sample <= -.max { fullScaleSamples += 1 }
                sum += Int64(sample)
                squares += Int64(sample) * Int64(sample)
            }
            count += samples.count
        }
    }

    /// Detects clipping once per second. Clipping begins when at least 1 % of a second's samples are at full scale. It
    /// ends after 3 s with less than 0.1 % each.
    private struct Clipping {
        private var windows = 0
        private var fullScaleSamples = 0
        private var cleanSeconds = 0

        /// Adds the number of full-scale samples in a window. At the end of a second, returns whether the audio is
        /// clipping; nil at other times or if undecided.
        mutating func add(_ count: Int) -> Bool? {
            windows += 1
            fullScaleSamples += count
            guard windows == 10 else { return nil }
            defer { (windows, fullScaleSamples) = (0, 0) }
            cleanSeconds = fullScaleSamples * 1_000 < SamplePosition.rate ? cleanSeconds + 1 : 0
            if fullScaleSamples * 100 >= SamplePosition.rate { return true }
            return cleanSeconds >= 3 ? false : nil
        }
    }
}
