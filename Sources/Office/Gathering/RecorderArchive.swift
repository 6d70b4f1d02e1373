import Archive
import Audio
import Copying
import Core
import Glibc
import System
import Transcripts

/// A recorder's own archive in a folder that was copied from the recorder. Opened read-only. Exports recordings like the
/// recorder itself. Used on one thread, which it blocks.
struct RecorderArchive {
    private static let databaseName = "archive.sqlite"

    let name: String
    /// The recorder's public key; nil if it has none.
    let key: String?

    private let path: String
    private let archive: any ArchiveReading
    /// The key that signs copies; nil if the secret or public key is missing or unreadable.
    private let signer: RecorderKey?

    static func isArchive(_ path: String) -> Bool { pathExists("\(path)/\(databaseName)") }

    /// - Throws: `DeviceError` with `busy` if a recorder is using the archive, `unsupported` if another version wrote it.
    init(_ path: String) throws(DeviceError) {
        self.path = path
        name = RecorderIdentity.name(ofFolder: path)
        archive = try rethrowing { try ReadOnlyArchive(path: "\(path)/\(Self.databaseName)") }
        key = RecorderKey.publicKey(in: path)
        // Checked first, because `RecorderKey(in:)` creates a missing key.
        let hasSecretKey = access("\(path)/\(RecorderKey.secretName)", R_OK) == 0
        signer = hasSecretKey && key != nil ? try? RecorderKey(in: path) : nil
    }

    /// Returns the IDs of recordings that have ended.
    func recordings() throws(DeviceError) -> [Int] {
        let archive = archive
        return try blocking { try await archive.recordings() }.filter { $0.length > .zero }.map(\.id)
    }

    /// Exports a recording to a folder, as the recorder would to a stick. A sealed recording stays sealed.
    ///
    /// - Throws: `DeviceError` if the recording cannot be copied; the folder may then contain an incomplete copy.
    func copy(_ number: Int, to folder: String) throws(DeviceError) {
        let settings = CopySettings(
            formats: [.text, .json, .html], audio: .flac, device: DeviceName(madeOf: name), volume: "",
            // Constant, so that a recording is exported as the same copy each time.
            now: 0)
        let path = path
        var export = FolderExport(
            archive: archive, ledger: nil, settings: settings,
            audioPath: { RecordingFolder(storage: path, recording: $0).audio })
        export.signer = signer
        let finalExport = export
        let report = try blocking { try await finalExport.copy([number], to: folder) }
        if let error = report.failures.first?.error ?? report.error { throw error }
    }
}

/// Runs an asynchronous operation, and blocks this thread until it has finished.
private func blocking<Value: Sendable>(
    _ body: @escaping @Sendable () async throws -> Value
) throws(DeviceError) -> Value {
    let result = BlockingResult<Result<Value, DeviceError>>()
    Task.detached {
        do { result.set(.success(try await body())) } catch { result.set(.failure(DeviceError(wrapping: error))) }
    }
    return try result.wait().get()
}
