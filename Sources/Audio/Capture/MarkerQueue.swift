import Core
import Synchronization

/// A preallocated lock-free queue of the places where audio was lost, with one producer (the capture thread) and one
/// consumer (the writer thread).
final class MarkerQueue: @unchecked Sendable {
    struct Marker {
        /// Ring samples before the loss.
        var index: Int

        /// The number of lost samples.
        var lost: Int
        var cause: Gap.Cause
    }

    // Safety: the producer writes a slot before it releases `tail` past it. The consumer acquires `tail`, reads the slot, and
    // then releases `head` past it. Only the consumer uses `cursor`.
    private let places: UnsafeMutablePointer<Marker>
    private let capacity: Int
    private let head = Atomic<Int>(0)
    private let tail = Atomic<Int>(0)
    private var cursor = 0

    init(capacity: Int) {
        self.capacity = capacity
        places = .allocate(capacity: capacity)
    }

    deinit { places.deallocate() }

    /// Producer: whether `put` may be called.
    var hasRoom: Bool { tail.load(ordering: .relaxed) - head.load(ordering: .acquiring) < capacity }

    /// Producer: adds a marker. Requires `hasRoom`.
    func put(_ marker: Marker) {
        let index = tail.load(ordering: .relaxed)
        (places + index % capacity).initialize(to: marker)
        tail.store(index + 1, ordering: .releasing)
    }

    /// Consumer: the oldest unread marker.
    var first: Marker? { cursor < tail.load(ordering: .acquiring) ? places[cursor % capacity] : nil }

    /// Consumer: consumes the first marker, and keeps its slot until `release`.
    func removeFirst() { cursor += 1 }

    /// Consumer: whether half of the slots are consumed but not released.
    var needsRelease: Bool { cursor - head.load(ordering: .relaxed) >= max(1, capacity / 2) }

    /// Consumer: frees the slots of all consumed markers.
    func release() { head.store(cursor, ordering: .releasing) }

    /// Consumer: returns to the oldest marker that was not released.
    func rewind() { cursor = head.load(ordering: .relaxed) }
}
