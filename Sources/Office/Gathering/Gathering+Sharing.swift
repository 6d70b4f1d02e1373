import Copying
import Core
import Glibc
import System

// Copies of a recording with the same audio share one audio file.
extension Gathering {
    /// Replaces audio files in the batch with hard links to equal files in other copies of the recording, to save space.
    /// This is safe because no program modifies an archive's files; programs only replace them.
    ///
    /// On file systems without hard links, such as FAT, each copy keeps its own file.
    func shareAudio(of batch: [BatchCopy]) throws(DeviceError) {
        let existingFolders = try archive.siblingFolders(of: batch.map(\.copy))
        for (index, batchCopy) in batch.enumerated() {
            guard let digest = batchCopy.audioDigest else { continue }
            let (name, target) = (batchCopy.copy.audioName, try staging.folder(batchCopy.temporary))
            let earlier = batch[..<index].first {
                $0.audioDigest == digest && $0.copy.audioName == name && $0.copy.number == batchCopy.copy.number
                    && $0.copy.recorder.id == batchCopy.copy.recorder.id
            }
            if let earlier, (try? Self.share(name, of: try staging.folder(earlier.temporary), with: target)) != nil {
                continue
            }
            for path in existingFolders[index] {
                guard let folder = try? files.folder(along: path), (try? folder.manifest())?.digests[name] == digest,
                    // The file may have been damaged after it was added.
                    (try? Digest.of(folder.openFile(name, O_RDONLY))) == digest
                else { continue }
                if (try? Self.share(name, of: folder, with: target)) != nil { break }
            }
        }
    }

    /// Replaces a file in `target` with a hard link to the file of the same name in `folder`.
    private static func share(_ name: String, of folder: Folder, with target: Folder) throws(DeviceError) {
        let temporaryName = "shared"
        try folder.link(name, to: target, as: temporaryName)
        do throws(DeviceError) { try target.rename(temporaryName, replacing: name) } catch {
            try? target.remove(temporaryName)
            throw error
        }
    }
}
