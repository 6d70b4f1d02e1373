/// When the next sync of a recording begins, so that a power cut takes no more than was promised, however long the disk
/// takes for one. Times are monotonic nanoseconds.
///
/// A cut just before a sync has ended takes what was heard since the one before began: the time from one to the next, that
/// sync itself, and what the microphone had not handed over yet.
struct SyncPace {
    /// A microphone's block, and a moment for the threads.
    private static let latency: Int64 = 150_000_000

    /// From one to the next at most, as a share of the bound: a card that was quick may be slow the next time.
    private static let longest = 0.45

    /// How many of the last syncs tell how long the next may take.
    private static let remembered = 16

    /// What a power cut may take.
    let bound: Int64

    private var durations: [Int64] = []

    /// When the next one is due.
    private(set) var due: Int64

    /// - Parameters:
    ///   - bound: what a power cut may take, in nanoseconds.
    ///   - now: when the first is due: at once, since the lamp says that what it shows is safe.
    init(bound: Int64, now: Int64) {
        self.bound = bound
        due = now
        durations.reserveCapacity(Self.remembered)
    }

    /// Says that a sync has gone well.
    mutating func synced(from begin: Int64, to end: Int64) {
        if durations.count == Self.remembered { durations.removeFirst() }
        durations.append(max(0, end - begin))
        let expected = durations.max() ?? 0
        let pause = min(Int64(Double(bound) * Self.longest), bound - expected - Self.latency)
        // A disk that takes longer than that is never left alone; it has what it can take.
        due = max(begin + max(pause, bound / 10), end)
    }

    /// Says that the next one is due at once.
    mutating func hurry() { due = 0 }
}
