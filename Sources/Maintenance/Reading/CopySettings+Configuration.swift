import Audio
import Copying
import Core
import Settings

extension Configuration {
    /// The proposed names by recording ID and speaker label; empty if voices are not saved or the file cannot be read.
    package var proposedNames: [Int: [String: String]] {
        guard speakers.remember else { return [:] }
        return (try? VoiceprintStore(in: storage.directory))?.proposals ?? [:]
    }
}

extension CopySettings {
    /// The configuration's settings for copies.
    ///
    /// - Parameters:
    ///   - volume: the target's identifier in the ledger.
    ///   - now: the current time, in seconds since 1970-01-01T00:00:00Z.
    package init(_ configuration: Configuration, volume: String, now: Double) {
        self.init(
            formats: configuration.export.formats,
            audio: configuration.export.audio, device: .host, volume: volume, now: now, identity: machineIdentity,
            pauseSeconds: configuration.export.pauseSeconds, proposals: configuration.proposedNames)
    }
}
