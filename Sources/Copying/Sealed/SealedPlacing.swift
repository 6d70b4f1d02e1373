import Core
import Glibc
import System

/// Finds the place of one recording among the sealed copies: there already, in the place of its older text, or under a name that is
/// free. Blocks.
struct SealedPlacing {
    struct Outcome {
        var name: SealedName
        /// Nil where the copy was there before, as it is.
        var manifest: SealedManifest?
        /// The ledger's entry of a copy that was there before.
        var entry: ExportEntry?
        /// Whether it took the place of an older one.
        var hasReplaced = false
        var isDirect = true
    }

    let sealedFolder: SealedFolder
    let copy: SealedCopy

    /// What the ledger knows of this volume.
    let known: KnownSealedCopies

    /// Seals the recording unless it is there.
    func run() throws(DeviceError) -> Outcome {
        for there in known.latest(of: copy.copy.summary.id) where try sealedFolder.holds(there.name, there.manifest) {
            var isSame = there.manifest.recipients == SealedCopy.digest(of: copy.recipients)
            if isSame { isSame = there.manifest.content == (try copy.contentDigest()) }
            return isSame ? Outcome(name: there.name, entry: there.entry) : try place(there.name, replaces: true)
        }
        // What is there and not known is somebody's, or ours from a moment in which the power went: it stays.
        var name = SealedName(copy.copy.summary.id)
        while try sealedFolder.folder.exists(name.text) { name = name.next }
        return try place(name, replaces: false)
    }

    private func place(_ wanted: SealedName, replaces: Bool) throws(DeviceError) -> Outcome {
        let folder = sealedFolder.folder
        let plan = try copy.plan()
        try folder.checkRoom(for: copy.expectedBytes(plan), recording: copy.copy.summary.id)
        let temporary = try sealedFolder.freeTemporary()
        var given: SealedName?
        do throws(DeviceError) {
            let (manifest, isDirect) = try copy.write(plan, as: temporary, in: folder)
            var name = wanted
            if replaces {
                try folder.rename(temporary, replacing: name.text)
            } else {
                name = try giveFreeName(temporary, from: wanted)
                given = name
            }
            try folder.sync()
            try folder.syncFileSystem()
            return Outcome(name: name, manifest: manifest, hasReplaced: replaces, isDirect: isDirect)
        } catch {
            // Where even that fails, the next copy does it; what has its name by then stays, beside another one.
            try? folder.remove(given?.text ?? temporary)
            guard error.status == EFBIG else { throw error }
            throw DeviceError(
                .full, error.operation, status: EFBIG, on: folder.path,
                "the target takes no file that long (FAT is limited to 4 GiB)",
                remedy: "use a stick with exFAT or ext4, or export.audio = flac")
        }
    }

    private func giveFreeName(_ temporary: String, from wanted: SealedName) throws(DeviceError) -> SealedName {
        var name = wanted
        while true {
            do throws(DeviceError) {
                try sealedFolder.folder.rename(temporary, toFree: name.text)
                return name
            } catch {
                guard error.operation == "rename", error.status == EEXIST else { throw error }
                name = name.next
            }
        }
    }
}
