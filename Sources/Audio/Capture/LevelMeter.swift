import Core
import Glibc

/// Measures the level in windows of 100 ms.
struct LevelMeter {
    /// The level reported for silence, in dBFS.
    static let floorDecibels = -96.0

    private static let window = SamplePosition.rate / 10
    private var count = 0
    private var sum: Int64 = 0
    private var peak: Int32 = 0

    /// Calls `report` with the RMS level and the peak in dBFS at the end of each window.
    mutating func measure(_ samples: UnsafeBufferPointer<Int16>, report: (Double, Double) -> Void) {
        var rest = samples[...]
        while !rest.isEmpty {
            let part = rest.prefix(Self.window - count)
            for sample in part {
                let value = Int32(sample)
                sum += Int64(value * value)
                peak = max(peak, abs(value))
            }
            count += part.count
            rest = rest.dropFirst(part.count)
            if count == Self.window {
                report(
                    Self.decibels((Double(sum) / Double(Self.window)).squareRoot()), Self.decibels(Double(peak)))
                self = LevelMeter()
            }
        }
    }

    private static func decibels(_ amplitude: Double) -> Double {
        amplitude > 0 ? max(floorDecibels, 20 * log10(amplitude / 32_768)) : floorDecibels
    }
}
