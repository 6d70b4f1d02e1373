import Audio
import Core
import Glibc
import System

/// Writes readable copies, one folder per recording.
struct PlainWriter: CopyWriter {
    private let folder: CopyFolder
    private let copy: RecordingCopy
    /// The new names of copies that a person has renamed, by the digest of the copy's manifest.
    private let renamed: [String: String]
    private let text: (name: String, digest: String)?

    init(_ copy: RecordingCopy, in folder: CopyFolder, renamed: [String: String]) throws(DeviceError) {
        (self.copy, self.folder, self.renamed) = (copy, folder, renamed)
        text = try copy.textDigest()
    }

    var firstName: CopyName { CopyName(copy.summary) }

    func examine(_ copy: KnownCopies<CopyName>.Copy) throws(DeviceError) -> ExaminedCopy<CopyName> {
        do throws(DeviceError) {
            var newName: String?
            var found = try manifest(of: copy.name.text, copy.entry)
            if found == nil, let renamed = renamed[copy.entry.manifest] {
                newName = renamed
                found = try manifest(of: renamed, copy.entry)
            }
            guard let manifest = found else { return .unusable }
            let folder = try folder.folder.folder(newName ?? copy.name.text)
            // A redaction erases the file that the recording was converted from, so no copy may keep it.
            let hasErasedOriginal = manifest.digests.keys.contains {
                RecordingFolder.isOriginal($0) && $0 != self.copy.original?.name
            }
            guard !hasErasedOriginal, try self.copy.hasSound(in: folder) else { return .unusable }
            if Set(manifest.digests.keys).isSuperset(of: self.copy.names),
                try self.copy.hasTexts(manifest, in: folder, text: text)
            {
                return .current(PlacedCopy(name: copy.name, renamed: newName, entry: copy.entry))
            }
            // The sound is current, so only the texts are replaced.
            guard let proof = try self.copy.replaceTexts(in: folder, manifest) else { return .unusable }
            return .current(
                PlacedCopy(
                    name: copy.name, renamed: newName, isNew: true, bytes: proof.bytes, isDirect: proof.isDirect,
                    manifest: proof.manifest.digest))
        } catch {
            guard error.isForeignEntry else { throw error }
            return .unusable
        }
    }

    /// Returns the manifest of a copy that the ledger lists, if all of the copy's files exist.
    private func manifest(of name: String, _ entry: ExportEntry) throws(DeviceError) -> Manifest? {
        guard try folder.folder.exists(name) else { return nil }
        do throws(DeviceError) {
            let folder = try folder.folder.folder(name)
            guard let manifest = try Manifest(in: folder), manifest.digest == entry.manifest else { return nil }
            for file in manifest.digests.keys { _ = try folder.open(file, O_RDONLY | O_NONBLOCK) }
            return manifest
        } catch {
            guard error.isForeignEntry else { throw error }
            return nil
        }
    }

    func recognize(_ name: CopyName) throws(DeviceError) -> PlacedCopy<CopyName>? {
        do throws(DeviceError) {
            guard let proof = try copy.matches(try folder.folder.folder(name.text)) else { return nil }
            return PlacedCopy(name: name, isDirect: proof.isDirect, manifest: proof.manifest.digest)
        } catch {
            guard error.isForeignEntry else { throw error }
            return nil
        }
    }

    func expectedBytes() throws(DeviceError) -> Int64 { try copy.expectedBytes() }

    func write(as temporary: String) throws(DeviceError) -> WrittenCopy {
        try folder.folder.makeFolder(temporary)
        try folder.folder.sync()
        let proof = try copy.write(into: folder.folder.folder(temporary))
        return WrittenCopy(manifest: proof.manifest.digest, bytes: proof.bytes, isDirect: proof.isDirect)
    }
}

extension DeviceError {
    /// Whether opening failed because the file or folder is missing or belongs to somebody else. It stays unchanged.
    var isForeignEntry: Bool { [ELOOP, ENOTDIR, EXDEV, EISDIR, ENOENT, EACCES].contains(status) }
}
