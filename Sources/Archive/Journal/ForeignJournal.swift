import Core

/// A journal in another recording's folder.
package struct ForeignJournal: Sendable {
    /// The recordings that the journal names; empty in old journals.
    package var recordings: Set<Int>
    /// The SHA-256 of its own recording's samples; nil if that recording was not signed.
    package var audioDigest: String?
    /// The lengths of its own recording; several if that recording was repaired.
    package var lengths: Set<SamplePosition>

    static func error(_ path: String, _ reason: String) -> DeviceError {
        DeviceError(
            .unsupported, "journal", cause: .foreignJournal, on: path, reason,
            remedy: "run fieldscribe recover, which sets it aside; then put it back where it belongs")
    }
}

extension SQLiteArchive {
    /// Returns what a refused journal says about the recording to which it belongs.
    package func foreignJournal(of recording: Int) throws -> ForeignJournal {
        let record = JournalRecord(try journal.readAny(recording).entries)
        return ForeignJournal(
            recordings: record.owner.numbers, audioDigest: record.owner.audioDigest, lengths: record.lengths)
    }

    /// Renames a refused journal. If the recording has a row, writes its own journal from the database.
    ///
    /// - Returns: The refused journal's new path; nil if there was no journal.
    package func setAsideJournal(of recording: Int) throws -> String? {
        let newPath = try journal.setAsideForeign(in: recording)
        guard try queries.recording(recording) != nil else { return newPath }
        try store(journalBytes: journal.write(journalEntries(of: recording), recording: recording), of: recording)
        return newPath
    }

    /// Refuses a journal that names no recording if its content belongs to another recording.
    ///
    /// - Parameter audio: The length of the recording's audio; nil if the audio is incomplete or its length is unknown.
    /// - Throws: `DeviceError` with the cause `foreignJournal`.
    func refuseIfForeign(_ record: JournalRecord, as recording: Int, audio: SamplePosition? = nil) throws {
        guard record.owner.numbers.isEmpty else { return }
        let path = journal.path(of: recording)
        if let audio, !record.lengths.isEmpty, !record.lengths.contains(audio) {
            throw ForeignJournal.error(path, "gives a different length from the audio beside it")
        }
        let copies = Set(record.exports.compactMap { Self.number(ofCopy: $0.folder) })
        if let other = copies.subtracting([recording]).min() {
            throw ForeignJournal.error(path, "lists copies of recording \(other)")
        }
        if let boot = record.start?.boot, let monotonic = record.start?.monotonic {
            let other = try connection.rows(
                "SELECT id FROM recording WHERE boot_id = ? AND monotonic_ns = ? AND id <> ?",
                [.text(boot), .integer(Int(monotonic)), .integer(recording)]
            ) { $0.integer(0) }.first
            if let other { throw ForeignJournal.error(path, "gives the same start as recording \(other)") }
        }
        let historyLengths = Set(
            try queries.history(of: recording).filter { $0.entry.act == .recorded }.compactMap(\.entry.length).map {
                SamplePosition(seconds: $0)
            })
        if !historyLengths.isEmpty, !record.lengths.isEmpty, historyLengths.isDisjoint(with: record.lengths) {
            throw ForeignJournal.error(path, "gives a different length from the history of recording \(recording)")
        }
    }

    /// Returns the number in the name of a copy's folder: 7 for `recorder/000007_2026-11-20_09-30-12`.
    private static func number(ofCopy folder: String) -> Int? {
        let digits = (folder.split(separator: "/").last ?? "").prefix { $0.isASCII && $0.isNumber }
        return digits.utf8.count >= 6 ? Int(digits) : nil
    }

    /// Returns the journal entry that names its recording; nil if the database has no such recording.
    func journalOwner(of recording: Int) throws -> JournalEntry? {
        guard let row = try queries.recording(recording) else { return nil }
        let signature = try queries.history(of: recording).map(\.entry).soundSignature
        return .recording(
            number: recording, startedAt: row.startedAt, sound: signature?.sound,
            length: signature?.length.map { SamplePosition(seconds: $0) })
    }
}
