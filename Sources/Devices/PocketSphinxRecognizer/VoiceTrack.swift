internal import CPocketSphinx
import Core
import Glibc

/// The pitch of a voice over time, by sphinxbase's estimator (YIN), a frame every 10 ms.
struct VoiceTrack {
    private struct Frame {
        /// In samples; nil where it is not voiced.
        var period: Double?
        var peak: Double
    }

    /// The window holds two periods of the lowest voice, 62.5 Hz.
    private static let window = 512
    private static let hop = 160
    /// Periods of 500 down to 65 Hz.
    private static let periods = 32.0...246.0
    /// Of the frame's energy so much may be left when it is taken away from itself a period later.
    private static let mostDifference = 0.2
    /// A change by more is another word, or an octave that was mistaken.
    private static let mostChange = 0.15
    private static let least = 5
    /// Frames that tell how a voice ends.
    private static let last = 20

    private var frames: [Frame] = []

    /// - Parameter samples: of the words alone.
    init(_ samples: UnsafeBufferPointer<Int16>) {
        let count = (samples.count - Self.window) / Self.hop + 1
        guard samples.count >= Self.window, let first = samples.baseAddress else { return }
        var periods = [UInt16](repeating: 0, count: count)
        var differences = [UInt16](repeating: 0, count: count)
        let got = fieldscribe_voice_track(
            first, samples.count, Int32(Self.window), Int32(Self.hop), &periods, &differences, Int32(count))
        for index in 0..<Int(max(0, got)) {
            let start = index * Self.hop
            let window = UnsafeBufferPointer(rebasing: samples[start..<start + Self.window])
            let peak = window.reduce(0.0) { max($0, abs(Double($1))) }
            let isVoiced = Double(differences[index]) < Self.mostDifference * 32_768 && peak > 0
            frames.append(Frame(period: isVoiced ? Self.refined(Int(periods[index]), in: window) : nil, peak: peak))
        }
    }

    /// The estimator knows whole samples, coarser than a voice wavers: the minimum of the difference lies between them.
    private static func refined(_ period: Int, in window: UnsafeBufferPointer<Int16>) -> Double? {
        guard period > 1, period + 1 < Self.window / 2 else { return nil }
        func difference(_ lag: Int) -> Double {
            var sum = 0.0
            for index in 0..<Self.window / 2 {
                let step = Double(window[index]) - Double(window[index + lag])
                sum += step * step
            }
            return sum
        }
        let (before, here, after) = (difference(period - 1), difference(period), difference(period + 1))
        let bend = before - 2 * here + after
        let exact = bend > 0 ? Double(period) + max(-1, min(1, (before - after) / (2 * bend))) : Double(period)
        return periods.contains(exact) ? exact : nil
    }

    /// Nil where next to nothing is voiced.
    var analytics: VoiceAnalytics? {
        let voiced = frames.compactMap(\.period)
        guard voiced.count >= Self.least else { return nil }
        let pairs = zip(frames, frames.dropFirst()).compactMap { one, next -> (Double, Double)? in
            guard let period = one.period, let following = next.period,
                abs(following - period) <= Self.mostChange * period
            else { return nil }
            return (abs(following - period) / period, abs(next.peak - one.peak) / max(one.peak, next.peak))
        }
        func mean(_ values: [Double]) -> Double { values.isEmpty ? 0 : values.reduce(0, +) / Double(values.count) }
        func middle(_ periods: [Double]) -> Double { periods.sorted()[periods.count / 2] }
        return VoiceAnalytics(
            pitch: Double(SamplePosition.rate) / middle(voiced), jitter: mean(pairs.map(\.0)),
            shimmer: mean(pairs.map(\.1)), voicing: Double(voiced.count) / Double(frames.count),
            finalLowering: 12 * log2(middle(voiced.suffix(Self.last)) / middle(voiced)))
    }
}
