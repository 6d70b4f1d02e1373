import Core
import Synchronization
import System

/// The recordings that are still to be looked at, the newest first: what a start does not wait for, and what a recording
/// leaves to be joined. Whoever does it may be broken off at any moment, and goes on where it was.
package final class Repairs: Sendable {
    private let recovery: Recovery
    /// In order; the next is the last.
    private let waiting: Mutex<[Int]>

    /// - Parameter ids: the numbers of all rows and folders.
    init(_ recovery: Recovery, of ids: Set<Int>) {
        self.recovery = recovery
        waiting = Mutex(ids.sorted())
    }

    /// Whether nothing is left to be looked at.
    var isDone: Bool { waiting.withLock { $0.isEmpty } }

    /// Adds a recording that has ended.
    package func add(_ id: Int) { waiting.withLock { $0.append(id) } }

    /// Looks at them, and mends what is not as it should be.
    ///
    /// - Parameters:
    ///   - limit: for so long; what is not done by then is left. Nil: until all is done.
    ///   - tell: hears what was found of each recording at once.
    /// - Returns: what was found, in the order of the recordings.
    /// - Throws: `CancellationError`; `DeviceError` of the database, or of a full disk.
    @discardableResult
    func run(
        within limit: Duration? = nil, tell: (StorageFinding) -> Void = { _ in }
    ) async throws -> [StorageFinding] {
        let end = limit.map { MonotonicClock.nanoseconds + Int64($0 / .nanoseconds(1)) }
        var findings: [(id: Int, found: [StorageFinding])] = []
        var broken: [Int] = []
        // Those that were broken off come again, after all others.
        defer { waiting.withLock { $0 = broken.reversed() + $0 } }
        while end.map({ MonotonicClock.nanoseconds < $0 }) ?? true {
            try Task.checkCancellation()
            guard let id = waiting.withLock({ $0.popLast() }) else { break }
            do {
                let (found, isDone) = try await recovery.look(at: id, until: end)
                found.forEach(tell)
                findings.append((id, found))
                if !isDone { broken.append(id) }
            } catch {
                broken.append(id)
                throw error
            }
        }
        return findings.sorted { $0.id < $1.id }.flatMap(\.found)
    }
}
