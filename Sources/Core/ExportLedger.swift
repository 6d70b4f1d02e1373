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

    /// The pass whose text was copied; nil for audio without text.
    package var pass: Int?

    /// The volume's own identifier.
    package var volume: String

    /// The folder's name on it.
    package var folder: String

    /// SHA-256 of its SHA256SUMS, in hexadecimal digits.
    package var manifest: String

    /// Wall time, in seconds since 1970-01-01T00:00:00Z.
    package var exportedAt: Double { didSet { exportedAt = exportedAt.asWallTime } }

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
}
