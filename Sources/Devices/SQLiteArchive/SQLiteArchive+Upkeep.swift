import Core
import Platform

extension SQLiteArchive {
    /// Reads the whole database for damage.
    ///
    /// - Throws: `DeviceError` with `damaged`.
    package func check() throws { try Migrations.check(connection, path: "\(journal.root)/../archive.sqlite") }

    package func markMissing(recording: Int, _ isMissing: Bool) throws {
        let changed = try connection.run(
            "UPDATE recording SET state = ?2 WHERE id = ?1", .integer(recording),
            .text(isMissing ? "missing" : "present"))
        if changed == 0 { throw unknown(recording: recording) }
    }

    package func unverifiedStarts(inBoot boot: String) throws -> [BootedStart] {
        try connection.rows(
            """
            SELECT id, monotonic_ns FROM recording
            WHERE clock = 'unverified' AND boot_id = ? AND monotonic_ns IS NOT NULL ORDER BY id
            """, [.text(boot)]
        ) { BootedStart(recording: $0.integer(0), nanoseconds: Int64($0.integer(1))) }
    }

    package func redate(recording: Int, startedAt: Double) throws {
        try kept(.dated(startedAt: startedAt), recording: recording) {
            try connection.run(
                "UPDATE recording SET started_at = ?2, clock = 'synchronized' WHERE id = ?1", .integer(recording),
                .real(startedAt))
        }
    }

    package func delete(recordings: [Int]) throws {
        try connection.transaction {
            for recording in recordings {
                let gone = try connection.run("DELETE FROM recording WHERE id = ?", .integer(recording))
                guard gone > 0 else { continue }
                try connection.run(
                    "INSERT INTO erasure (recording, erased_at) VALUES (?, ?)", .integer(recording),
                    .real(MonotonicClock.wallSeconds))
            }
        }
        // The index keeps deleted words until its parts are merged, and the log keeps old pages until it is cut. Also
        // where no row is left: an erasure that was interrupted ends here.
        try connection.execute("INSERT INTO segment_text (segment_text) VALUES ('optimize')")
        let blocked = try connection.rows("PRAGMA wal_checkpoint(TRUNCATE)") { $0.integer(0) }
        guard blocked == [0] else {
            throw DeviceError(
                .busy, "PRAGMA wal_checkpoint",
                "the archive's log could not be emptied, so erased text may still be in it; delete again")
        }
    }

    package func exports(to volume: String) throws -> [ExportEntry] {
        try connection.rows(Self.exports + " WHERE volume = ? ORDER BY id", [.text(volume)], read: exportEntry)
    }

    package func exports(of recording: Int) throws -> [ExportEntry] {
        try connection.rows(
            Self.exports + " WHERE recording = ? ORDER BY id", [.integer(recording)], read: exportEntry)
    }

    package func add(_ entry: ExportEntry) throws {
        var counted = entry
        counted.pass = try entry.pass.map { try number(ofPass: $0, in: entry.recording) }
        try kept(.exported(content: counted), recording: entry.recording) {
            try insert(entry)
            return 1
        }
    }

    private static let exports = "SELECT recording, pass, volume, folder, manifest, exported_at FROM export"
}

private func exportEntry(_ row: Row) -> ExportEntry {
    ExportEntry(
        recording: row.integer(0), pass: row.isNull(1) ? nil : row.integer(1), volume: row.text(2),
        folder: row.text(3), manifest: row.text(4), exportedAt: row.real(5))
}
