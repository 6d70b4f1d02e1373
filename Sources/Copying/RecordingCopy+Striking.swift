import Core
import Glibc
import Platform

// A copy of before something was struck still has it.
extension RecordingCopy {
    /// Whether a copy has the sound that the recording has now: read back, but only where something was struck.
    func hasSound(in folder: Folder) throws(DeviceError) -> Bool {
        if timeline.gaps.struck.isEmpty { return true }
        let sound = try soundDigest()
        do throws(DeviceError) { _ = try readBackAudio(in: folder, sound: sound) } catch {
            if error.code == .damaged || error.code == .missing { return false }
            throw error
        }
        return true
    }

    /// Removes the files of a copy that are as they were written, the manifest first: what a person has changed or put there stays.
    ///
    /// - Returns: whether nothing is left.
    func remove(_ manifest: Manifest, from folder: Folder) throws(DeviceError) -> Bool {
        for name in [CopySettings.signatureName, CopySettings.manifestName] { try folder.remove(name) }
        for (name, digest) in manifest.digests.sorted(by: { $0.key < $1.key }) {
            let file = try ReadBack(name, in: folder, shouldStop: shouldStop)
            if try file.finish() == digest { try folder.remove(name) }
        }
        try folder.sync()
        return try folder.names().isEmpty
    }
}
