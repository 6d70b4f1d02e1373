import Core

/// A time in the analyzed audio, exact to a sample at 16 kHz. It replaces Core Media's `CMTime`. Times count from the
/// first sample that the analyzer received.
public struct AudioTime: Hashable, Comparable, Sendable {
    /// The first sample.
    public static let zero = AudioTime(value: 0)
    /// The samples per second in which `value` counts: 16,000, whatever the rate of the input.
    public static let timescale = SamplePosition.rate

    /// The number of samples before this time.
    public let value: Int64

    /// - Parameter value: samples at 16 kHz; clamped to 139 years.
    public init(value: Int64) { self.value = SamplePosition(value).samples }

    /// The sample nearest to a time.
    public init(seconds: Double) { value = SamplePosition(seconds: seconds).samples }

    init(_ position: SamplePosition) { value = position.samples }

    /// Seconds from the first sample.
    public var seconds: Double { position.seconds }

    var position: SamplePosition { SamplePosition(value) }

    /// Whether one time is earlier than another.
    public static func < (left: Self, right: Self) -> Bool { left.value < right.value }

    /// The time `duration` later.
    public static func + (time: Self, duration: Self) -> Self { AudioTime(time.position + duration.value) }

    /// The time from `right` to `left`.
    public static func - (left: Self, right: Self) -> Self { AudioTime(left.position - right.value) }
}

extension AudioTime: CustomStringConvertible {
    /// The time in seconds.
    public var description: String { "\(seconds) s" }
}

/// A range of the analyzed audio: from `start` up to, but not including, `end`. It replaces Core Media's `CMTimeRange`.
public struct AudioTimeRange: Hashable, Sendable {
    /// Its first sample.
    public let start: AudioTime
    /// The first sample after it; never before `start`.
    public let end: AudioTime

    /// - Parameters:
    ///   - start: its first sample.
    ///   - end: if it is before `start`, the range is empty.
    public init(start: AudioTime, end: AudioTime) {
        self.start = start
        self.end = max(start, end)
    }

    init(_ range: SampleRange) { self.init(start: AudioTime(range.start), end: AudioTime(range.end)) }

    /// Its length.
    public var duration: AudioTime { end - start }

    /// Whether it has no samples.
    public var isEmpty: Bool { start == end }

    /// Whether it contains a time; it does not contain its end.
    public func contains(_ time: AudioTime) -> Bool { start <= time && time < end }
}
