import Core

/// Decides how long an appliance keeps running during shutdown. The recording is closed first, as long as the disk
/// makes progress; systemd is asked for more time meanwhile. Everything else, such as text, gets `rest`, since the next
/// start completes it.
struct ShutdownDeadline {
    enum Verdict: Hashable {
        case wait
        /// Ask systemd for this much more time from now on.
        case ask(Duration)
        /// Stop: nothing is lost.
        case over
        /// Stop: the disk has stalled, and the samples in memory are lost.
        case givenUp
    }

    /// How long a disk may make no progress: a little more than the ring holds. The unit's TimeoutStopSec is longer.
    static let stall = RecorderState.stallLimit

    /// The time for the rest once the recording is closed.
    static let rest = Duration.milliseconds(1_800)

    /// The shortest time between two requests for more time.
    private static let period = Duration.seconds(1)

    /// The error for a recording whose file was never begun.
    static let neverBegun = DeviceError(
        .failed, "recorder",
        "a recording that was just starting is lost: the disk accepted nothing during shutdown; check the card"
    )

    private var progress: Int64?
    private var movedAt: Duration
    private var askedAt: Duration?
    private var closedAt: Duration?

    init(at now: Duration) { movedAt = now }

    /// - Parameters:
    ///   - isOpen: whether a recording is not closed yet.
    ///   - progress: a number that changes while the disk makes progress.
    mutating func update(now: Duration, isOpen: Bool, progress: Int64) -> Verdict {
        guard isOpen else {
            let since = closedAt ?? now
            closedAt = since
            return now - since >= Self.rest ? .over : .wait
        }
        closedAt = nil
        if progress != self.progress { (self.progress, movedAt) = (progress, now) }
        if now - movedAt >= Self.stall { return .givenUp }
        // Only while the disk makes progress; otherwise the unit's timeout applies.
        guard askedAt.map({ now - $0 >= Self.period && movedAt > $0 }) ?? true else { return .wait }
        askedAt = now
        return .ask(Self.stall + .seconds(8))
    }
}
