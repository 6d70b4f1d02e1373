/// What was done to a recording, and when: who did what. It outlives the recording, and holds nothing that was said, nor who said it.
///
/// Entries are lines of JSON, each of which holds the SHA-256 of the one before, and of the one before of its recording: so none can be
/// taken away, changed or moved without that being seen.
package struct HistoryEntry: Hashable, Sendable, Codable {
    /// What was done; a later version may know of more.
    package struct Act: RawRepresentable, Hashable, Sendable, Codable {
        /// The word in the entry.
        package var rawValue: String

        package init(rawValue: String) { self.rawValue = rawValue }

        /// It was closed: `length`, `reason`.
        package static let recorded = Act(rawValue: "recorded")
        /// An engine has written its text to the end: `pass`, `engine`.
        package static let written = Act(rawValue: "written")
        /// A person has put its text right: `pass`. Who that was stays with the text, which can be erased.
        package static let corrected = Act(rawValue: "corrected")
        /// A verified copy was made: `volume`, `folder`, `digest`.
        package static let copied = Act(rawValue: "copied")
        /// The recorder can no longer read it: `digest`.
        package static let sealed = Act(rawValue: "sealed")
        /// A private key opened it on the recorder, for an hour at most: `digest`.
        package static let opened = Act(rawValue: "opened")
        /// It was erased from the recorder.
        package static let erased = Act(rawValue: "erased")
        /// The SHA-256 of its samples was signed by the recorder's key: `sound`, `length`, `signature`.
        package static let signed = Act(rawValue: "signed")
        /// A stretch of it was struck: `from`, `to`.
        package static let struck = Act(rawValue: "struck")
        /// Nothing was taken for a while: `from`, `to`.
        package static let paused = Act(rawValue: "paused")
        /// What its journal told was taken over, since a power cut had kept it from the database.
        package static let restored = Act(rawValue: "restored")
        /// The file of the history was written anew from the database, and the damaged one kept aside.
        package static let mended = Act(rawValue: "mended")
    }

    /// No history comes to this; an entry that says so is none.
    package static let highest = 1 << 31

    /// 1, 2, 3 ... over all recordings.
    package var number: Int
    /// The recording's number; nil for what concerns the recorder.
    package var recording: Int?
    /// What was done.
    package var act: Act
    /// RFC 3339 in UTC.
    package var time: String
    /// Whether `time` can be believed.
    package var clock: RecordingSummary.Clock
    /// The machine's identifier of its running since it was switched on; nil where it has none.
    package var boot: String?
    /// Seconds since then.
    package var sinceBoot: Int
    /// SHA-256 of the previous entry's line, in hexadecimal digits; zeros for the first.
    package var before: String
    /// The same of the recording's previous entry; nil for its first.
    package var own: String?

    /// In seconds.
    package var length: Double?
    /// Why the recording ended, as `StopReason` has it.
    package var reason: String?
    /// Counted within the recording, from 1.
    package var pass: Int?
    /// What has written.
    package var engine: String?
    /// A stick's identifier, or `folder` for what is no volume of its own.
    package var volume: String?
    /// The copy's name on it.
    package var folder: String?
    /// SHA-256 of the copy's SHA256SUMS, or of the sealed file.
    package var digest: String?
    /// SHA-256 of the samples (mono, 16-bit little-endian, 16 kHz).
    package var sound: String?
    /// What minisign's signature of `statement` has in its second and fourth line, behind each other with a blank.
    package var signature: String?
    /// Where in the recording, in seconds.
    package var from: Double?
    /// Where that ends.
    package var to: Double?

    /// - Parameters:
    ///   - time: RFC 3339 in UTC.
    ///   - before: SHA-256 of the previous entry's line, or zeros.
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

    /// What is signed of a recording that is closed; nil for an entry that is not of that.
    package var statement: String? {
        guard let recording, let sound, let length else { return nil }
        return Self.statement(of: recording, sound: sound, length: SamplePosition(seconds: length))
    }

    /// What is to be signed of a recording.
    ///
    /// - Parameter sound: SHA-256 of its samples.
    package static func statement(of recording: Int, sound: String, length: SamplePosition) -> String {
        "recording \(recording), sound sha256:\(sound), \(length.samples) samples\n"
    }

    /// The comment that is signed with it.
    package static let signedComment = "fieldscribe recording"

    /// The signature as minisign reads it from a file; nil for an entry without one.
    package var signatureFile: String? {
        guard let parts = signature?.split(separator: " "), parts.count == 2 else { return nil }
        return "untrusted comment: signature\n\(parts[0])\ntrusted comment: \(Self.signedComment)\n\(parts[1])\n"
    }

    /// What stands in the first entry in the place of a digest.
    package static let start = String(repeating: "0", count: 64)
}

extension BidirectionalCollection where Element == HistoryEntry {
    /// The signature of a recording's sound as it has to be now; nil before it is signed, or signed again after a redaction.
    ///
    /// Only a redaction changes what was signed: a recording that is closed again, as after its file was cut, keeps its signature.
    package var soundSignature: HistoryEntry? {
        last { $0.act == .signed || $0.act == .struck }.flatMap { $0.act == .signed ? $0 : nil }
    }
}

/// An entry with its line, as it is chained.
package struct HistoryLine: Hashable, Sendable, Codable {
    /// The line of JSON without its line break, of which digests are made.
    package var text: String
    /// What it says.
    package var entry: HistoryEntry

    package init(text: String, entry: HistoryEntry) {
        self.text = text
        self.entry = entry
    }
}
