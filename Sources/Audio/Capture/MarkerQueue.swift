import Core
import Synchronization

/// The places where audio was lost, on their way from the capture thread to the writer: preallocated, lock-free, one
/// producer and one consumer.
final class MarkerQueue: @unchecked Sendable {
    /// Audio that was lost between two samples of the ring.
    struct Marker {
        /// How many samples went through the ring before it.
        var index: Int

        /// How many samples were lost.
        var lost: Int
        var cause: Gap.Cause
    }

    // Safety: a place is written by the producer before `tail` is released past it, and read by the consumer, after
    // acquiring `tail`, before `head` is released past it. Only the consumer uses `cursor`.
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

    /// Producer: whether `put` would take a marker.
    var hasRoom: Bool { tail.load(ordering: .relaxed) - head.load(ordering: .acquiring) < capacity }

    /// Producer: adds a marker; `hasRoom` was asked before.
    func put(_ marker: Marker) {
        let index = tail.load(ordering: .relaxed)
        (places + index % capacity).initialize(to: marker)
        tail.store(index + 1, ordering: .releasing)
    }

    /// Consumer: the oldest marker that was not taken.
    var first: Marker? { cursor < tail.load(ordering: .acquiring) ? places[cursor % capacity] : nil }

    /// Consumer: takes the first marker; its place is kept until `release`.
    func removeFirst() { cursor += 1 }

    /// Consumer: whether half of the places are taken and not released.
    var needsRelease: Bool { cursor - head.load(ordering: .relaxed) >= max(1, capacity / 2) }

    /// Consumer: gives the places of all markers that were taken back.
    func release() { head.store(cursor, ordering: .releasing) }

    /// Consumer: what was taken and not released comes again.
    func rewind() { cursor = head.load(ordering: .relaxed) }
}
