import Core

/// How long an appliance that was told to end still runs. Pure.
///
/// A recording is closed first, and that takes as long as the disk takes something; systemd is asked for the time. What then is
/// left, such as text, the next start makes up for, so that it has a moment only.
struct ShutdownDeadline {
    enum Verdict: Hashable {
        case wait
        /// So much more time is wanted from now on.
        case ask(Duration)
        /// Nothing is left that would be lost.
        case over
        /// The disk takes nothing any more of what is still in memory.
        case givenUp
    }

    /// What the ring holds, and a little: a disk that takes nothing for longer is not waited for. The unit's TimeoutStopSec
    /// is longer.
    static let stall = RecorderState.stallLimit

    /// For what is left once the recording is closed.
    static let rest = Duration.milliseconds(1_800)

    /// From one question for more time to the next.
    private static let period = Duration.seconds(1)

    /// What is lost of a recording that the disk has not even taken the beginning of.
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
    ///   - progress: anything that grows with what the disk takes.
    mutating func look(at now: Duration, isOpen: Bool, progress: Int64) -> Verdict {
        guard isOpen else {
            let since = closedAt ?? now
            closedAt = since
            return now - since >= Self.rest ? .over : .wait
        }
        closedAt = nil
        if progress != self.progress { (self.progress, movedAt) = (progress, now) }
        if now - movedAt >= Self.stall { return .givenUp }
        // Only while the disk takes something: else what the unit allows has to do.
        guard askedAt.map({ now - $0 >= Self.period && movedAt > $0 }) ?? true else { return .wait }
        askedAt = now
        return .ask(Self.stall + .seconds(8))
    }
}
