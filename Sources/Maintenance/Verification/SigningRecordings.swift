import Archive
import Audio
import Copying
import Core
import Glibc
import System

/// Signs recordings that were closed, or struck since: the SHA-256 of their samples, by the recorder's key, into the history.
struct SigningRecordings: Sendable {
    private let storage: String
    private let archive: SQLiteArchive

    /// - Parameter storage: the storage directory, where the key is, or is made.
    init(storage: String, archive: SQLiteArchive) {
        self.storage = storage
        self.archive = archive
    }

    /// Signs all that are waiting.
    ///
    /// - Returns: why recordings are not signed whose sound is not what was recorded.
    /// - Throws: `CancellationError`; `DeviceError` where none can be signed, as without minisign.
    @discardableResult
    func run() async throws -> [DeviceError] {
        let storage = storage
        // Made before anything is to be signed, so that it can be noted down beforehand.
        let key = try await onThread(named: "signing", niceness: 5) { try RecorderKey(in: storage) }
        var refused: [DeviceError] = []
        for (id, entry) in try await archive.unsigned() {
            try Task.checkCancellation()
            guard let row = try await archive.recording(id), !Redaction.isUnderWay(id, in: storage) else { continue }
            let audio = RecordingFolder(storage: storage, recording: id).audio
            guard case .read(let sums) = try await readSums(of: audio, digests: true), let read = sums.sound else {
                // What cannot be read is not signed; verify says so.
                continue
            }
            guard sums.damaged.isEmpty, read.length == row.length else {
                refused.append(
                    DeviceError(
                        .damaged, "sign", on: audio, "is not what was recorded, and is not signed",
                        remedy: "see fieldscribe verify \(id)"))
                continue
            }
            let sound = read.digest
            let statement = HistoryEntry.statement(of: id, sound: sound, length: row.length)
            let signed = try await onThread(named: "signing", niceness: 5) {
                key.sign(Array(statement.utf8), comment: HistoryEntry.signedComment)
            }
            guard let signed else {
                if let error = key.error { throw error }
                continue
            }
            // What was struck meanwhile may have been read before.
            if Redaction.isUnderWay(id, in: storage) { continue }
            let lines = signed.split(separator: "\n")
            try await archive.enter(
                signature: "\(lines[1]) \(lines[3])", sound: sound, length: row.length, of: id, asOf: entry)
        }
        return refused
    }
}
