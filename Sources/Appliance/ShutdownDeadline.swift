import Core

/// Decides how long an appliance keeps running during shutdown. First, the recording is closed, as long as the disk
/// makes progress; meanwhile systemd is asked for more time. Other work, such as transcription, gets `gracePeriod`, since
/// the next start completes it.
struct ShutdownDeadline {
    enum Verdict: Hashable {
        case wait
        /// Ask systemd for this much more time, counted from now.
        case ask(Duration)
        /// Exit: nothing is lost.
        case over
        /// Exit: the disk has stalled, and the samples in memory are lost.
        case givenUp
    }

    /// The maximum time without progress of the disk: a little more than the ring buffer holds. The systemd unit's
    /// TimeoutStopSec is longer.
    static let stallTimeout = RecorderState.stallLimit

    /// The time for other work once the recording is closed.
    static let gracePeriod = Duration.milliseconds(1_800)

    /// The minimum time between two requests for more time.
    private static let requestInterval = Duration.seconds(1)

    /// The error for a recording whose file was never created.
    static let neverBegun = DeviceError(
        .failed, "recorder",
        "a recording that was just starting is lost: the disk accepted nothing during shutdown; check the card"
    )

    private var progress: Int64?
    private var progressedAt: Duration
    private var askedAt: Duration?
    private var closedAt: Duration?

    init(at now: Duration) { progressedAt = now }

    /// - Parameters:
    ///   - isOpen: whether a recording is not closed yet.
    ///   - progress: a number that changes whenever the disk makes progress.
    mutating func update(now: Duration, isOpen: Bool, progress: Int64) -> Verdict {
        guard isOpen else {
            let since = closedAt ?? now
            closedAt = since
            return now - since >= Self.gracePeriod ? .over : .wait
        }
        closedAt = nil
        if progress != self.progress { (self.progress, progressedAt) = (progress, now) }
        if now - progressedAt >= Self.stallTimeout { return .givenUp }
        // Only while the disk makes progress; otherwise the unit's timeout applies.
        guard askedAt.map({ now - $0 >= Self.requestInterval && progressedAt > $0 }) ?? true else { return .wait }
        askedAt = now
        return .ask(Self.stallTimeout + .seconds(8))
    }
}
