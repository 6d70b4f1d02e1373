import Archive
import Audio
import Core
import FoundationEssentials
import System

extension FileAdder {
    /// Adds a prepared file to an archive.
    ///
    /// - Parameters:
    ///   - prepared: the name of the folder in which the file was prepared.
    ///   - storage: the archive's storage directory.
    /// - Returns: the ID of the new recording.
    package static func add(
        _ prepared: String, in storage: String, to archive: SQLiteArchive
    ) async throws -> Int {
        let file = try await onThread(named: "adding") { () throws(DeviceError) -> AddedFile in
            let folder = try Folder(opening: storage, crossesMounts: true).folder("recordings").folder(prepared)
            let bytes = try folder.content(ofFile: AddedFile.description, limit: 1 << 20)
            let file: AddedFile
            do { file = try JSONDecoder().decode(AddedFile.self, from: Data(bytes)) } catch {
                throw DeviceError(.damaged, "add", on: "\(folder.path)/\(AddedFile.description)", "cannot be read")
            }
            let audio = "\(folder.path)/\(RecordingFolder.audioName)"
            guard try RecordingReader(path: audio).length == file.length else {
                throw DeviceError(.damaged, "add", on: audio, "is incomplete", remedy: "add the file again")
            }
            try folder.remove(AddedFile.description)
            return file
        }
        return try await archive.add(file, in: prepared)
    }
}
