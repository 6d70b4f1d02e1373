/// The one clock of the audio stages: samples since the start of a recording, at 16,000 a second.
///
/// Wall time is attached at the edges only; nothing between the microphone and the transcript reads a clock.
package struct SamplePosition: Hashable, Comparable, Sendable, Codable {
    /// Samples a second of everything inside Fieldscribe: mono, 16-bit.
    package static let rate = 16_000

    package static let zero = SamplePosition(0)

    /// Samples since the recording's first one.
    package var samples: Int64

    package init(_ samples: Int64) { self.samples = samples }

    /// The sample that is nearest to a time in seconds.
    package init(seconds: Double) { samples = Int64((seconds * Double(Self.rate)).rounded()) }

    package init(from decoder: any Decoder) throws {
        samples = try decoder.singleValueContainer().decode(Int64.self)
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(samples)
    }

    package var seconds: Double { Double(samples) / Double(Self.rate) }

    package static func < (left: Self, right: Self) -> Bool { left.samples < right.samples }

    /// A position a number of samples further on (or, negative, further back).
    package static func + (position: Self, samples: Int64) -> Self { Self(position.samples + samples) }

    package static func - (position: Self, samples: Int64) -> Self { Self(position.samples - samples) }

    /// The number of samples from `right` to `left`.
    package static func - (left: Self, right: Self) -> Int64 { left.samples - right.samples }
}
