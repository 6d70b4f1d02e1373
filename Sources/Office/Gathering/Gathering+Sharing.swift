import Copying
import Core
import Glibc
import System

// Copies of a recording with the same sound share one sound file.
extension Gathering {
    /// Replaces sound files in the batch with hard links to equal files in other copies of the recording, to save
    /// space. This is safe because no program writes into an archive's files; they are only replaced.
    ///
    /// On file systems without hard links, such as FAT, each copy keeps its own file.
    func shareSound(of batch: [BatchCopy]) throws(DeviceError) {
        let existingFolders = try archive.places(of: batch.map(\.copy))
        for (index, batchCopy) in batch.enumerated() {
            guard let digest = batchCopy.soundFile else { continue }
            let (name, target) = (batchCopy.copy.audio, try staging.folder(batchCopy.temporary))
            let twin = batch[..<index].first {
                $0.soundFile == digest && $0.copy.audio == name && $0.copy.number == batchCopy.copy.number
                    && $0.copy.recorder.id == batchCopy.copy.recorder.id
            }
            if let twin, (try? Self.share(name, of: try staging.folder(twin.temporary), with: target)) != nil {
                continue
            }
            for place in existingFolders[index] {
                guard let folder = try? files.folder(along: place), (try? folder.manifest())?.digests[name] == digest,
                    // The file may have been damaged after it was added.
                    (try? Digest.of(folder.openFile(name, O_RDONLY))) == digest
                else { continue }
                if (try? Self.share(name, of: folder, with: target)) != nil { break }
            }
        }
    }

    /// Replaces a file in `target` with a hard link to the file of the same name in `folder`.
    private static func share(_ name: String, of folder: Folder, with target: Folder) throws(DeviceError) {
        let temporary = "shared"
        try folder.link(name, to: target, as: temporary)
        do throws(DeviceError) { try target.rename(temporary, replacing: name) } catch {
            try? target.remove(temporary)
            throw error
        }
    }
}
