import Core
import Settings
import System

/// Which recordings may go: `storage.after-export`.
struct Retention: Hashable, Sendable {
    /// What is known of one recording.
    struct Candidate: Hashable, Sendable {
        /// What the archive knows of it.
        var recording: RecordingSummary
        /// The reading that is shown; nil where it has none.
        var shownPass: PassSummary?
        /// Where it was copied to.
        var exports: [ExportEntry]

        init(recording: RecordingSummary, shownPass: PassSummary?, exports: [ExportEntry]) {
            self.recording = recording
            self.shownPass = shownPass
            self.exports = exports
        }
    }

    /// What becomes of recordings that were copied.
    var rule: Configuration.AfterExport

    init(_ rule: Configuration.AfterExport) { self.rule = rule }

    /// Those that are completely transcribed, whose audio with this very text was copied and verified, and that, where days count,
    /// ended more than so many days ago by a clock that was set.
    ///
    /// - Parameter now: seconds since 1970-01-01T00:00:00Z, by a clock that was set.
    func expired(_ candidates: [Candidate], now: Double) -> [Int] {
        candidates.filter { candidate in
            let recording = candidate.recording
            guard recording.transcribedUpTo >= recording.length, let exports = Self.wholeCopies(of: candidate)
            else { return false }
            switch rule {
            case .keep: return false
            // Needs no clock: what the ledger has was copied after the recording had ended.
            case .erase: return !exports.isEmpty
            case .eraseAfterDays(let days):
                let ended = recording.startedAt + recording.length.seconds
                guard recording.clock == .synchronized, ended + Double(days) * 86_400 < now else { return false }
                return exports.contains { $0.exportedAt >= ended && $0.exportedAt <= now }
            }
        }.map(\.recording.id)
    }

    /// Those that have all there is; nil where the recording itself is not whole yet.
    private static func wholeCopies(of candidate: Candidate) -> [ExportEntry]? {
        if let seal = candidate.recording.seal.flatMap({ SealedManifest($0) }) {
            return candidate.exports.filter { SealedManifest($0.manifest)?.content == seal.content }
        }
        guard let pass = candidate.shownPass, pass.isComplete else { return nil }
        return candidate.exports.filter { $0.pass == pass.id }
    }

    /// Erases those; where days count, none as long as the clock is not set. What an erasing before left is tried again, whatever is kept.
    ///
    /// - Parameter recording: the one that is being recorded now, where one is.
    /// - Returns: what `after-export` let go and is gone; and what cannot be removed, of now or of before. It keeps nothing else
    ///   from being done.
    func apply(
        to archive: any ArchiveMaintenance, storage: String, recording: Int? = nil,
        isSynchronized: Bool = MonotonicClock.wallIsSynchronized, now: Double = MonotonicClock.wallSeconds
    ) async throws -> Erasure.Outcome {
        let erasure = Erasure(storage: storage, archive: archive)
        let earlier = Erasure.Outcome(refused: try await erasure.finishInterrupted().refused)
        guard rule == .erase || rule != .keep && isSynchronized else { return earlier }
        var candidates: [Candidate] = []
        for summary in try await archive.recordings() where summary.id != recording {
            candidates.append(
                Candidate(
                    recording: summary, shownPass: try await archive.shownPass(of: summary.id),
                    exports: try await archive.exports(of: summary.id)))
        }
        let expired = expired(candidates, now: now)
        if expired.isEmpty { return earlier }
        var outcome = try await erasure.tryToErase(expired, recording: recording)
        outcome.refused.merge(earlier.refused) { now, _ in now }
        return outcome
    }
}
