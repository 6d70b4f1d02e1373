/// One action on a recording: what was done, when, by whom. It outlives the recording and contains neither words nor
/// speakers.
///
/// Entries are lines of JSON. Each holds the SHA-256 of the previous line and of the recording's previous line, so
/// removing, changing or moving an entry is detected.
package struct HistoryEntry: Hashable, Sendable, Codable {
    /// What was done. Later versions may add more.
    package struct Act: RawRepresentable, Hashable, Sendable, Codable {
        package var rawValue: String

        package init(rawValue: String) { self.rawValue = rawValue }

        /// The recording was closed: `length`, `reason`.
        package static let recorded = Act(rawValue: "recorded")
        /// It was made from a file: `digest`, `kept`. The file's name stays with the recording, which can be erased.
        package static let added = Act(rawValue: "added")
        /// An engine completed its text: `pass`, `engine`.
        package static let written = Act(rawValue: "written")
        /// A person corrected its text: `pass`. The person's name stays with the text, which can be erased.
        package static let corrected = Act(rawValue: "corrected")
        /// A verified copy was made: `volume`, `folder`, `digest`.
        package static let copied = Act(rawValue: "copied")
        /// It was encrypted; the recorder can no longer read it: `digest`.
        package static let sealed = Act(rawValue: "sealed")
        /// A private key decrypted it on the recorder, for at most an hour: `digest`.
        package static let opened = Act(rawValue: "opened")
        /// It was erased from the recorder: `begunIn`.
        package static let erased = Act(rawValue: "erased")
        /// The recorder's key signed the SHA-256 of its samples: `sound`, `length`, `signature`.
        package static let signed = Act(rawValue: "signed")
        /// A part was redacted: `from`, `to`.
        package static let redacted = Act(rawValue: "struck")
        /// Recording was paused: `from`, `to`.
        package static let paused = Act(rawValue: "paused")
        /// It was restored from its journal after a power cut.
        package static let restored = Act(rawValue: "restored")
        /// The history file was rewritten from the database, and the damaged one set aside.
        package static let mended = Act(rawValue: "mended")
    }

    /// An upper bound of entry numbers; an entry at or above it is invalid.
    package static let highest = 1 << 31
    /// Counts from 1 over all recordings.
    package var number: Int
    /// The recording's number; nil for acts on the recorder.
    package var recording: Int?
    package var act: Act
    /// RFC 3339 in UTC.
    package var time: String
    /// Whether the clock of `time` was set.
    package var clock: RecordingSummary.Clock
    /// The boot's identifier; nil if unknown.
    package var boot: String?
    /// Seconds since the boot.
    package var sinceBoot: Int
    /// The SHA-256 of the previous line in hexadecimal; zeros for the first.
    package var before: String
    /// The SHA-256 of the recording's previous line; nil for its first.
    package var own: String?
    /// The length in seconds.
    package var length: Double?
    /// A raw value of `StopReason`.
    package var reason: String?
    /// Counts from 1 within the recording.
    package var pass: Int?
    package var engine: String?
    /// The stick's identifier, or `folder` for a folder that is not a volume.
    package var volume: String?
    /// The copy's name on it.
    package var folder: String?
    /// The SHA-256 of the copy's SHA256SUMS, of the encrypted file, or of the added file.
    package var digest: String?
    /// The name of the added file in the recording's folder: `original.m4a`.
    package var kept: String?
    /// The SHA-256 of the samples (mono, 16-bit little-endian, 16 kHz).
    package var sound: String?
    /// The second and fourth line of minisign's signature of `statement`, joined by a space.
    package var signature: String?
    /// The part, in seconds of the recording.
    package var from: Double?
    package var to: Double?
    /// The boot in which an erased recording began: so the other recordings of that boot keep their order.
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

    /// The text that was signed; nil for other entries.
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

    /// The trusted comment of signatures.
    package static let signedComment = "fieldscribe recording"

    /// The signature file for minisign; nil without a signature.
    package var signatureFile: String? {
        guard let parts = signature?.split(separator: " "), parts.count == 2 else { return nil }
        return "untrusted comment: signature\n\(parts[0])\ntrusted comment: \(Self.signedComment)\n\(parts[1])\n"
    }

    /// The digest before the first entry.
    package static let start = String(repeating: "0", count: 64)
}

extension BidirectionalCollection where Element == HistoryEntry {
    /// The valid signature of the recording's sound; nil before it is signed, and after a redaction until it is signed
    /// again. Closing a recording again, for example after its file was truncated, keeps the signature.
    package var soundSignature: HistoryEntry? {
        last { $0.act == .signed || $0.act == .redacted }.flatMap { $0.act == .signed ? $0 : nil }
    }
}

/// An entry with the line whose digest is chained.
package struct HistoryLine: Hashable, Sendable, Codable {
    /// The JSON line without its newline.
    package var text: String
    package var entry: HistoryEntry

    package init(text: String, entry: HistoryEntry) {
        self.text = text
        self.entry = entry
    }
}
