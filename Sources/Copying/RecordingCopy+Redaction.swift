import Core
import Glibc
import System
import Transcripts

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

    /// Removes the files of a copy that are as they were written: what a person has changed or put there stays. What the copy is known
    /// by goes last, so that one that was interrupted can be completed.
    ///
    /// - Returns: whether nothing is left.
    static func remove(
        _ manifest: Manifest, from folder: Folder, shouldStop: @escaping @Sendable () -> Bool
    ) throws(DeviceError) -> Bool {
        try folder.remove(CopySettings.signatureName)
        let page = TranscriptFormat.html.fileName
        for name in manifest.digests.keys.sorted(by: { ($0 == page ? 1 : 0, $0) < ($1 == page ? 1 : 0, $1) }) {
            do throws(DeviceError) {
                let file = try ReadBack(name, in: folder, shouldStop: shouldStop)
                if try file.finish() == manifest.digests[name] { try folder.remove(name) }
            } catch {
                guard error.isOfForeignEntry else { throw error }
            }
        }
        try folder.sync()
        try folder.remove(CopySettings.manifestName)
        try folder.sync()
        return try folder.names().isEmpty
    }
}
