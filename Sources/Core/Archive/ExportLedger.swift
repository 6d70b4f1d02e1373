/// Records which copies were made to which volumes. This makes copying incremental, and prevents deleting recordings
/// that have not been copied.
package protocol ExportLedger: Sendable {
    /// Returns the copies on a volume, oldest first.
    func exports(to volume: String) async throws -> [ExportEntry]

    /// Returns the copies of a recording, oldest first.
    func exports(of recording: Int) async throws -> [ExportEntry]

    /// Adds a copy that has been verified on its volume.
    func add(_ entry: ExportEntry) async throws
}

/// A complete, verified copy of one recording on one volume.
package struct ExportEntry: Hashable, Sendable, Codable {
    package var recording: Int
    /// The pass whose complete transcript was copied; nil if only audio or an incomplete transcript was copied.
    package var pass: Int?
    package var volume: String
    package var folder: String
    /// The SHA-256 of the copy's SHA256SUMS in hexadecimal; for an encrypted copy, `SealedManifest.text`.
    package var manifest: String

    /// The SHA-256 of the copy's SHA256SUMS or encrypted file, which identifies the copy.
    package var digest: String { SealedManifest(manifest)?.file ?? manifest }

    package var exportedAt: Double { didSet { exportedAt = exportedAt.asWallTime } }

    /// The number of redactions when the copy began; nil if unknown. The archive's ledger clears it, and also clears
    /// `pass` if there have been redactions since.
    package var redactionCount: Int?

    enum CodingKeys: String, CodingKey, CaseIterable {
        case recording, pass, volume, folder, manifest, exportedAt
        case redactionCount = "struck"
    }

    /// - Parameter exportedAt: Seconds since 1970, clamped with `Double.asWallTime`.
    package init(
        recording: Int, pass: Int?, volume: String, folder: String, manifest: String, exportedAt: Double
    ) {
        self.recording = recording
        self.pass = pass
        self.volume = volume
        self.folder = folder
        self.manifest = manifest
        self.exportedAt = exportedAt.asWallTime
    }

    /// Returns the number of this copy's entry in the history; 0 if there is none.
    package func number(in history: [HistoryEntry]) -> Int {
        history.last { $0.act == .copied && $0.folder == folder && $0.digest == digest }?.number ?? 0
    }
}

extension Array where Element == ExportEntry {
    /// Returns the copies made before the recording's last redaction. Compares entry numbers in the history, since
    /// clocks may be wrong.
    package func beforeRedaction(in history: [HistoryEntry]) -> [ExportEntry] {
        guard let redaction = history.last(where: { $0.act == .redacted })?.number else { return [] }
        return filter { $0.number(in: history) < redaction }
    }
}

/// The description of an encrypted copy, which the recorder cannot decrypt. Digests are SHA-256 in hexadecimal.
package struct SealedManifest: Hashable, Sendable {
    /// The digest of the encrypted file, read back from the volume.
    package var file: String
    package var bytes: Int64
    /// The digest of the file's first bytes, which differ in every file. It identifies the file without a full read.
    package var head: String
    /// The digest of the SHA256SUMS in the encrypted file.
    var plain: String
    /// The digest of the copied content. It changes with the transcript, the sound and the settings.
    package var content: String
    /// The digest of the public keys that the copy is encrypted for.
    package var recipients: String

    package init(file: String, bytes: Int64, head: String, plain: String, content: String, recipients: String) {
        self.file = file
        self.bytes = bytes
        self.head = head
        self.plain = plain
        self.content = content
        self.recipients = recipients
    }

    package var text: String {
        "sealed \(bytes) \([file, head, plain, content, recipients].joined(separator: " "))"
    }

    /// Parses `text`; returns nil for anything else.
    package init?(_ text: String) {
        let fields = text.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
        guard fields.count == 7, fields[0] == "sealed", let bytes = Int64(fields[1]), bytes > 0 else { return nil }
        let digests = fields.dropFirst(2)
        guard digests.allSatisfy({ $0.utf8.count == 64 && $0.allSatisfy(\.isHexDigit) }) else { return nil }
        self.init(
            file: fields[2], bytes: bytes, head: fields[3], plain: fields[4], content: fields[5], recipients: fields[6])
    }
}
