import Recognition
import Synchronization

/// The appliance's decode workers, for live transcription and for the second pass.
package final class DecodeWorkers: Sendable {
    private let configuration: Configuration
    private let pool = Mutex<WorkerPool?>(nil)
    private let secondPool = Mutex<WorkerPool?>(nil)

    package init(_ configuration: Configuration) { self.configuration = configuration }

    /// Returns the workers for live transcription, which are started when needed.
    ///
    /// - Throws: The errors of `Configuration.workers(profile:niceness:count:)`.
    package func liveWorkers() throws -> WorkerPool {
        try pool.withLock { pool in
            let workers = try pool ?? configuration.workers(profile: configuration.liveProfile, niceness: 5)
            pool = workers
            return workers
        }
    }

    /// Returns the low-priority workers for the second pass.
    ///
    /// - Throws: The errors of `Configuration.workers(profile:niceness:count:)`.
    package func secondPassWorkers() throws -> WorkerPool {
        try secondPool.withLock { pool in
            let workers = try pool ?? configuration.workers(profile: SecondPass.profile, niceness: SecondPass.niceness)
            pool = workers
            return workers
        }
    }

    /// Stops the idle live workers. If the board turned out to be faster or slower than expected, the next ones use
    /// another profile.
    package func releaseIdle() async {
        guard let old = pool.withLock({ $0 }) else { return }
        await old.releaseIdle()
        guard await old.isEmpty, await old.profile != configuration.liveProfile else { return }
        pool.withLock { if $0 === old { $0 = nil } }
    }

    /// Kills the second pass's workers, even during an utterance. The pass later continues after its last committed
    /// segment.
    package func stopSecondPass() async {
        let old = secondPool.withLock { pool in
            defer { pool = nil }
            return pool
        }
        await old?.end()
    }

    /// Kills all workers. Unfinished work is done later.
    package func end() async {
        for pool in [pool.withLock { $0 }, secondPool.withLock { $0 }] { await pool?.end() }
    }
}
