/// A request to redact a range of a recording.
package struct RedactionRequest: Hashable, Sendable, Codable {
    /// The recording's ID; nil for the current recording or, if there is none, the latest.
    package var recording: Int?
    /// The number of seconds to redact before the end of the recording, or before now; nil if `from` and `to` are set.
    package var last: Double?
    /// The start in seconds from the start of the recording.
    package var from: Double?
    package var to: Double?

    /// Creates a request to redact the last seconds.
    package init(recording: Int?, last: Double) {
        self.recording = recording
        self.last = last
    }

    /// Creates a request to redact a range, in seconds from the start of the recording.
    package init(recording: Int?, from: Double, to: Double) {
        self.recording = recording
        (self.from, self.to) = (from, to)
    }

    /// Returns the range to redact in a recording.
    ///
    /// - Parameter pauses: Paused ranges, which do not count towards `last`.
    /// - Throws: `DeviceError` with `unsupported` if the range is empty.
    package func range(
        of id: Int, upTo length: SamplePosition, pauses: [SampleRange] = []
    ) throws(DeviceError) -> SampleRange {
        func position(_ seconds: Double) -> SamplePosition {
            max(.zero, min(length, SamplePosition(seconds: seconds.isFinite ? seconds : 0)))
        }
        let range =
            if let last {
                SampleRange.last(
                    last.isFinite ? SamplePosition(seconds: last).samples : length.samples, before: length,
                    without: pauses)
            } else {
                SampleRange(position(from ?? 0), position(to ?? 0))
            }
        guard range.isEmpty else { return range }
        throw DeviceError(
            .unsupported, "redact",
            "recording \(id) is \(length.seconds) s long, and the range contains none of it; "
                + "give a start before its end, and a later end"
        )
    }
}

extension SampleRange {
    /// Returns the range that contains the last `count` samples outside pauses before a position, or fewer if there are
    /// not enough. It ends at the position or, if that is in or just after a pause, where the pause began.
    static func last(
        _ count: Int64, before position: SamplePosition, without pauses: [SampleRange]
    ) -> SampleRange {
        var (start, end, remaining) = (position, position, count)
        while remaining > 0, start > .zero {
            if let pause = pauses.first(where: { $0.start < start && start <= $0.end }) {
                if remaining == count { end = pause.start }
                start = pause.start
                continue
            }
            let edge = pauses.map(\.end).filter { $0 < start }.max() ?? .zero
            let length = min(remaining, start - edge)
            (start, remaining) = (start - length, remaining - length)
        }
        return SampleRange(start, end)
    }
}
