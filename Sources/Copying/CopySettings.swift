import Audio
import Transcripts

/// The settings for copies.
package struct CopySettings: Hashable, Sendable {
    package var formats: [TranscriptFormat]
    /// The shortest pause that the format `qda` shows, in seconds.
    var pauseSeconds: Int
    /// Proposed names of speakers by recording ID and speaker label.
    var proposals: [Int: [String: String]] = [:]
    package var audio: AudioFormat
    package var device: DeviceName

    /// Distinguishes recorders with the same name; nil if unknown.
    var identity: String?

    /// The volume's own identifier, for the ledger.
    var volume: String

    /// The current wall time, in seconds since 1970-01-01T00:00:00Z.
    var now: Double

    package init(
        formats: [TranscriptFormat], audio: AudioFormat, device: DeviceName, volume: String, now: Double,
        identity: String? = nil, pauseSeconds: Int = 3, proposals: [Int: [String: String]] = [:]
    ) {
        self.proposals = proposals
        self.pauseSeconds = pauseSeconds
        self.identity = identity
        self.formats = formats
        self.audio = audio
        self.device = device
        self.volume = volume
        self.now = now
    }

    var audioName: String { audio.fileName }

    /// The format whose digest shows whether the text has changed: of the copied formats except the page, the first in
    /// `allCases`. Nil if there is no such format.
    var comparedFormat: TranscriptFormat? { TranscriptFormat.allCases.first { formats.contains($0) && $0 != .html } }

    /// Returns whether Fieldscribe writes files with this name into copies. They are removed from interrupted copies.
    static func isName(_ name: String) -> Bool { allNames.contains(name) || RecordingFolder.isOriginal(name) }

    private static let allNames: [String] =
        TranscriptFormat.allCases.map(\.fileName) + AudioFormat.allCases.map(\.fileName)
        + [historyFileName, publicKeyName, signatureName, manifestName]

    /// The file with the digests of a copy's files, for `sha256sum -c`.
    package static let manifestName = "SHA256SUMS"
    /// The file with the recorder's signature, for `minisign -V -p recorder.pub -m SHA256SUMS`.
    package static let signatureName = "SHA256SUMS.minisig"
    package static let publicKeyName = "recorder.pub"
}
