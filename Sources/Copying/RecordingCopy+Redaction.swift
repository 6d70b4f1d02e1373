import Core
import System
import Transcripts

// Copies made before a redaction still contain the redacted parts.
extension RecordingCopy {
    /// Returns whether a copy has the recording's current sound. Reads the sound only if the recording was redacted.
    func hasSound(in folder: Folder) throws(DeviceError) -> Bool {
        if timeline.gaps.redacted.isEmpty { return true }
        let samplesDigest = try soundDigest()
        do throws(DeviceError) { _ = try readBackAudio(in: folder, samplesDigest: samplesDigest) } catch {
            if error.code == .damaged || error.code == .missing { return false }
            throw error
        }
        return true
    }

    /// Removes the unaltered files of a copy. Files that a person has changed or added stay. Removes the page and then
    /// the manifest last, so that a later run can complete an interrupted removal.
    ///
    /// - Returns: whether the folder is empty now.
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
                guard error.isForeignEntry else { throw error }
            }
        }
        try folder.sync()
        try folder.remove(CopySettings.manifestName)
        try folder.sync()
        return try folder.names().isEmpty
    }
}
