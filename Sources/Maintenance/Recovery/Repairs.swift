import Core
import Synchronization
import System

/// The recordings to check, newest first: all at a start, and later those that have ended with parts to join. The work
/// may stop at any moment and continue later.
package final class Repairs: Sendable {
    private let recovery: Recovery
    /// The IDs. The last one is checked next.
    private let waiting: Mutex<[Int]>

    init(_ recovery: Recovery, of ids: Set<Int>) {
        self.recovery = recovery
        waiting = Mutex(ids.sorted())
    }

    var isDone: Bool { waiting.withLock { $0.isEmpty } }

    /// Adds a recording that has ended.
    package func add(_ id: Int) { waiting.withLock { $0.append(id) } }

    /// Checks and repairs the recordings.
    ///
    /// - Parameters:
    ///   - limit: the time budget; nil for no limit. The remaining recordings keep waiting.
    ///   - report: called immediately with each finding.
    /// - Returns: the findings, ordered by recording.
    /// - Throws: `CancellationError`; `DeviceError` from the database, or if the disk is full.
    @discardableResult
    func run(
        within limit: Duration? = nil, report: (StorageFinding) -> Void = { _ in }
    ) async throws -> [StorageFinding] {
        let end = limit.map { MonotonicClock.nanoseconds + Int64($0 / .nanoseconds(1)) }
        var findings: [(id: Int, found: [StorageFinding])] = []
        var interrupted: [Int] = []
        // Interrupted repairs are tried again after all others.
        defer { waiting.withLock { $0 = interrupted.reversed() + $0 } }
        while end.map({ MonotonicClock.nanoseconds < $0 }) ?? true {
            try Task.checkCancellation()
            guard let id = waiting.withLock({ $0.popLast() }) else { break }
            do {
                let (found, isDone) = try await recovery.check(id, until: end)
                found.forEach(report)
                findings.append((id, found))
                if !isDone { interrupted.append(id) }
            } catch {
                interrupted.append(id)
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
