/// Schedules the syncs of a recording, so that a power cut loses at most `bound`, even if syncs are slow. Times are monotonic
/// nanoseconds.
///
/// A power cut just before a sync ends loses everything captured since the previous sync began: the interval, the sync
/// itself, and what the microphone has not delivered yet.
struct SyncPace {
    /// One microphone block, plus scheduling.
    private static let latency: Int64 = 150_000_000

    /// The longest interval, as a share of the bound: the next sync may be slower than the last.
    private static let longest = 0.45

    /// How many recent syncs predict the duration of the next.
    private static let remembered = 16

    /// How much a power cut may lose.
    let bound: Int64

    private var durations: [Int64] = []

    private(set) var due: Int64

    /// - Parameters:
    ///   - bound: how much a power cut may lose, in nanoseconds.
    ///   - now: the first sync is due immediately, because the lamp promises that audio is safe.
    init(bound: Int64, now: Int64) {
        self.bound = bound
        due = now
        durations.reserveCapacity(Self.remembered)
    }

    /// Records a successful sync.
    mutating func synced(from begin: Int64, to end: Int64) {
        if durations.count == Self.remembered { durations.removeFirst() }
        durations.append(max(0, end - begin))
        let expected = durations.max() ?? 0
        let pause = min(Int64(Double(bound) * Self.longest), bound - expected - Self.latency)
        // A slower disk syncs continuously.
        due = max(begin + max(pause, bound / 10), end)
    }

    /// Makes the next sync due immediately.
    mutating func hurry() { due = 0 }
}
