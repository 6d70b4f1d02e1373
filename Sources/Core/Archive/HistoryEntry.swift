/// One action on a recording or on the recorder. Entries outlive the recording and contain neither words nor speakers.
///
/// Entries are lines of JSON. Each contains the SHA-256 of the previous line and of the recording's previous line, so
/// that removing, changing or moving an entry is detected.
package struct HistoryEntry: Hashable, Sendable, Codable {
    /// The kind of action. Later versions may add more. The description of each names the fields that it sets.
    package struct Act: RawRepresentable, Hashable, Sendable, Codable {
        package var rawValue: String

        package init(rawValue: String) { self.rawValue = rawValue }

        /// The recording was closed: `length`, `reason`.
        package static let recorded = Act(rawValue: "recorded")
        /// The recording was made from a file: `digest`, `kept`. The file's name is only in the recording, which can be
        /// erased.
        package static let added = Act(rawValue: "added")
        /// An engine completed a transcript: `pass`, `engine`.
        package static let written = Act(rawValue: "written")
        /// A person corrected the transcript: `pass`. The person's name is only in the transcript, which can be erased.
        package static let corrected = Act(rawValue: "corrected")
        /// A verified copy was made: `volume`, `folder`, `digest`.
        package static let copied = Act(rawValue: "copied")
        /// The recording was encrypted, and the recorder can no longer read it: `digest`.
        package static let sealed = Act(rawValue: "sealed")
        /// A private key decrypted the recording on the recorder, for at most an hour: `digest`.
        package static let opened = Act(rawValue: "opened")
        /// The recording was erased from the recorder: `begunIn`.
        package static let erased = Act(rawValue: "erased")
        /// The recorder's key signed the SHA-256 of the samples: `sound`, `length`, `signature`.
        package static let signed = Act(rawValue: "signed")
        /// A part was redacted: `from`, `to`.
        package static let redacted = Act(rawValue: "struck")
        /// Recording was paused: `from`, `to`.
        package static let paused = Act(rawValue: "paused")
        /// Rows that the database had lost, for example in a power cut, were restored from the recording's journal.
        package static let restored = Act(rawValue: "restored")
        /// The history file was rewritten from the database, and the damaged file was set aside.
        package static let mended = Act(rawValue: "mended")
    }

    /// Entry numbers must be less than this.
    package static let numberLimit = 1 << 31
    /// The entry's number, counted from 1 across all recordings.
    package var number: Int
    /// The recording's ID; nil for actions on the recorder.
    package var recording: Int?
    package var act: Act
    /// RFC 3339 in UTC.
    package var time: String
    package var clock: RecordingSummary.Clock
    /// The boot ID; nil if unknown.
    package var boot: String?
    /// Seconds since boot.
    package var sinceBoot: Int
    /// The SHA-256 of the previous line in hexadecimal; zeros for the first.
    package var before: String
    /// The SHA-256 of the previous line for the same recording; nil for the first.
    package var own: String?
    /// The length in seconds.
    package var length: Double?
    /// A raw value of `StopReason`.
    package var reason: String?
    /// The pass, counted from 1 within the recording.
    package var pass: Int?
    package var engine: String?
    /// The stick's identifier, or `folder` for a folder that is not a volume.
    package var volume: String?
    /// The name of the copy's folder on the volume.
    package var folder: String?
    /// The SHA-256 of the copy's SHA256SUMS, of the encrypted file, or of the added file.
    package var digest: String?
    /// The name of the added file in the recording's folder: `original.m4a`.
    package var kept: String?
    /// The SHA-256 of the samples (mono, 16-bit little-endian, 16 kHz).
    package var sound: String?
    /// The second and fourth lines of minisign's signature for `statement`, joined by a space.
    package var signature: String?
    /// The start of the redacted or paused range, in seconds from the start of the recording.
    package var from: Double?
    package var to: Double?
    /// The boot ID when an erased recording began, so that other recordings from that boot keep their ordinals.
    package var begunIn: String?

    package init(
        number: Int, recording: Int?, act: Act, time: String, clock: RecordingSummary.Clock, boot: String?,
        sinceBoot: Int, before: String, own: String?
    ) {
        self.number = number
        self.recording = recording
        self.act = act
        self.time = time
        self.clock = clock
        self.boot = boot
        self.sinceBoot = sinceBoot
        self.before = before
        self.own = own
    }

    /// The text that was signed; nil if the entry is not a signature.
    package var statement: String? {
        guard let recording, let sound, let length else { return nil }
        return Self.statement(of: recording, sound: sound, length: SamplePosition(seconds: length))
    }

    /// Returns the text to sign for a recording.
    ///
    /// - Parameter sound: The SHA-256 of its samples.
    package static func statement(of recording: Int, sound: String, length: SamplePosition) -> String {
        "recording \(recording), sound sha256:\(sound), \(length.samples) samples\n"
    }

    /// The trusted comment in signature files.
    package static let signedComment = "fieldscribe recording"

    /// The contents of a minisign signature file; nil if there is no signature.
    package var signatureFile: String? {
        guard let parts = signature?.split(separator: " "), parts.count == 2 else { return nil }
        return "untrusted comment: signature\n\(parts[0])\ntrusted comment: \(Self.signedComment)\n\(parts[1])\n"
    }

    package static let initialDigest = String(repeating: "0", count: 64)
}

extension BidirectionalCollection where Element == HistoryEntry {
    /// The valid signature for the recording's sound; nil if the recording is not signed or was redacted since. Closing
    /// a recording again, for example after its file was truncated, keeps the signature.
    package var soundSignature: HistoryEntry? {
        last { $0.act == .signed || $0.act == .redacted }.flatMap { $0.act == .signed ? $0 : nil }
    }
}

/// A history entry together with its line, whose digest the next line contains.
package struct HistoryLine: Hashable, Sendable, Codable {
    /// The JSON line without its newline.
    package var text: String
    package var entry: HistoryEntry

    package init(text: String, entry: HistoryEntry) {
        self.text = text
        self.entry = entry
    }
}
