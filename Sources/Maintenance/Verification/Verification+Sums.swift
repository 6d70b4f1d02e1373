import Audio
import Core

/// Reads all of a recording's sound; returns nil if it is missing or unreadable, which other checks report.
///
/// - Parameters:
///   - path: the path of its `audio.wav`.
///   - digests: whether to compute the SHA-256, too.
/// - Throws: `CancellationError` if the task was cancelled.
func readSums(of path: String, isGrowing: Bool = false, digests: Bool = false) async throws -> RecordingSums? {
    try await onStoppableThread(named: "verify") { shouldContinue in
        do throws(DeviceError) {
            guard
                let sums = try RecordingSums(path: path, isGrowing: isGrowing, digests: digests, while: shouldContinue)
            else { throw DeviceError(.failed, "verify", "ended") }
            return sums
        } catch {
            if !shouldContinue() { throw CancellationError() }
            return nil
        }
    }
}

extension Verification {
    /// Where the sound differs from what was recorded, one finding per place.
    func findings(of sums: RecordingSums, _ id: Int) -> [StorageFinding] {
        sums.damaged.map { range in
            StorageFinding(
                .damaged, recording: id, file: RecordingFolder(storage: storage, recording: id).audio,
                "differs from what was recorded, from \(range.start.seconds) s to \(range.end.seconds) s; "
                    + "restore a copy, and check the disk")
        }
    }
}
