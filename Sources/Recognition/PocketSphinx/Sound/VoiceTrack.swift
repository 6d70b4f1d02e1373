import Core
internal import CPocketSphinx
import Glibc

/// Tracks the pitch of one utterance with sphinxbase's estimator (YIN), one frame per 10 ms.
///
/// The tracker runs while the utterance is spoken, because it would delay the text if it ran at the end.
final class VoiceTrack {
    private struct Frame {
        /// The period in samples; nil if the frame is unvoiced.
        var period: Double?
        var peak: Double
    }

    /// The number of samples in a window: two periods of the lowest voice, 62.5 Hz.
    private static let window = 512
    /// The decimation factor of the estimator's input. Without decimation, the estimator would take four times as long.
    /// Afterwards, the period is refined with all samples.
    private static let decimation = 2
    private static let hop = 160
    /// The accepted periods in samples, from 500 down to 65 Hz.
    private static let periods = 32.0...246.0
    /// The maximum share of energy left after subtracting the frame one period later.
    private static let maxDifference = 0.2
    /// The maximum relative change of the period between successive frames of a word. A larger change means another
    /// word or an octave error.
    private static let maxChange = 0.15
    private static let minVoicedFrames = 5
    /// The number of voiced frames at the end from which the final lowering is computed.
    private static let finalFrames = 20

    /// The number of windows to process at a time.
    private static let step = 25

    // Safety: owned by this object, closed once in deinit; nil if the library does not export its estimator.
    private let pointer = fieldscribe_voice_open(Int32(window / decimation))
    private var decimated = [Int16](repeating: 0, count: window / decimation)
    private var processed = 0
    private var periods: [UInt16] = []
    private var differences: [UInt16] = []

    deinit { if let pointer { fieldscribe_voice_close(pointer) } }

    /// Analyzes the voice within a range of audio, for an engine that does not measure the pitch itself. Returns nil if
    /// almost nothing is voiced, or if the library does not export its estimator.
    ///
    /// - Parameters:
    ///   - range: the range, counted from the first sample. Any part outside the samples is ignored.
    ///   - samples: mono, 16-bit, 16 kHz.
    static func voice(of range: SampleRange, in samples: UnsafeBufferPointer<Int16>) -> VoiceAnalytics? {
        let whole = SampleRange(.zero, SamplePosition(Int64(samples.count)))
        guard let range = range.intersection(whole) else { return nil }
        let audio = Array(samples[Int(range.start.samples)..<Int(range.end.samples)])
        return VoiceTrack().analytics(of: SampleRange(.zero, SamplePosition(range.count)), in: audio)
    }

    /// Processes the next windows; returns false if there are none.
    ///
    /// - Parameter samples: the utterance from its start.
    func advance(through samples: [Int16]) -> Bool {
        guard let pointer else { return false }
        let before = processed
        samples.withUnsafeBufferPointer { samples in
            while processed < before + Self.step, processed * Self.hop + Self.window <= samples.count {
                process(samples.baseAddress.map { $0 + processed * Self.hop }, by: pointer)
                processed += 1
            }
        }
        return processed > before
    }

    /// Analyzes the voice within `range` of a complete utterance. Returns nil if almost nothing is voiced.
    func analytics(of range: SampleRange, in samples: [Int16]) -> VoiceAnalytics? {
        guard let pointer else { return nil }
        while advance(through: samples) {}
        while process(nil, by: pointer) {}
        let first = (max(0, Int(range.start.samples)) + Self.hop - 1) / Self.hop
        let end = min(samples.count, Int(range.end.samples))
        return samples.withUnsafeBufferPointer { samples in
            var frames: [Frame] = []
            for index in first..<max(first, periods.count) where index * Self.hop + Self.window <= end {
                let start = index * Self.hop
                frames.append(frame(index, UnsafeBufferPointer(rebasing: samples[start..<start + Self.window])))
            }
            return Self.analytics(of: frames)
        }
    }

    /// Passes a window, or nil at the end, to the estimator. Returns whether the estimator had another result.
    @discardableResult private func process(_ window: UnsafePointer<Int16>?, by pointer: OpaquePointer) -> Bool {
        var (period, difference): (UInt16, UInt16) = (0, 0)
        if let window {
            for index in decimated.indices {
                let sum = Int(window[Self.decimation * index]) + Int(window[Self.decimation * index + 1])
                decimated[index] = Int16(sum / Self.decimation)
            }
        }
        let hasResult = decimated.withUnsafeBufferPointer {
            fieldscribe_voice_process(pointer, window == nil ? nil : $0.baseAddress, &period, &difference)
        }
        guard hasResult != 0 else { return false }
        periods.append(period)
        differences.append(difference)
        return true
    }

    private func frame(_ index: Int, _ window: UnsafeBufferPointer<Int16>) -> Frame {
        let peak = window.reduce(0.0) { max($0, abs(Double($1))) }
        let isVoiced = Double(differences[index]) < Self.maxDifference * 32_768 && peak > 0
        let period = isVoiced ? Self.refined(Int(periods[index]) * Self.decimation, in: window) : nil
        return Frame(period: period, peak: peak)
    }

    /// Refines the period, because the estimator uses decimated samples. The minimum of the difference is nearby,
    /// between samples.
    private static func refined(_ period: Int, in window: UnsafeBufferPointer<Int16>) -> Double? {
        let reach = decimation
        guard period > reach + 1, period + reach + 1 < Self.window / 2 else { return nil }
        func difference(_ lag: Int) -> Int {
            var sum = 0
            for index in 0..<Self.window / 2 {
                let step = Int(window[index]) - Int(window[index + lag])
                sum += step * step
            }
            return sum
        }
        let around = (period - reach - 1...period + reach + 1).map(difference)
        let inner = around.indices.dropFirst().dropLast()
        guard let minimum = inner.min(by: { around[$0] < around[$1] }) else { return nil }
        let (before, here, after) = (Double(around[minimum - 1]), Double(around[minimum]), Double(around[minimum + 1]))
        let curvature = before - 2 * here + after
        let offset = curvature > 0 ? max(-1, min(1, (before - after) / (2 * curvature))) : 0
        let exact = Double(period - reach - 1 + minimum) + offset
        return periods.contains(exact) ? exact : nil
    }

    private static func analytics(of frames: [Frame]) -> VoiceAnalytics? {
        let voiced = frames.compactMap(\.period)
        guard voiced.count >= minVoicedFrames else { return nil }
        let pairs = zip(frames, frames.dropFirst()).compactMap { frame, next -> (Double, Double)? in
            guard let period = frame.period, let nextPeriod = next.period,
                abs(nextPeriod - period) <= maxChange * period
            else { return nil }
            return (abs(nextPeriod - period) / period, abs(next.peak - frame.peak) / max(frame.peak, next.peak))
        }
        func mean(_ values: [Double]) -> Double { values.isEmpty ? 0 : values.reduce(0, +) / Double(values.count) }
        func median(_ periods: [Double]) -> Double { periods.sorted()[periods.count / 2] }
        return VoiceAnalytics(
            pitch: Double(SamplePosition.rate) / median(voiced), jitter: mean(pairs.map(\.0)),
            shimmer: mean(pairs.map(\.1)), voicing: Double(voiced.count) / Double(frames.count),
            finalLowering: 12 * log2(median(voiced.suffix(finalFrames)) / median(voiced)))
    }
}
