import Core
import Glibc
import Platform
import Recording
import SQLiteArchive
import Sealing

/// Signs recordings that were closed, or struck since: the SHA-256 of their samples, by the recorder's key, into the history.
package struct SigningRecordings: Sendable {
    private let storage: String
    private let archive: SQLiteArchive

    /// - Parameter storage: the storage directory, where the key is, or is made.
    package init(storage: String, archive: SQLiteArchive) {
        self.storage = storage
        self.archive = archive
    }

    /// Signs all that are waiting. What cannot be read is told of by others, and not signed.
    ///
    /// - Throws: `CancellationError`; `DeviceError` where none can be signed, as without minisign.
    package func run() async throws {
        let storage = storage
        // Made before anything is to be signed, so that it can be noted down beforehand.
        let key = try await onThread(named: "signing", niceness: 5) { try RecorderKey(in: storage) }
        for (id, entry) in try await archive.unsigned() {
            try Task.checkCancellation()
            guard let row = try await archive.recording(id), !Striking.isUnderWay(id, in: storage) else { continue }
            let audio = RecordingFolder(storage: storage, recording: id).audio
            let sound: String
            do {
                sound = try await onStoppableThread(named: "signing") { goesOn in
                    try soundDigest(of: audio, length: row.length, goesOn: goesOn)
                }
            } catch let error as DeviceError {
                if error.status == ECANCELED { throw CancellationError() }
                continue
            }
            let statement = HistoryEntry.statement(of: id, sound: sound, length: row.length)
            let signed = try await onThread(named: "signing", niceness: 5) {
                key.sign(Array(statement.utf8), comment: HistoryEntry.signedComment)
            }
            guard let signed else {
                if let error = key.error { throw error }
                continue
            }
            // What was struck meanwhile may have been read before.
            if Striking.isUnderWay(id, in: storage) { continue }
            let lines = signed.split(separator: "\n")
            try await archive.enter(
                signature: "\(lines[1]) \(lines[3])", sound: sound, length: row.length, of: id, asOf: entry)
        }
    }
}
