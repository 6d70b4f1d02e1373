/// The part of a recording to redact.
package struct RedactionOrder: Hashable, Sendable, Codable {
    /// The recording's number; nil for the current recording, or the latest one.
    package var recording: Int?
    /// The last seconds of the recording, or before now.
    package var last: Double?
    /// The start in seconds of the recording, if `last` is nil.
    package var from: Double?
    package var to: Double?

    /// Redacts the last seconds.
    package init(recording: Int?, last: Double) {
        self.recording = recording
        self.last = last
    }

    /// Redacts from one time to another, in seconds of the recording.
    package init(recording: Int?, from: Double, to: Double) {
        self.recording = recording
        (self.from, self.to) = (from, to)
    }

    /// Returns the range in a recording of this length.
    ///
    /// - Parameter pauses: Paused ranges, which do not count towards the last seconds.
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
            "recording \(id) is \(length.seconds) s long: the range is empty; give a start before its end, and a later end"
        )
    }
}

extension SampleRange {
    /// Returns the last `count` samples before a position, not counting pauses, together with the pauses between them.
    static func last(
        _ count: Int64, before position: SamplePosition, without pauses: [SampleRange]
    ) -> SampleRange {
        var (start, end, left) = (position, position, count)
        while left > 0, start > .zero {
            if let pause = pauses.first(where: { $0.start < start && start <= $0.end }) {
                if left == count { end = pause.start }
                start = pause.start
                continue
            }
            let edge = pauses.map(\.end).filter { $0 < start }.max() ?? .zero
            let taken = min(left, start - edge)
            (start, left) = (start - taken, left - taken)
        }
        return SampleRange(start, end)
    }
}
