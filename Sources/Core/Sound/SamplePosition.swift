/// The one clock of the audio stages: samples since the start of a recording, at 16,000 a second.
///
/// Wall time is attached at the edges only; nothing between the microphone and the transcript reads a clock.
///
/// It lies within a hundred years of the start, before or behind, whatever it was made of: so what is told by files, rows,
/// engines and clients can be counted with, and no sum of two overflows.
package struct SamplePosition: Hashable, Comparable, Sendable, Codable {
    /// Samples a second of everything inside Fieldscribe: mono, 16-bit.
    package static let rate = 16_000

    /// The first sample.
    package static let zero = SamplePosition(0)

    /// The furthest from the start, in samples: 139 years.
    package static let furthest: Int64 = 1 << 46

    /// Samples since the recording's first one.
    package let samples: Int64

    /// The position, or the furthest in that direction.
    package init(_ samples: Int64) { self.samples = min(max(samples, -Self.furthest), Self.furthest) }

    /// The sample that is nearest to a time in seconds; the first where that is no number.
    package init(seconds: Double) { self.init(Int64(nearest: seconds * Double(Self.rate))) }

    package init(from decoder: any Decoder) throws {
        self.init(try decoder.singleValueContainer().decode(Int64.self))
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(samples)
    }

    /// Seconds from the first sample; negative before it.
    package var seconds: Double { Double(samples) / Double(Self.rate) }

    package static func < (left: Self, right: Self) -> Bool { left.samples < right.samples }

    /// A position a number of samples further on (or, negative, further back).
    package static func + (position: Self, samples: Int64) -> Self {
        let (sum, overflows) = position.samples.addingReportingOverflow(samples)
        return Self(overflows ? (samples > 0 ? .max : .min) : sum)
    }

    /// A position a number of samples further back (or, negative, further on).
    package static func - (position: Self, samples: Int64) -> Self {
        let (difference, overflows) = position.samples.subtractingReportingOverflow(samples)
        return Self(overflows ? (samples > 0 ? .min : .max) : difference)
    }

    /// The number of samples from `right` to `left`.
    package static func - (left: Self, right: Self) -> Int64 { left.samples - right.samples }
}

extension Int64 {
    /// The share `part / whole` of this number, rounded towards 0. The product may be longer than 64 bits.
    ///
    /// - Parameter part: from 0 to `whole`, which is positive.
    package func share(_ part: Int64, of whole: Int64) -> Int64 {
        whole.dividingFullWidth(multipliedFullWidth(by: part)).quotient
    }
}

extension FixedWidthInteger {
    /// The nearest whole number, the furthest where it is further; 0 for what is no number.
    package init(nearest number: Double) {
        let whole = number.rounded()
        self = whole.isNaN ? 0 : Self(exactly: whole) ?? (whole < 0 ? .min : .max)
    }
}
