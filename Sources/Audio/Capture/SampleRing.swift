import Core
import Synchronization

/// Buffers audio while the disk stalls: a preallocated, lock-free ring of samples and losses for one capture thread and
/// one writer thread.
///
/// A block that does not fit is dropped as a whole and reported as one loss before the next block, so the positions of all
/// later samples stay correct. Neither side allocates or waits.
///
/// Consumed samples keep their slots until `release`, so that they can be read again if the disk fails.
final class SampleRing: @unchecked Sendable {
    enum Piece {
        /// Samples, interleaved for two channels; valid during the call.
        case samples(UnsafeBufferPointer<Int16>)
        case lost(Int, Gap.Cause)
    }

    /// The capacity in samples per channel; all counts are per channel.
    let capacity: Int

    // Safety: the producer writes a sample before it releases `written` past it. The consumer acquires `written`, reads the
    // sample, and then releases `released` past it. Only the consumer uses `consumed` and `restIsConsumed`.
    private let maxChannels: Int
    private let storage: UnsafeMutablePointer<Int16>
    private let written = Atomic<Int>(0)
    private let released = Atomic<Int>(0)
    private var consumed = 0
    private var restIsConsumed = false
    private let markers = MarkerQueue(capacity: 256)

    // Safety: only the producer uses it; the consumer only after it knows that the producer has ended.
    private var pending: (count: Int, cause: Gap.Cause)?

    /// The channel count of the current content.
    // Safety: written before the first sample, and before the consumer knows that there is one.
    private(set) var channels: Int

    /// - Parameters:
    ///   - capacity: in samples per channel, 1 or more.
    ///   - channels: the maximum channel count.
    init(capacity: Int, channels: Int = 1) {
        self.capacity = max(1, capacity)
        self.channels = max(1, channels)
        maxChannels = self.channels
        storage = .allocate(capacity: self.capacity * maxChannels)
        // Touches each page now, so that the capture thread has no page faults later.
        storage.initialize(repeating: 0, count: self.capacity * maxChannels)
    }

    deinit { storage.deallocate() }

    /// Producer, before the first `put`: sets the channel count, up to the maximum.
    func use(channels: Int) { self.channels = min(max(1, channels), maxChannels) }

    /// Producer: whether a block of `count` samples fits.
    func hasRoom(for count: Int) -> Bool {
        let used = written.load(ordering: .relaxed) - released.load(ordering: .acquiring)
        return count <= capacity - used && (pending == nil || markers.hasRoom)
    }

    /// Producer: adds a block of whole frames, or counts it as lost to the disk if it does not fit.
    ///
    /// - Returns: whether it was added.
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
            // Before the samples: a consumer that sees them also sees the marker.
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

    /// Producer: notes that samples are missing before the next block.
    ///
    /// A loss with mixed causes counts as the disk's if the disk was one of them, else as the latest. A pause stays separate.
    func lose(_ count: Int, cause: Gap.Cause) {
        guard count > 0 else { return }
        if let lost = pending, (lost.cause == .paused) != (cause == .paused), markers.hasRoom {
            let index = written.load(ordering: .relaxed)
            markers.put(MarkerQueue.Marker(index: index, lost: lost.count, cause: lost.cause))
            pending = nil
        }
        pending = ((pending?.count ?? 0) + count, pending?.cause == .disk ? .disk : cause)
    }

    /// Consumer: passes the next piece to `body`, and advances unless `body` throws. The slots are kept until `release`.
    ///
    /// - Returns: false if the ring is empty.
    func consume<Failure>(_ body: (Piece) throws(Failure) -> Void) throws(Failure) -> Bool {
        let end = written.load(ordering: .acquiring)
        let marker = consumed < end ? markers.first : nil
        if let marker, marker.index <= consumed {
            try body(.lost(marker.lost, marker.cause))
            markers.removeFirst()
            return true
        }
        guard consumed < end else { return false }
        let place = consumed % capacity
        let count = min(min(end, marker?.index ?? end) - consumed, capacity - place)
        try body(.samples(UnsafeBufferPointer(start: storage + place * channels, count: count * channels)))
        consumed += count
        return true
    }

    /// Consumer, after the producer has ended: passes the losses after the last sample. A final pause is left out: the
    /// recording ends where the pause began.
    func consumeRest<Failure>(_ body: (Piece) throws(Failure) -> Void) throws(Failure) {
        while let marker = markers.first {
            try body(.lost(marker.lost, marker.cause))
            markers.removeFirst()
        }
        guard let lost = pending, lost.cause != .paused, !restIsConsumed else { return }
        try body(.lost(lost.count, lost.cause))
        restIsConsumed = true
    }

    /// Consumer: whether so much is consumed but unreleased that the producer may soon run out of space.
    var needsRelease: Bool {
        consumed - released.load(ordering: .relaxed) >= max(1, capacity / 2) || markers.needsRelease
    }

    /// Consumer: frees the slots of everything consumed.
    func release() {
        markers.release()
        released.store(consumed, ordering: .releasing)
    }

    /// Consumer: goes back to the first sample that was not released.
    func rewind() {
        markers.rewind()
        consumed = released.load(ordering: .relaxed)
        restIsConsumed = false
    }
}
