import Audio
import Core
import Glibc
import System

/// Writes readable copies: one folder for each recording.
struct PlainWriter: CopyWriter {
    private let folder: CopyFolder
    private let copy: RecordingCopy
    /// Copies that a person has renamed, by the digests of their manifests.
    private let renamed: [String: String]
    private let text: (name: String, digest: String)?

    init(_ copy: RecordingCopy, in folder: CopyFolder, renamed: [String: String]) throws(DeviceError) {
        (self.copy, self.folder, self.renamed) = (copy, folder, renamed)
        text = try copy.textDigest()
    }

    var firstName: CopyName { CopyName(copy.summary) }

    func examine(_ copy: KnownCopies<CopyName>.Copy) throws(DeviceError) -> ExaminedCopy<CopyName> {
        do throws(DeviceError) {
            var other: String?
            var found = try manifest(of: copy.name.text, copy.entry)
            if found == nil, let renamed = renamed[copy.entry.manifest] {
                other = renamed
                found = try manifest(of: renamed, copy.entry)
            }
            guard let manifest = found else { return .unusable }
            let place = other ?? copy.name.text
            let folder = try folder.folder.folder(place)
            // A redaction erases the file that was added.
            let isErased = manifest.digests.keys.contains {
                RecordingFolder.isOriginal($0) && $0 != self.copy.original?.name
            }
            guard !isErased, try self.copy.hasSound(in: folder) else { return .unusable }
            if Set(manifest.digests.keys).isSuperset(of: self.copy.names),
                try self.copy.hasTexts(manifest, in: folder, text: text)
            {
                return .current(PlacedCopy(name: copy.name, renamed: other, entry: copy.entry))
            }
            // The sound is there; only the text is new.
            guard let proof = try self.copy.renewTexts(in: folder, manifest) else { return .unusable }
            return .current(
                PlacedCopy(
                    name: copy.name, renamed: other, isNew: true, bytes: proof.bytes, isDirect: proof.isDirect,
                    manifest: proof.manifest.digest))
        } catch {
            guard error.isOfForeignEntry else { throw error }
            return .unusable
        }
    }

    /// Returns the manifest of a copy in the ledger if all of its files are there.
    private func manifest(of name: String, _ entry: ExportEntry) throws(DeviceError) -> Manifest? {
        guard try folder.folder.exists(name) else { return nil }
        do throws(DeviceError) {
            let folder = try folder.folder.folder(name)
            guard let manifest = try Manifest(in: folder), manifest.digest == entry.manifest else { return nil }
            for file in manifest.digests.keys { _ = try folder.open(file, O_RDONLY | O_NONBLOCK) }
            return manifest
        } catch {
            guard error.isOfForeignEntry else { throw error }
            return nil
        }
    }

    func recognize(_ name: CopyName) throws(DeviceError) -> PlacedCopy<CopyName>? {
        do throws(DeviceError) {
            guard let proof = try copy.matches(try folder.folder.folder(name.text)) else { return nil }
            return PlacedCopy(name: name, isDirect: proof.isDirect, manifest: proof.manifest.digest)
        } catch {
            guard error.isOfForeignEntry else { throw error }
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
    /// Whether the entry that failed to open is not a copy, and stays untouched.
    var isOfForeignEntry: Bool { [ELOOP, ENOTDIR, EXDEV, EISDIR, ENOENT, EACCES].contains(status) }
}
