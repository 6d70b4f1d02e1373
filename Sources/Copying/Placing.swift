import Core
import Glibc
import System

/// Finds the place of one recording in the export folder: there already, or under a name that is free. Blocks.
struct Placing {
    struct Outcome {
        /// As the ledger has it.
        var name: CopyName
        /// The folder's name where a person has given it another.
        var renamed: String?
        var isNew: Bool
        var bytes: Int64 = 0
        var isDirect = true

        /// SHA-256 of its manifest where the ledger does not know of it yet.
        var manifest: String?

        /// The ledger's entry of a copy that is there as it is.
        var entry: ExportEntry?

        /// The folder's name.
        var place: String { renamed ?? name.text }
    }

    let exportFolder: ExportFolder
    let copy: RecordingCopy

    /// What the ledger knows of this volume.
    let known: KnownCopies

    /// Copies that a person has given other names, by the digests of their manifests.
    let otherNames: [String: String]

    /// Copies the recording unless it is there.
    func run() throws(DeviceError) -> Outcome {
        let text = try copy.textDigest()
        var outdated: [(place: String, manifest: Manifest)] = []
        for (name, entry) in known.latest(of: copy.summary.id) {
            var other: String?
            var found = try manifest(of: name.text, entry)
            if found == nil, let renamed = otherNames[entry.manifest] {
                other = renamed
                found = try manifest(of: renamed, entry)
            }
            guard let manifest = found else { continue }
            guard try hasSound(other ?? name.text) else {
                outdated.append((other ?? name.text, manifest))
                continue
            }
            if Set(manifest.digests.keys).isSuperset(of: copy.names),
                try hasTexts(other ?? name.text, manifest, text: text)
            {
                return Outcome(name: name, renamed: other, isNew: false, entry: entry)
            }
            // The sound is there: then only the text is new.
            if let proof = try renewed(other ?? name.text, manifest) {
                return Outcome(
                    name: name, renamed: other, isNew: true, bytes: proof.bytes, isDirect: proof.isDirect,
                    manifest: proof.manifest.digest)
            }
        }
        let outcome = try placed()
        // Before the ledger has heard of the new one: where that is interrupted, it comes to this again.
        for (place, manifest) in outdated {
            let folder = try exportFolder.folder.folder(place)
            if try RecordingCopy.remove(manifest, from: folder, shouldStop: copy.shouldStop) {
                try exportFolder.folder.removeFolder(place)
            }
        }
        return outcome
    }

    /// Under a name that is free, or where it was made but is not known.
    private func placed() throws(DeviceError) -> Outcome {
        var name = CopyName(copy.summary)
        while try exportFolder.folder.exists(name.text) {
            // Complete but unknown to the ledger: the power went between the last two steps, or the ledger is new.
            if !known.names.contains(name), let proof = try matching(name) {
                return Outcome(
                    name: name, isNew: false, isDirect: proof.isDirect, manifest: proof.manifest.digest)
            }
            name = name.next
        }
        return try place(name)
    }

    /// The manifest of a copy that the ledger tells of, where it and all files of the copy are there.
    private func manifest(of name: String, _ entry: ExportEntry) throws(DeviceError) -> Manifest? {
        guard try exportFolder.folder.exists(name) else { return nil }
        do throws(DeviceError) {
            let folder = try exportFolder.folder.folder(name)
            guard let manifest = try Manifest(in: folder), manifest.digest == entry.manifest else { return nil }
            for file in manifest.digests.keys { _ = try folder.open(file, O_RDONLY | O_NONBLOCK) }
            return manifest
        } catch {
            if Self.isForeign(error) { return nil }
            throw error
        }
    }

    private func hasSound(_ name: String) throws(DeviceError) -> Bool {
        do throws(DeviceError) { return try copy.hasSound(in: try exportFolder.folder.folder(name)) } catch {
            if Self.isForeign(error) { return false }
            throw error
        }
    }

    private func hasTexts(
        _ name: String, _ manifest: Manifest, text: (name: String, digest: String)?
    ) throws(DeviceError) -> Bool {
        do throws(DeviceError) {
            return try copy.hasTexts(manifest, in: try exportFolder.folder.folder(name), text: text)
        } catch {
            if Self.isForeign(error) { return false }
            throw error
        }
    }

    private func renewed(_ name: String, _ manifest: Manifest) throws(DeviceError) -> RecordingCopy.Proof? {
        do throws(DeviceError) { return try copy.renewTexts(in: try exportFolder.folder.folder(name), manifest) } catch
        {
            if Self.isForeign(error) { return nil }
            throw error
        }
    }

    private func matching(_ name: CopyName) throws(DeviceError) -> RecordingCopy.Proof? {
        do throws(DeviceError) { return try copy.matches(try exportFolder.folder.folder(name.text)) } catch {
            if Self.isForeign(error) { return nil }
            throw error
        }
    }

    /// Whether an error tells of something that is not a copy of ours, and is left alone.
    static func isForeign(_ error: DeviceError) -> Bool {
        [ELOOP, ENOTDIR, EXDEV, EISDIR, ENOENT, EACCES].contains(error.status)
    }

    private func place(_ free: CopyName) throws(DeviceError) -> Outcome {
        try exportFolder.folder.checkRoom(for: try copy.expectedBytes(), recording: copy.summary.id)
        let (temporary, folder) = try exportFolder.makeTemporary()
        var name = free
        do throws(DeviceError) {
            let proof = try copy.write(into: folder)
            while true {
                do throws(DeviceError) {
                    try exportFolder.finish(temporary, as: name)
                    break
                } catch {
                    guard error.operation == "rename", [EEXIST, ENOTEMPTY].contains(error.status) else { throw error }
                    name = name.next
                }
            }
            return Outcome(
                name: name, isNew: true, bytes: proof.bytes, isDirect: proof.isDirect,
                manifest: proof.manifest.digest)
        } catch {
            // Where even that fails, the next copy does it.
            _ = try? exportFolder.clear(temporary)
            guard error.status == EFBIG else { throw error }
            throw DeviceError(
                .full, error.operation, status: EFBIG, on: error.subject ?? "the target",
                "the target takes no file that long (FAT is limited to 4 GiB)",
                remedy: "use a stick with exFAT or ext4, or export.audio = flac")
        }
    }
}
