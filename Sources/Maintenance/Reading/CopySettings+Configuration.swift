import Audio
import Copying
import Core
import Settings

extension Configuration {
    /// Proposed names by recording and speaker; empty if voices are not saved or the file cannot be read.
    package var proposedNames: [Int: [String: String]] {
        guard speakers.remember else { return [:] }
        return (try? VoiceprintStore(in: storage.directory))?.proposals ?? [:]
    }
}

extension CopySettings {
    /// The configuration's settings for copies.
    ///
    /// - Parameters:
    ///   - volume: The target's name in the ledger.
    ///   - now: Seconds since 1970-01-01T00:00:00Z.
    package init(_ configuration: Configuration, volume: String, now: Double) {
        self.init(
            formats: configuration.export.formats,
            audio: configuration.export.audio, device: .host, volume: volume, now: now, identity: machineIdentity,
            pauseSeconds: configuration.export.pauseSeconds, proposals: configuration.proposedNames)
    }
}
