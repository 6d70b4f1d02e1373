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
    // acquiring `tail`, before `head` is released past it.
    private let places: UnsafeMutablePointer<Marker>
    private let capacity: Int
    private let head = Atomic<Int>(0)
    private let tail = Atomic<Int>(0)

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

    /// Consumer: the oldest marker.
    var first: Marker? {
        let index = head.load(ordering: .relaxed)
        return index < tail.load(ordering: .acquiring) ? places[index % capacity] : nil
    }

    /// Consumer: gives the place of the oldest marker back.
    func removeFirst() { head.wrappingAdd(1, ordering: .releasing) }
}
