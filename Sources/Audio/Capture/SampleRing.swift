import Core
import Synchronization

/// Bridges the time in which the disk takes nothing: a preallocated, lock-free ring of samples, and of the places where
/// some were lost, for one capture thread and one writer thread.
///
/// A block that finds no room is dropped as a whole, counted, and reported as one loss before the next block that is
/// taken; so the positions of everything that follows stay true. Neither side allocates or waits.
///
/// What was taken keeps its place until it is released, so that it can be taken again when the disk has lost it.
final class SampleRing: @unchecked Sendable {
    /// What comes out next.
    enum Piece {
        /// Samples, interleaved where there are two channels, valid while they are being taken.
        case samples(UnsafeBufferPointer<Int16>)
        /// So many samples are missing here.
        case lost(Int, Gap.Cause)
    }

    /// Samples of a channel that fit; so is everything counted here.
    let capacity: Int

    // Safety: the producer writes a sample before `written` is released past it; the consumer reads it, after acquiring
    // `written`, before `released` is released past it. Only the consumer uses `taken` and `restIsTaken`.
    private let most: Int
    private let storage: UnsafeMutablePointer<Int16>
    private let written = Atomic<Int>(0)
    private let released = Atomic<Int>(0)
    private var taken = 0
    private var restIsTaken = false
    private let markers = MarkerQueue(capacity: 256)

    // Safety: only the producer uses it, and the consumer once it was told that the producer has ended.
    private var pending: (count: Int, cause: Gap.Cause)?

    /// How many channels it holds now.
    // Safety: written before the first sample is put in, and before the consumer is told that there is any.
    private(set) var channels: Int

    /// Takes all its memory at once.
    ///
    /// - Parameters:
    ///   - capacity: in samples of a channel, 1 or more.
    ///   - channels: the most that it will have to hold.
    init(capacity: Int, channels: Int = 1) {
        self.capacity = max(1, capacity)
        self.channels = max(1, channels)
        most = self.channels
        storage = .allocate(capacity: self.capacity * most)
        // Touches each page now, so that the capture thread meets no page fault later.
        storage.initialize(repeating: 0, count: self.capacity * most)
    }

    deinit { storage.deallocate() }

    /// Producer, before anything is put in: how many channels come, no more than it was made for.
    func use(channels: Int) { self.channels = min(max(1, channels), most) }

    /// Producer: whether a block of so many samples would be taken.
    func hasRoom(for count: Int) -> Bool {
        let used = written.load(ordering: .relaxed) - released.load(ordering: .acquiring)
        return count <= capacity - used && (pending == nil || markers.hasRoom)
    }

    /// Producer: puts a block of whole frames in, or counts it as lost to the disk where there is no room for all of it.
    ///
    /// - Returns: whether it was taken.
    @discardableResult
    func put(_ samples: UnsafeBufferPointer<Int16>) -> Bool {
        guard let source = samples.baseAddress, !samples.isEmpty else { return true }
        let count = samples.count / channels
        guard hasRoom(for: count) else {
            lose(count, cause: .disk)
            return false
        }
        let index = written.load(ordering: .relaxed)
        if let lost = pending {
            // Before the samples: a consumer that sees them sees this as well.
            markers.put(MarkerQueue.Marker(index: index, lost: lost.count, cause: lost.cause))
            pending = nil
        }
        let place = index % capacity
        let first = min(count, capacity - place)
        (storage + place * channels).update(from: source, count: first * channels)
        storage.update(from: source + first * channels, count: (count - first) * channels)
        written.store(index + count, ordering: .releasing)
        return true
    }

    /// Producer: so many samples are missing before the next that is put in.
    ///
    /// A loss that mixes causes is the disk's, if the disk had a part in it, else the later one's. A pause is no loss, and
    /// stays apart.
    func lose(_ count: Int, cause: Gap.Cause) {
        guard count > 0 else { return }
        if let lost = pending, (lost.cause == .paused) != (cause == .paused), markers.hasRoom {
            let index = written.load(ordering: .relaxed)
            markers.put(MarkerQueue.Marker(index: index, lost: lost.count, cause: lost.cause))
            pending = nil
        }
        pending = ((pending?.count ?? 0) + count, pending?.cause == .disk ? .disk : cause)
    }

    /// Consumer: hands the next piece to `body`, and moves on unless `body` throws; the piece's place is kept.
    ///
    /// - Returns: false where there is nothing.
    func take<Failure>(_ body: (Piece) throws(Failure) -> Void) throws(Failure) -> Bool {
        let end = written.load(ordering: .acquiring)
        let marker = taken < end ? markers.first : nil
        if let marker, marker.index <= taken {
            try body(.lost(marker.lost, marker.cause))
            markers.removeFirst()
            return true
        }
        guard taken < end else { return false }
        let place = taken % capacity
        let count = min(min(end, marker?.index ?? end) - taken, capacity - place)
        try body(.samples(UnsafeBufferPointer(start: storage + place * channels, count: count * channels)))
        taken += count
        return true
    }

    /// Consumer, once the producer has ended and all was taken: what was lost after the last sample. What ends in a pause
    /// ends where that began.
    func takeRest<Failure>(_ body: (Piece) throws(Failure) -> Void) throws(Failure) {
        while let marker = markers.first {
            try body(.lost(marker.lost, marker.cause))
            markers.removeFirst()
        }
        guard let lost = pending, lost.cause != .paused, !restIsTaken else { return }
        try body(.lost(lost.count, lost.cause))
        restIsTaken = true
    }

    /// Consumer: whether so much was taken and not released that the producer may soon find no room.
    var needsRelease: Bool {
        taken - released.load(ordering: .relaxed) >= max(1, capacity / 2) || markers.needsRelease
    }

    /// Consumer: frees the places of all that was taken.
    func release() {
        markers.release()
        released.store(taken, ordering: .releasing)
    }

    /// Consumer: what was taken and not released comes again.
    func rewind() {
        markers.rewind()
        taken = released.load(ordering: .relaxed)
        restIsTaken = false
    }
}
