internal import CSQLite
import FoundationEssentials
import Glibc

/// An event that `record --json` printed.
struct Told: Decodable, Sendable {
    var event: String
    var recording: Int?
    var segment: Int?
    var start: Double?
    var end: Double?
    var text: String?

    /// The events in a program's output, without an incomplete last line.
    static func events(in output: String) -> [Told] {
        output.split(separator: "\n", omittingEmptySubsequences: false).dropLast().compactMap {
            try? JSONDecoder().decode(Told.self, from: Data($0.utf8))
        }
    }
}

/// The contents of a damaged storage folder, as the executable shows them.
struct Judgement: Sendable {
    /// A segment that was reported as committed.
    struct Segment: Hashable, Sendable {
        var recording: Int
        var number: Int
        var start: Double
        var end: Double
        var text: String

        init?(_ reported: Told) {
            guard reported.event == "final", let recording = reported.recording, let number = reported.segment,
                let start = reported.start, let end = reported.end, let text = reported.text
            else { return nil }
            (self.recording, self.number, self.start, self.end, self.text) = (recording, number, start, end, text)
        }
    }

    private struct Shown: Decodable {
        struct Segment: Decodable {
            var id: Int
            var start: Double
            var end: Double
            var text: String
        }
        struct Gap: Decodable {
            var start: Double
            var end: Double
        }

        var segments: [Segment]
        var gaps: [Gap]
    }

    /// Committed segments that are missing or differ.
    var lostSegments = 0
    /// Seconds in rows of gaps of the last recording.
    var gapSeconds = 0.0
    /// The problem with the archive; nil without one.
    var archive: String?

    /// Recovers if the executable supports it, and compares the archive with the reported events.
    ///
    /// - Parameter committed: reported segments of any recordings in this folder.
    init(_ storage: String, committed: Set<Segment>, last: Int?, on bench: Bench) {
        let usual = ["--directory", storage, "--config", "\(bench.folder)/usual.conf"]
        guard access("\(storage)/archive.sqlite", F_OK) == 0 else {
            lostSegments = committed.count
            return
        }
        if bench.recovers {
            let words = [bench.fieldscribe, "recover", "--no-transcribe"] + usual
            let ending = Program.run(words, in: bench.folder)
            if ending.status != 0 { archive = "recover ended with \(ending.status): \(ending.errors)" }
        }
        let list = Program.run([bench.fieldscribe, "list", "--json"] + usual, in: bench.folder)
        if list.status != 0 { archive = archive ?? "list ended with \(list.status): \(list.errors)" }
        if bench.verifies {
            let ending = Program.run([bench.fieldscribe, "verify", "--json"] + usual, in: bench.folder)
            if ending.status != 0 { archive = archive ?? "verify ended with \(ending.status): \(ending.output)" }
        }
        if let complaint = Self.integrity("\(storage)/archive.sqlite") { archive = archive ?? complaint }
        for recording in Set(committed.map(\.recording) + (last.map { [$0] } ?? [])) {
            let words = [bench.fieldscribe, "show", "\(recording)", "--format", "json"] + usual
            let shown = try? JSONDecoder().decode(
                Shown.self, from: Data(Program.run(words, in: bench.folder).output.utf8))
            if recording == last { gapSeconds = shown?.gaps.reduce(0) { $0 + $1.end - $1.start } ?? 0 }
            for segment in committed where segment.recording == recording {
                let isThere = shown?.segments.contains {
                    $0.id == segment.number && $0.start == segment.start && $0.end == segment.end
                        && $0.text == segment.text
                }
                if isThere != true { lostSegments += 1 }
            }
        }
    }

    /// SQLite's error for a database; nil without one.
    static func integrity(_ path: String) -> String? {
        var database: OpaquePointer?
        var statement: OpaquePointer?
        defer {
            sqlite3_finalize(statement)
            sqlite3_close_v2(database)
        }
        guard sqlite3_open_v2(path, &database, SQLITE_OPEN_READWRITE, nil) == SQLITE_OK,
            sqlite3_prepare_v2(database, "PRAGMA integrity_check", -1, &statement, nil) == SQLITE_OK,
            sqlite3_step(statement) == SQLITE_ROW, let text = sqlite3_column_text(statement, 0)
        else { return "integrity_check: \(String(cString: sqlite3_errmsg(database)))" }
        let answer = String(cString: text)
        return answer == "ok" ? nil : "integrity_check: \(answer)"
    }
}
