import Core
import System
import Transcripts

/// The corrections of a recording: changes to the recognized text, and differences between people's corrections.
struct CorrectionList {
    let archive: any ArchiveReading
    let punctuator: Punctuator
    let recording: Int

    private struct Row: Encodable {
        var segment: Int
        var start: Double
        var end: Double
        var was: String
        var now: String
        /// Who corrected it; empty if unknown.
        var person: String
        /// The other person, if `was` is another person's correction.
        var differsFrom: String?
    }

    func print(_ format: TranscriptFormat) async throws {
        let passes = try await archive.passes(of: recording)
        guard let shownPass = try await archive.shownPass(of: recording) else {
            throw DeviceError.noRecording(recording, "show")
        }
        var rows: [Row] = []
        if let correction = shownPass.correction, let original = passes.enginePass(under: shownPass) {
            rows += try await self.rows(from: original.id, to: shownPass.id, correction.person)
            // Each other person's latest correction.
            var people: Set<String> = [correction.person]
            for pass in passes.reversed() {
                guard let other = pass.correction, people.insert(other.person).inserted else { continue }
                rows += try await self.rows(
                    from: pass.id, to: shownPass.id, correction.person, other: other.person)
            }
        }
        if format == .json { return try Terminal.print(jsonText(rows)) }
        if rows.isEmpty { return Terminal.say("recording \(recording) has not been corrected") }
        for row in rows {
            let time = RecordingScreen.clock(seconds: row.start)
            let other = row.differsFrom.map { "  (differs from \($0.isEmpty ? "another person" : $0))" } ?? ""
            try Terminal.print("\(time)  \(Self.quoted(row.was)) -> \(Self.quoted(row.now))\(other)\n")
        }
    }

    private func rows(from old: Int, to new: Int, _ person: String, other: String? = nil) async throws -> [Row] {
        guard let (_, before) = try await archive.transcript(of: recording, pass: old),
            let (_, after) = try await archive.transcript(of: recording, pass: new)
        else { return [] }
        let changes = WordChange.changes(from: try punctuator.punctuated(before).segments, to: after.segments)
        return changes.map {
            Row(
                segment: $0.segment, start: $0.range.start.seconds, end: $0.range.end.seconds,
                was: $0.was.joined(separator: " "), now: $0.now.joined(separator: " "), person: person,
                differsFrom: other)
        }
    }

    private static func quoted(_ text: String) -> String { text.isEmpty ? "nothing" : "\"\(oneLine(text))\"" }
}
