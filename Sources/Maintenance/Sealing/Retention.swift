import Archive
import Core
import Settings
import System

/// Decides which recordings to erase, by `storage.after-export`.
struct Retention: Hashable, Sendable {
    /// The facts about one recording.
    struct Candidate: Hashable, Sendable {
        var recording: RecordingSummary
        /// The default pass; nil without one.
        var shownPass: PassSummary?
        var exports: [ExportEntry]
    }

    var rule: Configuration.AfterExport

    init(_ rule: Configuration.AfterExport) { self.rule = rule }

    /// The recordings to erase: completely transcribed, with a verified copy of the shown text, and, if days count,
    /// ended at least this many days ago by a clock that was set; for added files, the copy must be that old.
    ///
    /// - Parameter now: seconds since 1970-01-01T00:00:00Z, by a clock that was set.
    func expired(_ candidates: [Candidate], now: Double) -> [Int] {
        candidates.filter { candidate in
            let recording = candidate.recording
            guard recording.transcribedUpTo >= recording.length, let exports = Self.wholeCopies(of: candidate)
            else { return false }
            switch rule {
            case .keep: return false
            // Needs no clock: a copy in the ledger was made after the recording's end.
            case .erase: return !exports.isEmpty
            case .eraseAfterDays(let days):
                let ended = recording.startedAt + recording.length.seconds
                let kept = Double(days) * 86_400
                guard recording.clock == .synchronized, ended + kept < now else { return false }
                // An old file is not erased on the day on which it is added.
                let since = AddedFile.isSource(recording.microphone) ? kept : 0
                return exports.contains { $0.exportedAt >= ended && $0.exportedAt + since <= now }
            }
        }.map(\.recording.id)
    }

    /// The complete copies; none if the recording itself is incomplete.
    private static func wholeCopies(of candidate: Candidate) -> [ExportEntry]? {
        if let seal = candidate.recording.seal.flatMap({ SealedManifest($0) }) {
            return candidate.exports.filter { SealedManifest($0.manifest)?.content == seal.content }
        }
        guard let pass = candidate.shownPass, pass.isComplete else { return nil }
        return candidate.exports.filter { $0.pass == pass.id }
    }

    /// Erases them; if days count, only while the clock is set. Also completes earlier erasures.
    ///
    /// - Returns: the erased recordings, and what cannot be removed, which is reported and does not stop other work.
    func apply(
        to archive: SQLiteArchive, storage: String, isSynchronized: Bool = MonotonicClock.wallIsSynchronized,
        now: Double = MonotonicClock.wallSeconds
    ) async throws -> Erasure.Outcome {
        let erasure = Erasure(storage: storage, archive: archive)
        let earlier = Erasure.Outcome(refused: try await erasure.finishInterrupted().refused)
        guard rule == .erase || rule != .keep && isSynchronized else { return earlier }
        var candidates: [Candidate] = []
        for summary in try await archive.recordings() {
            candidates.append(
                Candidate(
                    recording: summary, shownPass: try await archive.shownPass(of: summary.id),
                    exports: try await archive.exports(of: summary.id)))
        }
        let expired = expired(candidates, now: now)
        if expired.isEmpty { return earlier }
        var outcome = try await erasure.eraseFiles(expired)
        outcome.refused.merge(earlier.refused) { now, _ in now }
        return outcome
    }
}
