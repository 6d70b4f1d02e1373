import Core
import Synchronization
import System

/// The recordings that remain to be checked, newest first: after a start, and after a recording that left parts to join.
/// Work may stop at any moment and continue later.
package final class Repairs: Sendable {
    private let recovery: Recovery
    /// In ascending order; the next is the last.
    private let waiting: Mutex<[Int]>

    /// - Parameter ids: the numbers of all rows and folders.
    init(_ recovery: Recovery, of ids: Set<Int>) {
        self.recovery = recovery
        waiting = Mutex(ids.sorted())
    }

    var isDone: Bool { waiting.withLock { $0.isEmpty } }

    /// Adds a recording that has ended.
    package func add(_ id: Int) { waiting.withLock { $0.append(id) } }

    /// Checks and repairs them.
    ///
    /// - Parameters:
    ///   - limit: the time budget; the rest remains. Nil for no limit.
    ///   - tell: gets the findings of each recording immediately.
    /// - Returns: the findings, in the order of the recordings.
    /// - Throws: `CancellationError`; `DeviceError` of the database or a full disk.
    @discardableResult
    func run(
        within limit: Duration? = nil, tell: (StorageFinding) -> Void = { _ in }
    ) async throws -> [StorageFinding] {
        let end = limit.map { MonotonicClock.nanoseconds + Int64($0 / .nanoseconds(1)) }
        var findings: [(id: Int, found: [StorageFinding])] = []
        var broken: [Int] = []
        // Interrupted repairs come again after all others.
        defer { waiting.withLock { $0 = broken.reversed() + $0 } }
        while end.map({ MonotonicClock.nanoseconds < $0 }) ?? true {
            try Task.checkCancellation()
            guard let id = waiting.withLock({ $0.popLast() }) else { break }
            do {
                let (found, isDone) = try await recovery.check(id, until: end)
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

extension Log {
    /// Logs a storage finding.
    package static func report(_ finding: StorageFinding) {
        report(
            finding.outcome == .damaged ? .error : .notice, "recovery",
            ["outcome": finding.outcome.rawValue, "file": finding.file, "message": finding.message])
    }
}
