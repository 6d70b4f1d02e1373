/// The port for what was copied where, so that the next copy takes only what is new and nothing is deleted unseen.
package protocol ExportLedger: Sendable {
    /// What one volume received, in the order in which it did.
    func exports(to volume: String) async throws -> [ExportEntry]

    /// What became of one recording, in the order in which it did.
    func exports(of recording: Int) async throws -> [ExportEntry]

    /// Keeps an entry; it was verified on the volume before.
    func add(_ entry: ExportEntry) async throws
}

/// One recording's folder on one volume, complete and verified.
package struct ExportEntry: Hashable, Sendable, Codable {
    /// The recording's number.
    package var recording: Int

    /// The pass whose whole text was copied; nil for audio without text, or with one that was still growing.
    package var pass: Int?

    /// The volume's own identifier.
    package var volume: String

    /// The folder's name on it.
    package var folder: String

    /// SHA-256 of its SHA256SUMS, in hexadecimal digits; of a sealed copy, the text of its `SealedManifest`.
    package var manifest: String

    /// SHA-256 by which the copy can be told from others: of its SHA256SUMS, or of the sealed file.
    package var digest: String { SealedManifest(manifest)?.file ?? manifest }

    /// Wall time, in seconds since 1970-01-01T00:00:00Z.
    package var exportedAt: Double { didSet { exportedAt = exportedAt.asWallTime } }

    /// In how many places the recording was struck when the copy was begun; nil where nobody says. Not kept: by then, the ledger sees
    /// whether the copy has the text that there is now.
    package var struck: Int?

    /// - Parameter exportedAt: wall time in seconds since 1970-01-01T00:00:00Z; moved into the limits of
    ///   `Double.asWallTime`.
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

    /// The number of the entry in the history that tells of this copy; 0 where none does.
    package func number(in history: [HistoryEntry]) -> Int {
        history.last { $0.act == .copied && $0.folder == folder && $0.digest == digest }?.number ?? 0
    }
}

extension Array where Element == ExportEntry {
    /// The copies from before something was struck last in their recording. By the history, since a clock may have been wrong.
    package func beforeStrike(in history: [HistoryEntry]) -> [ExportEntry] {
        guard let strike = history.last(where: { $0.act == .struck })?.number else { return [] }
        return filter { $0.number(in: history) < strike }
    }
}

/// What is known of a sealed copy, which the recorder cannot open: all digests are SHA-256 in hexadecimal digits.
package struct SealedManifest: Hashable, Sendable {
    /// Of the sealed file, as it was read back.
    package var file: String
    /// The sealed file's length.
    package var bytes: Int64
    /// Of its first bytes, which no other sealed file has: by them it is known again without being read.
    package var head: String
    /// Of the SHA256SUMS inside, and so of each file.
    var plain: String
    /// Of what the copy was made of: another one is of another text, another sound or other settings.
    package var content: String
    /// Of the public keys that it was sealed for.
    package var recipients: String

    package init(file: String, bytes: Int64, head: String, plain: String, content: String, recipients: String) {
        self.file = file
        self.bytes = bytes
        self.head = head
        self.plain = plain
        self.content = content
        self.recipients = recipients
    }

    /// As the ledger keeps it.
    package var text: String {
        "sealed \(bytes) \([file, head, plain, content, recipients].joined(separator: " "))"
    }

    /// Reads what the ledger kept; nil for anything else.
    package init?(_ text: String) {
        let fields = text.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
        guard fields.count == 7, fields[0] == "sealed", let bytes = Int64(fields[1]), bytes > 0 else { return nil }
        let digests = fields.dropFirst(2)
        guard digests.allSatisfy({ $0.utf8.count == 64 && $0.allSatisfy(\.isHexDigit) }) else { return nil }
        self.init(
            file: fields[2], bytes: bytes, head: fields[3], plain: fields[4], content: fields[5], recipients: fields[6])
    }
}
