import Core
import Synchronization

/// A preallocated lock-free queue of markers for lost audio, with one producer (the capture thread) and one consumer
/// (the writer thread).
final class MarkerQueue: @unchecked Sendable {
    struct Marker {
        /// The number of samples in the ring before the loss.
        var index: Int

        var lost: Int
        var cause: Gap.Cause
    }

    // Safety: the producer writes a slot before it releases `tail` past it. The consumer acquires `tail`, reads the
    // slot, and then releases `head` past it. Only the consumer uses `cursor`.
    private let slots: UnsafeMutablePointer<Marker>
    private let capacity: Int
    private let head = Atomic<Int>(0)
    private let tail = Atomic<Int>(0)
    private var cursor = 0

    init(capacity: Int) {
        self.capacity = capacity
        slots = .allocate(capacity: capacity)
    }

    deinit { slots.deallocate() }

    /// Producer: whether `put` may be called.
    var hasSpace: Bool { tail.load(ordering: .relaxed) - head.load(ordering: .acquiring) < capacity }

    /// Producer: adds a marker. `hasSpace` must be true.
    func put(_ marker: Marker) {
        let index = tail.load(ordering: .relaxed)
        (slots + index % capacity).initialize(to: marker)
        tail.store(index + 1, ordering: .releasing)
    }

    /// Consumer: the oldest unread marker.
    var first: Marker? { cursor < tail.load(ordering: .acquiring) ? slots[cursor % capacity] : nil }

    /// Consumer: consumes the first marker but keeps its slot until `release`.
    func removeFirst() { cursor += 1 }

    /// Consumer: whether at least half of the slots are consumed but not released.
    var needsRelease: Bool { cursor - head.load(ordering: .relaxed) >= max(1, capacity / 2) }

    /// Consumer: releases the slots of all consumed markers.
    func release() { head.store(cursor, ordering: .releasing) }

    /// Consumer: goes back to the oldest marker that was not released.
    func rewind() { cursor = head.load(ordering: .relaxed) }
}
