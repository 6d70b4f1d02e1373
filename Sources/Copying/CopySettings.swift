import Audio
import Core
import Transcripts

/// What a copy is made of, and what its volume is called.
package struct CopySettings: Hashable, Sendable {
    /// The forms of the transcript.
    package var formats: [TranscriptFormat]
    /// How long a pause is that is told in the format that tells pauses, in seconds.
    var pauseSeconds: Int
    /// For each recording, by letters, who people without a name may be.
    var proposals: [Int: [String: String]] = [:]
    /// The form of the sound.
    package var audio: AudioForm

    /// Under which name this recorder's copies stand.
    package var device: DeviceName

    /// Tells it from other recorders of that name; nil where nothing does.
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

    var audioName: String { "audio.\(audio.rawValue)" }

    /// The form by which a copy's text is told from a newer one; nil where only audio is copied. The plainest are first,
    /// because they change least from one version of this program to the next.
    var tellingFormat: TranscriptFormat? { TranscriptFormat.allCases.first { formats.contains($0) && $0 != .html } }

    /// Every name that a copy's folder may hold, with what earlier settings wrote: what a broken copy is cleared of.
    static let allNames: [String] =
        TranscriptFormat.allCases.map(\.fileName) + AudioForm.allCases.map { "audio.\($0.rawValue)" }
        + [historyFileName, publicKeyName, signatureName, manifestName]

    /// The list of a copy's files and their digests, as `sha256sum -c` reads it.
    package static let manifestName = "SHA256SUMS"
    /// The recorder's signature of that, as `minisign -V -p recorder.pub -m SHA256SUMS` checks it.
    package static let signatureName = "SHA256SUMS.minisig"
    /// The recorder's public key.
    package static let publicKeyName = "recorder.pub"
}
