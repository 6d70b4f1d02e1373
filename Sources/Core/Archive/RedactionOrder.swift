/// Which stretch of which recording is to be struck, as a person says it.
package struct RedactionOrder: Hashable, Sendable, Codable {
    /// The recording's number; nil: the one that goes on, else the latest.
    package var recording: Int?
    /// So many seconds before the end, or before now.
    package var last: Double?
    /// From here, in seconds from the recording's start; where `last` is nil.
    package var from: Double?
    /// Up to here, likewise.
    package var to: Double?

    /// The last seconds.
    package init(recording: Int?, last: Double) {
        self.recording = recording
        self.last = last
    }

    /// From one time to another, in seconds from the recording's start.
    package init(recording: Int?, from: Double, to: Double) {
        self.recording = recording
        (self.from, self.to) = (from, to)
    }

    /// What that is of a recording that is so long, or has come so far.
    ///
    /// - Parameter pauses: where nothing was taken: the last seconds are counted without.
    /// - Throws: `DeviceError` with `unsupported` where nothing of it lies there.
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
            .unsupported, "strike",
            "recording \(id) is \(length.seconds) s long: there is nothing in that place; give a time before its end, and one behind that"
        )
    }
}

extension SampleRange {
    /// The last so many samples before a position that do not lie in pauses; with the pauses between them.
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
