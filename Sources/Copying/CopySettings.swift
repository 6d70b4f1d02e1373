import Audio
import Transcripts

/// The settings of a copy.
package struct CopySettings: Hashable, Sendable {
    package var formats: [TranscriptFormat]
    /// The shortest pause that the text shows, in seconds.
    var pauseSeconds: Int
    /// Proposed names of speakers, by recording and letter.
    var proposals: [Int: [String: String]] = [:]
    package var audio: AudioForm
    package var device: DeviceName

    /// Distinguishes recorders of the same name; nil if unknown.
    var identity: String?

    /// The volume's own identifier, for the ledger.
    var volume: String

    /// The wall time now, in seconds since 1970-01-01T00:00:00Z.
    var now: Double

    package init(
        formats: [TranscriptFormat], audio: AudioForm, device: DeviceName, volume: String, now: Double,
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

    /// The format whose digest shows whether the text has changed; nil if only audio is copied. The simplest comes
    /// first: it changes least between versions.
    var tellingFormat: TranscriptFormat? { TranscriptFormat.allCases.first { formats.contains($0) && $0 != .html } }

    /// Whether a file of a copy with any settings may have this name. Such files are removed from interrupted copies.
    static func isName(_ name: String) -> Bool { allNames.contains(name) || RecordingFolder.isOriginal(name) }

    private static let allNames: [String] =
        TranscriptFormat.allCases.map(\.fileName) + AudioForm.allCases.map(\.fileName)
        + [historyFileName, publicKeyName, signatureName, manifestName]

    /// The digests of a copy's files, for `sha256sum -c`.
    package static let manifestName = "SHA256SUMS"
    /// The recorder's signature, for `minisign -V -p recorder.pub -m SHA256SUMS`.
    package static let signatureName = "SHA256SUMS.minisig"
    package static let publicKeyName = "recorder.pub"
}
