/// Schedules a recording's syncs so that a power cut loses at most `bound`, even if syncs are slow. Times are in
/// nanoseconds on the monotonic clock.
///
/// A power cut just before a sync finishes loses everything captured since the previous sync began: the interval, the
/// sync itself, and the audio that the microphone has not delivered yet.
struct SyncPace {
    /// The duration of a microphone block, plus scheduling delay.
    private static let latency: Int64 = 150_000_000

    /// The maximum interval as a fraction of the bound, since the next sync may be slower than the last.
    private static let maximumInterval = 0.45

    /// The number of recent syncs used to predict the duration of the next.
    private static let recentSyncs = 16

    let bound: Int64

    private var durations: [Int64] = []

    private(set) var due: Int64

    /// - Parameters:
    ///   - bound: The maximum loss in a power cut, in nanoseconds.
    ///   - now: The current time. The first sync is due immediately, so that the lamp soon shows that audio is safe.
    init(bound: Int64, now: Int64) {
        self.bound = bound
        due = now
        durations.reserveCapacity(Self.recentSyncs)
    }

    /// Records a successful sync.
    mutating func recordSync(from begin: Int64, to end: Int64) {
        if durations.count == Self.recentSyncs { durations.removeFirst() }
        durations.append(max(0, end - begin))
        let expected = durations.max() ?? 0
        let interval = min(Int64(Double(bound) * Self.maximumInterval), bound - expected - Self.latency)
        // If a sync takes longer than the interval, the next one follows immediately.
        due = max(begin + max(interval, bound / 10), end)
    }

    /// Makes the next sync due immediately.
    mutating func makeDue() { due = 0 }
}
