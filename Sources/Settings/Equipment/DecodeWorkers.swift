import Recognition
import Synchronization

/// The appliance's decode workers: those that read what is being recorded, and those of the second pass.
package final class DecodeWorkers: Sendable {
    private let configuration: Configuration
    private let pool = Mutex<WorkerPool?>(nil)
    private let secondPool = Mutex<WorkerPool?>(nil)

    package init(_ configuration: Configuration) { self.configuration = configuration }

    /// The decode workers, which start when they are needed.
    ///
    /// - Throws: `DeviceError` with `missing` or `denied` where the model is not whole.
    package func readers() throws -> WorkerPool {
        try pool.withLock { pool in
            if let pool { return pool }
            let new = try configuration.workers(profile: configuration.liveProfile, niceness: 5)
            pool = new
            return new
        }
    }

    /// The decode workers of the second pass, which step back behind everything else.
    ///
    /// - Throws: `DeviceError` with `missing` or `denied` where the model is not whole.
    package func rereaders() throws -> WorkerPool {
        try secondPool.withLock { pool in
            if let pool { return pool }
            let new = try configuration.workers(profile: SecondPass.profile, niceness: SecondPass.niceness)
            pool = new
            return new
        }
    }

    /// Ends the decode workers that nobody needs. Where the board was found to be faster or slower than was known, the next
    /// ones read with another profile.
    package func releaseIdle() async {
        guard let old = pool.withLock({ $0 }) else { return }
        await old.releaseIdle()
        guard await old.isEmpty, await old.profile != configuration.liveProfile else { return }
        pool.withLock { if $0 === old { $0 = nil } }
    }

    /// Ends the decode workers of the second pass, also in mid-utterance; it goes on behind what it has committed.
    package func endRereaders() async {
        let old = secondPool.withLock { pool in
            defer { pool = nil }
            return pool
        }
        await old?.end()
    }

    /// Ends all of them; what they had not read yet is left for later.
    package func end() async {
        for pool in [pool.withLock { $0 }, secondPool.withLock { $0 }] { await pool?.end() }
    }
}
