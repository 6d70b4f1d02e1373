import Core
import Glibc

/// Detects a voice in audio whose text was rejected. A voice has many voiced frames, and its pitch glides, unlike
/// that of tones, hum and music.
///
/// Unlike `VoiceTrack` it needs no library. The constants were chosen with a numpy model on 147 synthetic sounds
/// without speech, and on short, noisy, muffled and reverberant pieces of the corpus's `fit` part.
enum VoiceTest {
    /// The distance between frames: 10 ms in samples.
    private static let hop = 160
    private static let window = 400
    /// The tested periods, in samples: 1,000 to 65 Hz. Periods below `shortestVoicePeriod` come from whistles, sirens
    /// and birds.
    private static let periods = 16...246
    /// The period of 400 Hz.
    private static let shortestVoicePeriod = 40
    private static let longestVoicePeriod = 240
    /// The minimum correlation of a voiced frame with the sound one period later.
    private static let minCorrelation = 0.7
    /// The shortest period whose correlation reaches this share of the highest correlation is chosen.
    private static let sufficientShare = 0.85
    /// Frames below this share of the loudest frame's energy are ignored.
    private static let quietShare = 0.002
    /// The maximum change of pitch between successive voiced frames, in octaves. A larger change starts another run.
    private static let maxChange = 0.15
    /// The minimum number of frames in a run, and the distance in frames over which glides are measured.
    private static let minRun = 5
    /// The minimum number of voiced frames, and their minimum share of the loud frames.
    private static let (minVoiced, minShare) = (10, 0.25)
    /// The minimum median glide in semitones over 50 ms.
    private static let minGlide = 0.2

    private struct Frame {
        var isLoud: Bool
        /// The period in samples; nil if the frame is quiet or unvoiced.
        var period: Int?
    }

    /// Whether the samples contain a voice.
    ///
    /// - Parameter samples: mono, 16 kHz, without the silence around them.
    static func isVoice(_ samples: UnsafeBufferPointer<Int16>) -> Bool {
        let frames = frames(of: samples)
        var runs: [[Double]] = []
        var run: [Double] = []
        for frame in frames {
            let pitch = frame.period.map { -log2(Double($0)) }
            if let pitch, let last = run.last, abs(pitch - last) < maxChange {
                run.append(pitch)
                continue
            }
            if run.count >= minRun { runs.append(run) }
            run = pitch.map { [$0] } ?? []
        }
        if run.count >= minRun { runs.append(run) }
        let voiced = runs.reduce(0) { $0 + $1.count }
        guard voiced >= minVoiced, Double(voiced) >= minShare * Double(frames.count(where: \.isLoud)) else {
            return false
        }
        let glides = runs.flatMap { run in zip(run, run.dropFirst(minRun)).map { 12 * abs($1 - $0) } }.sorted()
        return !glides.isEmpty && glides[glides.count / 2] >= minGlide
    }

    private static func frames(of samples: UnsafeBufferPointer<Int16>) -> [Frame] {
        guard samples.count >= window + periods.upperBound else { return [] }
        let mean = samples.reduce(0) { $0 + Int($1) } / samples.count
        let centeredSamples = samples.map { Int($0) - mean }
        var sums = [0]
        sums.reserveCapacity(centeredSamples.count + 1)
        for value in centeredSamples { sums.append(sums[sums.count - 1] + value * value) }
        func energy(_ start: Int) -> Int { sums[start + window] - sums[start] }
        let starts = stride(from: 0, through: centeredSamples.count - window - periods.upperBound, by: hop)
        let minEnergy = quietShare * Double(starts.map(energy).max() ?? 0)
        return centeredSamples.withUnsafeBufferPointer { centeredSamples in
            starts.map { start in
                guard Double(energy(start)) > minEnergy else { return Frame(isLoud: false) }
                let correlations = periods.map { lag in
                    var product = 0
                    for index in start..<start + window {
                        product &+= centeredSamples[index] &* centeredSamples[index + lag]
                    }
                    return Double(product) / max(1e-9, Double(energy(start)) * Double(energy(start + lag))).squareRoot()
                }
                return Frame(isLoud: true, period: period(correlations))
            }
        }
    }

    /// Returns the period of a voice; nil if there is no voice.
    private static func period(_ correlations: [Double]) -> Int? {
        guard let best = correlations.max(), best > minCorrelation,
            var index = correlations.firstIndex(where: { $0 >= sufficientShare * best })
        else { return nil }
        while index + 1 < correlations.count, correlations[index + 1] > correlations[index] { index += 1 }
        let period = periods.lowerBound + index
        let isInRange = (shortestVoicePeriod..<longestVoicePeriod).contains(period)
        return correlations[index] > minCorrelation && isInRange ? period : nil
    }
}
