import Core

/// Decides how long an appliance keeps running during shutdown.
///
/// While the recording is being closed and the disk makes progress, the appliance keeps running and asks systemd for
/// more time. Other work, such as transcription, then gets only `gracePeriod`, since the next start completes it.
struct ShutdownDeadline {
    enum Verdict: Hashable {
        case wait
        /// Ask systemd for this much more time, counted from now.
        case extend(Duration)
        /// Exit; nothing is lost.
        case exit
        /// Exit; the disk has stalled, and the samples in memory are lost.
        case giveUp
    }

    /// The maximum time without progress on the disk, which is a little more than the ring buffer holds. TimeoutStopSec
    /// in the systemd unit is longer.
    static let stallTimeout = RecorderState.stallLimit

    /// The time for other work once the recording is closed.
    static let gracePeriod = Duration.milliseconds(1_800)

    /// The minimum interval between two requests for more time.
    private static let requestInterval = Duration.seconds(1)

    /// The error for a recording that was still being opened.
    static let lostOpeningError = DeviceError(
        .failed, "recorder",
        "a recording that was just starting is lost, because nothing could be written to the disk during shutdown; "
            + "check the card")

    private var progress: Int64?
    private var progressedAt: Duration
    private var extendedAt: Duration?
    private var closedAt: Duration?

    init(at now: Duration) { progressedAt = now }

    /// - Parameters:
    ///   - isOpen: whether a recording is not closed yet.
    ///   - progress: a number that changes whenever the disk makes progress.
    mutating func update(now: Duration, isOpen: Bool, progress: Int64) -> Verdict {
        guard isOpen else {
            let since = closedAt ?? now
            closedAt = since
            return now - since >= Self.gracePeriod ? .exit : .wait
        }
        closedAt = nil
        if progress != self.progress { (self.progress, progressedAt) = (progress, now) }
        if now - progressedAt >= Self.stallTimeout { return .giveUp }
        // Asks again only if the disk has made progress since the last request; otherwise the unit's timeout applies.
        guard extendedAt.map({ now - $0 >= Self.requestInterval && progressedAt > $0 }) ?? true else { return .wait }
        extendedAt = now
        return .extend(Self.stallTimeout + .seconds(8))
    }
}
