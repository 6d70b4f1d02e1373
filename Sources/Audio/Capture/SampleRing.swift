import Core
import Synchronization

/// Buffers audio while the disk stalls: a preallocated, lock-free ring of samples and losses for one capture thread and
/// one writer thread.
///
/// A block that does not fit is dropped as a whole and reported as a loss before the next block, so that the positions
/// of all later samples are correct. Neither side allocates or waits.
///
/// Consumed samples keep their slots until `release`, so that they can be read again if the disk fails.
final class SampleRing: @unchecked Sendable {
    enum Element {
        /// Samples, interleaved if there are two channels. Valid during the call.
        case samples(UnsafeBufferPointer<Int16>)
        case lost(Int, Gap.Cause)
    }

    /// The capacity in samples. All counts are per channel.
    let capacity: Int

    // Safety: the producer writes a sample before it releases `written` past it. The consumer acquires `written`, reads
    // the sample, and then releases `released` past it. Only the consumer uses `consumed` and `isRestConsumed`.
    private let maximumChannels: Int
    private let storage: UnsafeMutablePointer<Int16>
    private let written = Atomic<Int>(0)
    private let released = Atomic<Int>(0)
    private var consumed = 0
    private var isRestConsumed = false
    private let markers = MarkerQueue(capacity: 256)

    // Safety: only the producer uses this until it has finished; after that, only the consumer does.
    /// Losses since the last block.
    private var pending: (count: Int, cause: Gap.Cause)?

    /// The number of channels.
    // Safety: written before the first sample, and before the consumer can see that sample.
    private(set) var channels: Int

    /// - Parameters:
    ///   - capacity: The capacity in samples per channel, at least 1.
    ///   - channels: The maximum number of channels.
    init(capacity: Int, channels: Int = 1) {
        self.capacity = max(1, capacity)
        self.channels = max(1, channels)
        maximumChannels = self.channels
        storage = .allocate(capacity: self.capacity * maximumChannels)
        // Touches each page, so that the capture thread causes no page faults later.
        storage.initialize(repeating: 0, count: self.capacity * maximumChannels)
    }

    deinit { storage.deallocate() }

    /// Producer: sets the number of channels, up to the maximum. Call this before the first `put`.
    func use(channels: Int) { self.channels = min(max(1, channels), maximumChannels) }

    /// Producer: whether a block of `count` samples fits.
    func hasSpace(for count: Int) -> Bool {
        let used = written.load(ordering: .relaxed) - released.load(ordering: .acquiring)
        return count <= capacity - used && (pending == nil || markers.hasSpace)
    }

    /// Producer: adds a block of complete frames. If it does not fit, it counts as lost because of the disk.
    ///
    /// - Returns: Whether the block was added.
    @discardableResult
    func put(_ samples: UnsafeBufferPointer<Int16>) -> Bool {
        guard let source = samples.baseAddress, !samples.isEmpty else { return true }
        let count = samples.count / channels
        guard hasSpace(for: count) else {
            addLoss(count, cause: .disk)
            return false
        }
        let index = written.load(ordering: .relaxed)
        if let lost = pending {
            // The marker is added before the samples, so that a consumer that sees the samples also sees the marker.
            markers.put(MarkerQueue.Marker(index: index, lost: lost.count, cause: lost.cause))
            pending = nil
        }
        let offset = index % capacity
        let countBeforeWrap = min(count, capacity - offset)
        (storage + offset * channels).update(from: source, count: countBeforeWrap * channels)
        storage.update(from: source + countBeforeWrap * channels, count: (count - countBeforeWrap) * channels)
        written.store(index + count, ordering: .releasing)
        return true
    }

    /// Producer: records that samples are missing before the next block.
    ///
    /// If a loss has several causes, it is attributed to the disk if that is one of them, otherwise to the latest
    /// cause. Pauses are kept separate.
    func addLoss(_ count: Int, cause: Gap.Cause) {
        guard count > 0 else { return }
        if let lost = pending, (lost.cause == .paused) != (cause == .paused), markers.hasSpace {
            let index = written.load(ordering: .relaxed)
            markers.put(MarkerQueue.Marker(index: index, lost: lost.count, cause: lost.cause))
            pending = nil
        }
        pending = ((pending?.count ?? 0) + count, pending?.cause == .disk ? .disk : cause)
    }

    /// Consumer: passes the next element to `body`, and advances unless `body` throws. Slots are kept until `release`.
    ///
    /// - Returns: False if the ring is empty.
    func consume<Failure>(_ body: (Element) throws(Failure) -> Void) throws(Failure) -> Bool {
        let end = written.load(ordering: .acquiring)
        let marker = consumed < end ? markers.first : nil
        if let marker, marker.index <= consumed {
            try body(.lost(marker.lost, marker.cause))
            markers.removeFirst()
            return true
        }
        guard consumed < end else { return false }
        let offset = consumed % capacity
        let count = min(min(end, marker?.index ?? end) - consumed, capacity - offset)
        try body(.samples(UnsafeBufferPointer(start: storage + offset * channels, count: count * channels)))
        consumed += count
        return true
    }

    /// Consumer: passes the losses after the last sample to `body`, once the producer has finished. Leaves out a final
    /// pause, because the recording ends where the pause began.
    func consumeRest<Failure>(_ body: (Element) throws(Failure) -> Void) throws(Failure) {
        while let marker = markers.first {
            try body(.lost(marker.lost, marker.cause))
            markers.removeFirst()
        }
        guard let lost = pending, lost.cause != .paused, !isRestConsumed else { return }
        try body(.lost(lost.count, lost.cause))
        isRestConsumed = true
    }

    /// Consumer: whether so much has been consumed but not released that the producer may soon run out of space.
    var needsRelease: Bool {
        consumed - released.load(ordering: .relaxed) >= max(1, capacity / 2) || markers.needsRelease
    }

    /// Consumer: releases the slots of everything consumed.
    func release() {
        markers.release()
        released.store(consumed, ordering: .releasing)
    }

    /// Consumer: goes back to the first sample that was not released.
    func rewind() {
        markers.rewind()
        consumed = released.load(ordering: .relaxed)
        isRestConsumed = false
    }
}
