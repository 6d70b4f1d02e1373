import Glibc

@testable import Appliance
@testable import Archive
@testable import Audio
@testable import Copying
@testable import Core
@testable import Maintenance
@testable import Transcripts

/// Fuzzes the rows of an archive with any values that SQLite accepts. The archive is rendered in every format, copied,
/// verified and listed for review.
@_cdecl("LLVMFuzzerTestOneInput") public func fuzz(_ data: UnsafePointer<UInt8>, _ size: Int) -> CInt {
    var input = UnsafeBufferPointer(start: data, count: size)[...]
    do {
        try fixture.connection.execute("BEGIN IMMEDIATE")
        for _ in 0..<8 where !input.isEmpty { change(&input) }
        readArchive()
    } catch {}
    try? fixture.connection.execute("ROLLBACK")
    return 0
}

private struct Fixture {
    var connection: Connection
    var archive: SQLiteArchive
    var reader: RecordingReader
    var storage: String
}

/// An archive with one recording, without the triggers and constraints that reject impossible values.
// Safety: libFuzzer calls `fuzz` from one thread.
private nonisolated(unsafe) let fixture = {
    var template = Array("/dev/shm/fieldscribe-rows-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { fatalError("mkdtemp") }
    let storage = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    do {
        let connection = try Connection(path: "\(storage)/archive.sqlite")
        try Migrations.apply(to: connection, path: storage)
        for trigger in [
            "segments_are_in_order", "segment_never_changes", "word_never_changes", "alternative_never_changes",
            "segment_is_indexed", "segment_leaves_index",
        ] { try connection.execute("DROP TRIGGER \(trigger)") }
        try connection.execute(
            """
            PRAGMA ignore_check_constraints = ON; PRAGMA foreign_keys = OFF; PRAGMA synchronous = OFF;
            INSERT INTO recording (id, started_at, clock, microphone, length_samples) VALUES (1, 0, 'unverified', 'm', 16000);
            INSERT INTO pass (id, recording, engine, version, model, profile) VALUES (1, 1, 'e', 'v', 'm', 'live');
            """)
        for ordinal in 1...2 {
            try connection.execute(
                """
                INSERT INTO segment (id, pass, number, start_sample, end_sample, text, ended_by)
                VALUES (\(ordinal), 1, \(ordinal), \(ordinal * 100), \(ordinal * 100 + 50), 'a b', 'silence');
                INSERT INTO word (segment, number, start_sample, end_sample, text, confidence)
                VALUES (\(ordinal), 1, \(ordinal * 100), \(ordinal * 100 + 20), 'a', 0.5),
                    (\(ordinal), 2, \(ordinal * 100 + 20), \(ordinal * 100 + 50), 'b', 0.5);
                INSERT INTO alternative (segment, number, text, confidence) VALUES (\(ordinal), 1, 'c', 0.5);
                INSERT INTO gap (recording, start_sample, end_sample, cause) VALUES (1, \(ordinal), 9, 'disk');
                INSERT INTO mark (recording, sample, text) VALUES (1, \(ordinal), 'm');
                INSERT INTO export (recording, pass, volume, folder, manifest, exported_at) VALUES (1, 1, 'v', 'f', 'm', 0);
                """)
        }
        let folder = RecordingFolder(storage: storage, recording: 1)
        mkdir("\(storage)/recordings", 0o700)
        mkdir(folder.path, 0o700)
        let file = try WaveFile(new: folder.audio)
        let samples = [Int16](repeating: 5, count: 16_000)
        try samples.withUnsafeBufferPointer { try file.append($0) }
        return Fixture(
            connection: connection, archive: try SQLiteArchive(path: "\(storage)/other.sqlite"),
            reader: try RecordingReader(path: folder.audio), storage: storage)
    } catch { fatalError("\(error)") }
}()

private let columns = [
    (
        "recording",
        [
            "id", "started_at", "clock", "boot_id", "monotonic_ns", "microphone", "length_samples",
            "transcribed_samples", "stop_reason", "state", "journal_bytes",
        ]
    ),
    ("pass", ["engine", "version", "model", "profile", "complete", "channel"]),
    (
        "segment",
        [
            "number", "start_sample", "end_sample", "text", "ended_by", "pitch", "jitter", "shimmer", "voicing",
            "final_lowering",
        ]
    ),
    ("word", ["number", "start_sample", "end_sample", "text", "confidence", "is_spread"]),
    ("alternative", ["number", "text", "confidence"]), ("gap", ["start_sample", "end_sample", "cause"]),
    ("mark", ["sample", "text"]), ("export", ["recording", "pass", "volume", "folder", "manifest", "exported_at"]),
]

/// Changes one column as the input says: in all rows, or only in row 1. In the tables of words and alternatives, the
/// second choice is all rows of segment 1.
private func change(_ input: inout UnsafeBufferPointer<UInt8>.SubSequence) {
    let (table, names) = columns[Int(input.popFirst() ?? 0) % columns.count]
    let column = names[Int(input.popFirst() ?? 0) % names.count]
    let kind = input.popFirst() ?? 0
    let row =
        kind & 0x80 == 0 ? "" : table == "word" || table == "alternative" ? " WHERE segment = 1" : " WHERE rowid = 1"
    let sql = "UPDATE OR IGNORE \(table) SET \(column) = ?\(row)"
    let bits = (0..<8).reduce(UInt64(0)) { sum, _ in sum << 8 | UInt64(input.popFirst() ?? 0) }
    let value: SQLValue
    switch kind & 7 {
    case 0: value = .integer(Int64(bitPattern: bits))
    case 1: value = .real(Double(bitPattern: bits))
    case 2: value = .integer([Int64.min, .max, -1, 0, 1 << 46, 1 << 53][Int(bits % 6)])
    case 3: value = .real([Double.infinity, -.infinity, 1e19, -1e300, 5e-324, 1e300][Int(bits % 6)])
    case 4: value = .null
    default:
        value = .text(String(decoding: input.prefix(Int(bits % 40)), as: UTF8.self))
        input = input.dropFirst(Int(bits % 40))
    }
    _ = try? fixture.connection.run(sql, value)
}

/// Reads everything in the archive, as commands do.
private func readArchive() {
    let queries = ArchiveQueries(connection: fixture.connection)
    _ = try? queries.unfinished()
    for summary in (try? queries.recordings()) ?? [] {
        guard (try? queries.recording(summary.id)) != nil else { fatalError("\(summary.id) is listed but not found") }
    }
    _ = try? queries.exports(of: 1)
    _ = try? queries.passes(of: 1).map { $0.lastSegment + 1 }
    guard let (summary, timeline) = try? queries.transcript(of: 1) else { return }
    // Clients of the control socket get an equal summary, and a timeline that can be rendered, too.
    guard let received = try? ControlLine.decode(Timeline.self, from: ControlLine.encode(timeline)),
        (try? ControlLine.decode(RecordingSummary.self, from: ControlLine.encode(summary))) == summary
    else { fatalError("cannot be sent over the socket") }
    for timeline in [timeline, received] {
        for format in TranscriptFormat.allCases {
            guard (try? format.render(timeline)) != nil else { fatalError("cannot be rendered as \(format)") }
        }
        _ = UncertainWord.worst(20, of: timeline.segments)
        _ = transcriptionProgress(timeline)
    }
    let folder = RecordingFolder(storage: fixture.storage, recording: 1)
    let verification = Verification(storage: fixture.storage, archive: fixture.archive)
    _ = verification.check(timeline, of: summary, folder)
    _ = verification.checkAudio(summary, folder, timeline)
    var texts = IndexTexts()
    texts.add(summary, timeline)
    let copy = RecordingCopy(
        summary: summary, timeline: timeline,
        settings: CopySettings(
            formats: TranscriptFormat.allCases, audio: .flac, device: DeviceName(madeOf: "d"), volume: "v", now: 0),
        source: fixture.reader, length: SamplePosition(16_000), shouldStop: { false }, progress: { _ in })
    _ = CopyName(summary)
    _ = summary.powerOn?.text
    guard (try? copy.textDigest()) != nil, (try? copy.expectedBytes()) ?? -1 >= 0 else {
        fatalError("cannot be copied")
    }
}
