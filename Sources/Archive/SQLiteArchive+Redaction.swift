import Core

extension SQLiteArchive {
    /// Erases the text in redacted ranges from all passes, bookmarks, the index and the journal. Can be repeated after
    /// an interruption. Segments keep their numbers and ranges.
    package func redact(recording: Int) async throws {
        if erasing.contains(recording) { throw notFound(recording: recording) }
        // A sealed recording's journal must not contain text again.
        try refuseSealed(recording)
        try connection.transaction {
            let ranges = try queries.gaps(of: recording).redacted
            guard !ranges.isEmpty else { return }
            for pass in try queries.passes(of: recording) { try redact(ranges, pass: pass, recording: recording) }
            for mark in try queries.marks(of: recording) where mark.redacted(ranges) != mark {
                try connection.run(
                    "DELETE FROM mark WHERE recording = ? AND sample = ? AND text = ?", .integer(recording),
                    .position(mark.position), .text(mark.text))
                _ = try insert(mark.redacted(ranges), recording: recording)
            }
            if let speakers = try queries.speakers(of: recording) {
                try replace(speakers.without(ranges), recording: recording)
            }
            // Copies made before the redaction no longer count, so that the recording is not erased because of them.
            try connection.run("UPDATE export SET pass = NULL WHERE recording = ?", .integer(recording))
            try store(journalBytes: journal.replace(journalEntries(of: recording), recording: recording), of: recording)
        }
        try await scrub()
    }

    /// Replaces the segments of a pass, from the first one with redacted words on. Segments cannot be changed and must
    /// be inserted in order, so later segments are inserted again.
    private func redact(_ ranges: [SampleRange], pass: PassSummary, recording: Int) throws {
        let segments = try queries.segments(ofPass: pass.id)
        if let first = segments.first(where: { $0.redacted(ranges) != $0 }) {
            try connection.run(
                "DELETE FROM segment WHERE pass = ? AND number >= ?", .integer(pass.id), .integer(first.id))
            for segment in segments where segment.id >= first.id {
                try insert(segment.redacted(ranges), pass: pass.id, recording: recording)
            }
        }
        if let correction = pass.correction, correction.redacted(ranges) != correction {
            try connection.run(
                "UPDATE pass SET correction = ?2 WHERE id = ?1", .integer(pass.id),
                .text(try correction.redacted(ranges).json()))
        }
    }
}
