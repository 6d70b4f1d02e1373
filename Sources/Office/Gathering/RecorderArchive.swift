import Archive
import Audio
import Copying
import Core
import Glibc
import System
import Transcripts

/// A recorder's own archive in a folder that was copied from it, opened read-only. Its recordings are exported as the
/// recorder's own copies would be. Used on one thread, which it blocks.
struct RecorderArchive {
    private static let databaseName = "archive.sqlite"

    /// The name of its folder.
    let name: String
    /// The recorder's public key; nil if it has none.
    let key: String?

    private let path: String
    private let archive: any ArchiveReading
    /// Signs copies; nil if the secret key is missing or unreadable.
    private let signer: RecorderKey?

    /// Whether a folder contains such an archive.
    static func isArchive(_ path: String) -> Bool { isTaken("\(path)/\(databaseName)") }

    /// - Throws: `DeviceError` with `busy` if a recorder uses it now, `unsupported` if another version wrote it.
    init(_ path: String) throws(DeviceError) {
        self.path = path
        name = RecorderIdentity.name(ofFolder: path)
        archive = try rethrowing { try ReadOnlyArchive(path: "\(path)/\(Self.databaseName)") }
        key = RecorderKey.publicKey(in: path)
        // `RecorderKey(in:)` would create a missing key.
        let isThere = access("\(path)/\(RecorderKey.secretName)", R_OK) == 0
        signer = isThere && key != nil ? try? RecorderKey(in: path) : nil
    }

    /// Returns the numbers of recordings that have ended.
    func recordings() throws(DeviceError) -> [Int] {
        let archive = archive
        return try blocking { try await archive.recordings() }.filter { $0.length > .zero }.map(\.id)
    }

    /// Copies one recording into a folder, as to a stick; a sealed one stays sealed.
    ///
    /// - Throws: `DeviceError` if it cannot be copied; the folder may then contain an incomplete copy.
    func copy(_ number: Int, to folder: String) throws(DeviceError) {
        let settings = CopySettings(
            formats: [.text, .json, .html], audio: .flac, device: DeviceName(madeOf: name), volume: "",
            // A constant makes the copy the same each time.
            now: 0)
        let path = path
        var export = FolderExport(
            archive: archive, ledger: nil, settings: settings,
            audioPath: { RecordingFolder(storage: path, recording: $0).audio })
        export.signer = signer
        let copying = export
        let report = try blocking { try await copying.copy([number], to: folder) }
        if let error = report.failures.first?.error ?? report.error { throw error }
    }
}

/// Runs an asynchronous operation and blocks this thread until it has finished.
private func blocking<Value: Sendable>(
    _ body: @escaping @Sendable () async throws -> Value
) throws(DeviceError) -> Value {
    let result = BlockingResult<Result<Value, DeviceError>>()
    Task.detached {
        do { result.set(.success(try await body())) } catch { result.set(.failure(DeviceError(wrapping: error))) }
    }
    return try result.wait().get()
}
