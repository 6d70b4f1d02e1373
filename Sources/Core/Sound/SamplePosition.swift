/// The clock of the audio stages: samples since the start of a recording, at 16 kHz.
///
/// Wall time is attached at the edges only; nothing between the microphone and the transcript reads a clock.
///
/// Values are clamped to 139 years around the start, whatever their source (files, rows, engines, clients), so that
/// sums of two do not overflow.
package struct SamplePosition: Hashable, Comparable, Sendable, Codable {
    /// The sample rate of all audio inside Fieldscribe: mono, 16-bit.
    package static let rate = 16_000
    package static let zero = SamplePosition(0)
    /// The largest distance from the start, in samples: 139 years.
    package static let furthest: Int64 = 1 << 46
    /// The number of samples since the recording's first.
    package let samples: Int64

    /// Creates a position, clamped to `furthest`.
    package init(_ samples: Int64) { self.samples = min(max(samples, -Self.furthest), Self.furthest) }

    /// The sample nearest to a time; the first for NaN.
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

    /// The position `samples` later.
    package static func + (position: Self, samples: Int64) -> Self {
        let (sum, overflows) = position.samples.addingReportingOverflow(samples)
        return Self(overflows ? (samples > 0 ? .max : .min) : sum)
    }

    /// The position `samples` earlier.
    package static func - (position: Self, samples: Int64) -> Self {
        let (difference, overflows) = position.samples.subtractingReportingOverflow(samples)
        return Self(overflows ? (samples > 0 ? .min : .max) : difference)
    }

    /// The number of samples from `right` to `left`.
    package static func - (left: Self, right: Self) -> Int64 { left.samples - right.samples }
}

extension Int64 {
    /// Returns this number times `part / whole`, rounded towards 0. The product may exceed 64 bits.
    ///
    /// - Parameter part: From 0 to `whole`, which is positive.
    package func share(_ part: Int64, of whole: Int64) -> Int64 {
        whole.dividingFullWidth(multipliedFullWidth(by: part)).quotient
    }
}

extension FixedWidthInteger {
    /// The nearest integer, clamped to the type's range; 0 for NaN.
    package init(nearest number: Double) {
        let whole = number.rounded()
        self = whole.isNaN ? 0 : Self(exactly: whole) ?? (whole < 0 ? .min : .max)
    }
}
