import Archive
import Audio
import Copying
import Core
import Glibc
import System
import Transcripts

/// A recorder's own archive, in a folder that was copied from it: read, and never written to. Its recordings are taken as copies, made as
/// the recorder would make them. Used on one thread, which it blocks.
struct RecorderArchive {
    /// What it is called here: its folder.
    let name: String
    /// The recorder's public key; nil where it has none.
    let key: String?

    private let path: String
    private let archive: ReadOnlyArchive
    /// What signs copies; nil where the secret key is not there, or may not be read.
    private let signer: RecorderKey?

    /// Whether a folder is one.
    static func isOne(_ path: String) -> Bool { isTaken("\(path)/\(Recorder.databaseName)") }

    /// - Throws: `DeviceError` with `busy` where a recorder uses it now, `unsupported` where another version wrote it.
    init(_ path: String) throws(DeviceError) {
        self.path = path
        let words = (try? realPath(path)) ?? path
        name = words.split(separator: "/").last.map(String.init) ?? "recorder"
        archive = try rethrowing { try ReadOnlyArchive(path: "\(path)/\(Recorder.databaseName)") }
        key = RecorderKey.publicKey(in: path)
        // A key that is not there would be made, which is not ours to do.
        let isThere = access("\(path)/\(RecorderKey.secretName)", R_OK) == 0
        signer = isThere && key != nil ? try? RecorderKey(in: path) : nil
    }

    /// The numbers of those that have ended.
    func recordings() throws(DeviceError) -> [Int] {
        let archive = archive
        return try blocking { try await archive.recordings() }.filter { $0.length > .zero }.map(\.id)
    }

    /// Copies one recording into a folder, as to a stick: sealed as it is, where it is sealed.
    ///
    /// - Throws: `DeviceError` where it cannot be copied; what was begun is then in that folder.
    func copy(_ number: Int, to folder: String) throws(DeviceError) {
        let settings = CopySettings(
            formats: [.text, .json, .html], audio: .flac, device: DeviceName(madeOf: name), volume: "",
            // The same each time, so that the copy is.
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

/// Waits on this thread for what is done on others.
private func blocking<Value: Sendable>(
    _ body: @escaping @Sendable () async throws -> Value
) throws(DeviceError) -> Value {
    let result = BlockingResult<Result<Value, DeviceError>>()
    Task.detached {
        do { result.set(.success(try await body())) } catch { result.set(.failure(DeviceError(wrapping: error))) }
    }
    return try result.wait().get()
}
