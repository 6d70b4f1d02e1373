import Archive
import Audio
import Copying
import Core
import System

/// Signs the sound of recordings that have ended or were redacted. Adds the SHA-256 of their samples, and its signature
/// by the recorder's key, to the history.
struct SigningJob: Sendable {
    /// The storage directory, which contains the key. The key is created if it does not exist.
    let storage: String
    let archive: SQLiteArchive

    /// Signs all recordings that are waiting.
    ///
    /// - Returns: an error for each recording that is not signed because its sound was altered.
    /// - Throws: `CancellationError`; `DeviceError` if nothing can be signed, for example because minisign is missing.
    @discardableResult
    func run() async throws -> [DeviceError] {
        // Created before it is needed, so that users can write down the public key.
        let key = try await onThread(named: "signing", niceness: 5) { try RecorderKey(in: storage) }
        var failures: [DeviceError] = []
        for (id, entry) in try await archive.recordingsToSign() {
            try Task.checkCancellation()
            guard let row = try await archive.recording(id), !Redaction.isInProgress(id, in: storage) else { continue }
            let audio = RecordingFolder(storage: storage, recording: id).audio
            guard let sums = try await readSums(of: audio, digests: true), let found = sums.sound else {
                // Unreadable sound is not signed; verify reports it.
                continue
            }
            guard sums.damaged.isEmpty, found.length == row.length else {
                failures.append(
                    DeviceError(
                        .damaged, "sign", on: audio, "differs from the recorded sound, so it is not signed",
                        remedy: "see fieldscribe verify \(id)"))
                continue
            }
            let statement = HistoryEntry.statement(of: id, sound: found.digest, length: row.length)
            let signed = try await onThread(named: "signing", niceness: 5) {
                key.sign(Array(statement.utf8), comment: HistoryEntry.signedComment)
            }
            guard let signed else {
                if let error = key.error { throw error }
                continue
            }
            // The samples may have been read before the redaction.
            if Redaction.isInProgress(id, in: storage) { continue }
            let lines = signed.split(separator: "\n")
            try await archive.addSignature(
                "\(lines[1]) \(lines[3])", sound: found.digest, length: row.length, of: id, asOf: entry)
        }
        return failures
    }
}
