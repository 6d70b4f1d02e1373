import Archive
import Core
import Settings
import System

/// Decides which recordings to erase according to `storage.after-export`.
struct Retention: Hashable, Sendable {
    struct Candidate: Hashable, Sendable {
        var recording: RecordingSummary
        var shownPass: PassSummary?
        var exports: [ExportEntry]
    }

    var rule: Configuration.AfterExport

    init(_ rule: Configuration.AfterExport) { self.rule = rule }

    /// Returns the recordings to erase: those that are completely transcribed and have a verified copy of the shown
    /// text. If the rule has a number of days, they must also have ended more than that many days ago, according to a
    /// clock that was set, and the copy must be dated between the end and now. Copies of added files must be that many
    /// days old, too.
    ///
    /// - Parameter now: the current time from a clock that was set, in seconds since 1970-01-01T00:00:00Z.
    func expired(_ candidates: [Candidate], now: Double) -> [Int] {
        candidates.filter { candidate in
            let recording = candidate.recording
            guard recording.transcribedUpTo >= recording.length, let exports = Self.completeCopies(of: candidate)
            else { return false }
            switch rule {
            case .keep: return false
            // This needs no clock: every copy in the ledger was made after its recording ended.
            case .erase: return !exports.isEmpty
            case .eraseAfterDays(let days):
                let ended = recording.startedAt + recording.length.seconds
                let minimumAge = Double(days) * 86_400
                guard recording.clock == .synchronized, ended + minimumAge < now else { return false }
                // An old file must not be erased on the day when it is added.
                let minimumCopyAge = AddedFile.isSource(recording.microphone) ? minimumAge : 0
                return exports.contains { $0.exportedAt >= ended && $0.exportedAt + minimumCopyAge <= now }
            }
        }.map(\.recording.id)
    }

    /// Returns the copies with the complete shown text; nil if the text itself is incomplete.
    private static func completeCopies(of candidate: Candidate) -> [ExportEntry]? {
        if let seal = candidate.recording.seal.flatMap({ SealedManifest($0) }) {
            return candidate.exports.filter { SealedManifest($0.manifest)?.content == seal.content }
        }
        guard let pass = candidate.shownPass, pass.isComplete else { return nil }
        return candidate.exports.filter { $0.pass == pass.id }
    }

    /// Erases the expired recordings. If the rule has a number of days, does so only if the clock is set. Also
    /// completes earlier erasures.
    ///
    /// - Returns: the erased recordings, and the failures.
    func apply(
        to archive: SQLiteArchive, storage: String, isSynchronized: Bool = MonotonicClock.wallIsSynchronized,
        now: Double = MonotonicClock.wallSeconds
    ) async throws -> Erasure.Outcome {
        let erasure = Erasure(storage: storage, archive: archive)
        let earlier = Erasure.Outcome(failures: try await erasure.finishInterrupted().failures)
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
        outcome.failures.merge(earlier.failures) { new, _ in new }
        return outcome
    }
}
