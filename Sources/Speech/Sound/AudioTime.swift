import Core

/// A time in the analyzed audio, exact to one sample at 16 kHz. Times count from the first sample that the analyzer
/// received. This type replaces Core Media's `CMTime`.
public struct AudioTime: Hashable, Comparable, Sendable {
    /// The time of the first sample.
    public static let zero = AudioTime(value: 0)
    /// The number of units of `value` per second: 16,000, whatever the input's sample rate.
    public static let timescale = SamplePosition.rate

    /// The number of samples at 16 kHz before this time.
    public let value: Int64

    /// Creates a time.
    ///
    /// - Parameter value: The number of samples at 16 kHz, clamped to ±139 years.
    public init(value: Int64) { self.value = SamplePosition(value).samples }

    /// Creates the time of the sample nearest to a number of seconds.
    public init(seconds: Double) { value = SamplePosition(seconds: seconds).samples }

    init(_ position: SamplePosition) { value = position.samples }

    /// The seconds since the first sample.
    public var seconds: Double { position.seconds }

    var position: SamplePosition { SamplePosition(value) }

    /// Whether `left` is earlier than `right`.
    public static func < (left: Self, right: Self) -> Bool { left.value < right.value }

    /// Returns the time that is `duration` after `time`.
    public static func + (time: Self, duration: Self) -> Self { AudioTime(time.position + duration.value) }

    /// Returns the duration from `right` to `left`.
    public static func - (left: Self, right: Self) -> Self { AudioTime(left.position - right.value) }
}

extension AudioTime: CustomStringConvertible {
    /// The time in seconds, such as `1.5 s`.
    public var description: String { "\(seconds) s" }
}

/// A range of the analyzed audio, from `start` up to, but not including, `end`. It replaces Core Media's `CMTimeRange`.
public struct AudioTimeRange: Hashable, Sendable {
    /// The first sample in the range.
    public let start: AudioTime
    /// The first sample after the range; never before `start`.
    public let end: AudioTime

    /// Creates a range.
    ///
    /// - Parameters:
    ///   - start: The first sample in the range.
    ///   - end: The first sample after the range. If it is before `start`, the range is empty.
    public init(start: AudioTime, end: AudioTime) {
        self.start = start
        self.end = max(start, end)
    }

    init(_ range: SampleRange) { self.init(start: AudioTime(range.start), end: AudioTime(range.end)) }

    /// The length of the range.
    public var duration: AudioTime { end - start }

    /// Whether the range has no samples.
    public var isEmpty: Bool { start == end }

    /// Whether the range contains a time. The end is not in the range.
    public func contains(_ time: AudioTime) -> Bool { start <= time && time < end }
}
