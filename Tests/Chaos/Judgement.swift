internal import CSQLite
import FoundationEssentials
import Glibc

/// An event that `record --json` printed.
struct ReportedEvent: Decodable, Sendable {
    var event: String
    var recording: Int?
    var segment: Int?
    var start: Double?
    var end: Double?
    var text: String?

    /// Returns the events in a program's output, without an incomplete last line.
    static func events(in output: String) -> [ReportedEvent] {
        output.split(separator: "\n", omittingEmptySubsequences: false).dropLast().compactMap {
            try? JSONDecoder().decode(ReportedEvent.self, from: Data($0.utf8))
        }
    }
}

/// Checks a storage folder after a fault, with the commands of the executable.
struct Judgement: Sendable {
    /// A segment that was reported as committed.
    struct Segment: Hashable, Sendable {
        var recording: Int
        var id: Int
        var start: Double
        var end: Double
        var text: String

        init?(_ reported: ReportedEvent) {
            guard reported.event == "final", let recording = reported.recording, let id = reported.segment,
                let start = reported.start, let end = reported.end, let text = reported.text
            else { return nil }
            (self.recording, self.id, self.start, self.end, self.text) = (recording, id, start, end, text)
        }
    }

    private struct ShownRecording: Decodable {
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

    /// The number of committed segments that are missing or different.
    var lostSegments = 0
    /// The total duration of gaps in the last recording, in seconds.
    var gapSeconds = 0.0
    /// The problem with the archive; nil if there is none.
    var archiveProblem: String?

    /// Recovers the archive if the executable can, and compares the archive with the reported events.
    ///
    /// - Parameters:
    ///   - committed: the reported segments of all recordings in this folder.
    ///   - last: the recording whose gaps are added up; nil for none.
    init(_ storage: String, committed: Set<Segment>, last: Int?, on bench: Bench) {
        let options = ["--directory", storage, "--config", "\(bench.folder)/usual.conf"]
        guard access("\(storage)/archive.sqlite", F_OK) == 0 else {
            lostSegments = committed.count
            return
        }
        if bench.supportsRecover {
            let command = [bench.fieldscribe, "recover", "--no-transcribe"] + options
            let result = Program.run(command, in: bench.folder)
            if result.status != 0 { archiveProblem = "recover exited with status \(result.status): \(result.errors)" }
        }
        let list = Program.run([bench.fieldscribe, "list", "--json"] + options, in: bench.folder)
        if list.status != 0 {
            archiveProblem = archiveProblem ?? "list exited with status \(list.status): \(list.errors)"
        }
        if bench.supportsVerify {
            let result = Program.run([bench.fieldscribe, "verify", "--json"] + options, in: bench.folder)
            if result.status != 0 {
                archiveProblem = archiveProblem ?? "verify exited with status \(result.status): \(result.output)"
            }
        }
        archiveProblem = archiveProblem ?? Self.integrityProblem("\(storage)/archive.sqlite")
        for recording in Set(committed.map(\.recording) + (last.map { [$0] } ?? [])) {
            let command = [bench.fieldscribe, "show", "\(recording)", "--format", "json"] + options
            let shown = try? JSONDecoder().decode(
                ShownRecording.self, from: Data(Program.run(command, in: bench.folder).output.utf8))
            if recording == last { gapSeconds = shown?.gaps.reduce(0) { $0 + $1.end - $1.start } ?? 0 }
            for segment in committed where segment.recording == recording {
                let exists = shown?.segments.contains {
                    $0.id == segment.id && $0.start == segment.start && $0.end == segment.end
                        && $0.text == segment.text
                }
                if exists != true { lostSegments += 1 }
            }
        }
    }

    /// Returns the first problem that SQLite's `integrity_check` finds in a database; nil if it finds none.
    private static func integrityProblem(_ path: String) -> String? {
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
        let result = String(cString: text)
        return result == "ok" ? nil : "integrity_check: \(result)"
    }
}
