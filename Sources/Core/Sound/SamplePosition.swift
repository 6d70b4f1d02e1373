/// A time in the audio pipeline: the number of samples since the start of a recording, at 16 kHz. Nothing between the
/// microphone and the transcript reads a clock.
///
/// Values from any source (files, database rows, engines, clients) are clamped to within 139 years of the start, so
/// that the sum of two does not overflow.
package struct SamplePosition: Hashable, Comparable, Sendable, Codable {
    /// The sample rate of all audio inside Fieldscribe, in Hz.
    package static let rate = 16_000
    package static let zero = SamplePosition(0)
    /// The maximum distance from the start, in samples: 139 years.
    package static let maximumSamples: Int64 = 1 << 46
    package let samples: Int64

    /// Creates a position, clamped to `maximumSamples` before or after the start.
    package init(_ samples: Int64) { self.samples = min(max(samples, -Self.maximumSamples), Self.maximumSamples) }

    /// Creates the position nearest to a time; the first sample for NaN.
    package init(seconds: Double) { self.init(Int64(nearest: seconds * Double(Self.rate))) }

    package init(from decoder: any Decoder) throws {
        self.init(try decoder.singleValueContainer().decode(Int64.self))
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(samples)
    }

    /// Seconds since the first sample; negative before it.
    package var seconds: Double { Double(samples) / Double(Self.rate) }

    package static func < (left: Self, right: Self) -> Bool { left.samples < right.samples }

    /// Returns the position `samples` later.
    package static func + (position: Self, samples: Int64) -> Self {
        let (sum, overflows) = position.samples.addingReportingOverflow(samples)
        return Self(overflows ? (samples > 0 ? .max : .min) : sum)
    }

    /// Returns the position `samples` earlier.
    package static func - (position: Self, samples: Int64) -> Self {
        let (difference, overflows) = position.samples.subtractingReportingOverflow(samples)
        return Self(overflows ? (samples > 0 ? .min : .max) : difference)
    }

    /// Returns the number of samples from `right` to `left`.
    package static func - (left: Self, right: Self) -> Int64 { left.samples - right.samples }
}

extension Int64 {
    /// Returns this number times `part / whole`, rounded towards 0. The product of this number and `part` may exceed 64
    /// bits.
    ///
    /// - Parameter part: From 0 to `whole`, which must be positive.
    package func share(_ part: Int64, of whole: Int64) -> Int64 {
        whole.dividingFullWidth(multipliedFullWidth(by: part)).quotient
    }
}

extension FixedWidthInteger {
    /// Creates the nearest integer, clamped to the type's range; 0 for NaN.
    package init(nearest number: Double) {
        let whole = number.rounded()
        self = whole.isNaN ? 0 : Self(exactly: whole) ?? (whole < 0 ? .min : .max)
    }
}
