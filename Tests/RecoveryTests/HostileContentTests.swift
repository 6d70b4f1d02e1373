import FoundationEssentials
import Glibc
import Testing
import TestKit

@testable import Archive
@testable import Audio
@testable import Core
@testable import Maintenance
@testable import Transcripts

/// Hostile content in the archive must not prevent a start or any command that shows it.
@Suite("Hostile content") struct HostileContentTests {
    private static let beganLine =
        #"{"began":{"clock":"synchronized","microphone":"m","monotonic":-9223372036854775808,"startedAt":1000}}"#

    private static func segment(_ range: String, word: String, voice: String = "null") -> String {
        #"{"segment":{"content":{"alternatives":[],"endedBy":"silence","id":1,"range":"# + range
            + #","voice":"# + voice + #","words":[{"confidence":"nan","range":"# + word
            + #","text":"kept"}]},"pass":1}}"#
    }

    private static let widestRange = #"{"end":9223372036854775807,"start":-9223372036854775808}"#
    private static let invertedRange = #"{"end":-9223372036854775808,"start":9223372036854775807}"#

    /// The lines of journals with valid syntax but impossible values.
    static let journals: [[String]] = [
        [beganLine, segment(widestRange, word: invertedRange)],
        [beganLine, segment(invertedRange, word: widestRange)],
        [
            beganLine,
            segment(
                #"{"start":0,"end":8000}"#, word: invertedRange,
                voice: #"{"pitch":1e19,"jitter":-1e300,"shimmer":1e300,"voicing":1e19}"#),
        ],
        [beganLine, #"{"gap":{"content":{"cause":"disk","range":"# + widestRange + "}}}"],
        [beganLine, #"{"gap":{"content":{"cause":"disk","range":"# + invertedRange + "}}}"],
        [beganLine, #"{"mark":{"content":{"position":9223372036854775807,"text":"far"}}}"#],
        [beganLine, #"{"ended":{"length":9223372036854775807,"reason":"button"}}"#],
        [beganLine.replacing("1000}", with: #""nan"}"#)], [beganLine.replacing("1000}", with: "1e300}")],
        [beganLine.replacing("1000}", with: "-1e300}")], [beganLine, #"{"dated":{"startedAt":"nan"}}"#],
        [
            beganLine,
            #"{"exported":{"content":{"exportedAt":"nan","folder":"f","manifest":"m","recording":1,"volume":"v"}}}"#,
        ],
        [
            beganLine,
            segment(#"{"start":0,"end":8000}"#, word: widestRange).replacing(
                #""id":1"#, with: #""id":9223372036854775807"#),
        ],
    ]

    private func expectUsable(_ storage: Storage, _ comment: Comment) async throws {
        let opened = try await Recovery.open(storage.configuration, depth: .everything)
        let archive = opened.archive
        _ = try await Verification(storage: storage.folder.path, archive: archive).run([])
        for recording in try await archive.recordings() {
            let (summary, timeline) = try #require(try await archive.transcript(of: recording.id), comment)
            #expect(summary.startedAt == summary.startedAt.asWallTime, comment)
            for format in TranscriptFormat.allCases { _ = try format.render(timeline) }
            _ = UncertainWord.worst(10, of: timeline.segments)
        }
        try await ClockCorrection.apply(to: archive, boot: "a-boot", isSynchronized: true)
        // New recordings and transcripts can still be stored.
        let id = try await archive.beginRecording(startedAt: 1, clock: .synchronized, microphone: "m")
        let pass = try await archive.beginPass(recording: id, engine: engine, profile: "live")
        try await archive.commit([RecoveryTests.segment(1, "more")], adaptation: nil, pass: pass, recording: id)
        #expect(try await archive.search("more", limit: 1).map(\.recording) == [id], comment)
    }

    @Test(
        "a journal with valid checksums but impossible values does not prevent a start, show or verify",
        arguments: journals.indices)
    func journal(index: Int) async throws {
        let storage = Storage()
        try await storage.record([.samples(numbered(16_000))], in: storage.archive())
        for suffix in ["", "-wal"] { unlink(storage.configuration.archivePath + suffix) }
        let lines = Self.journals[index].flatMap { Array(CRC32.text(of: $0.utf8).utf8) + Array(" \($0)\n".utf8) }
        try Data(lines).write(to: URL(filePath: "\(storage.folder.path)/recordings/000001/journal.jsonl"))
        try await expectUsable(storage, "\(Self.journals[index])")
    }

    static let rows = [
        "UPDATE recording SET started_at = 9e999",
        "UPDATE recording SET started_at = -1e300, monotonic_ns = 1 << 63, boot_id = 'a-boot', clock = 'unverified'",
        "UPDATE recording SET length_samples = 9223372036854775807, transcribed_samples = -9223372036854775808",
        "UPDATE recording SET journal_bytes = 9223372036854775807",
        """
        INSERT INTO recording (id, started_at, clock, microphone, boot_id, monotonic_ns, transcribed_samples)
        VALUES (9223372036854775807, 0, 'unverified', 'm', 'a-boot', 1, -1),
            (9223372036854775806, 0, 'unverified', 'm', 'a-boot', 1, -1),
            (-9223372036854775808, 0, 'unverified', 'm', 'a-boot', 1, -1)
        """,
        "UPDATE recording SET clock = 'x', stop_reason = 'x', state = 'x', microphone = char(0, 27)",
        "INSERT INTO gap (recording, start_sample, end_sample, cause) VALUES (1, -9223372036854775808, 9223372036854775807, 'x')",
        "INSERT INTO mark (recording, sample, text) VALUES (1, -9223372036854775808, char(27) || '[2J')",
        """
        INSERT INTO segment (pass, number, start_sample, end_sample, text, ended_by, pitch, jitter, shimmer, voicing,
            final_lowering)
        VALUES (1, 9223372036854775807, 9223372036854775806, 9223372036854775807, 'far', 'x', 1e19, -1e300, 9e999, 1e19, -9e999)
        """,
        "INSERT INTO word (segment, number, start_sample, end_sample, text, confidence) VALUES (1, -9223372036854775808, -9223372036854775808, 9223372036854775807, 'w', -9e999)",
        "INSERT INTO alternative (segment, number, text, confidence) VALUES (1, 9223372036854775807, 'a', 1e308)",
        "INSERT INTO export (recording, pass, volume, folder, manifest, exported_at) VALUES (1, 9223372036854775807, '', '', '', 9e999)",
    ]

    @Test("a row with impossible values does not prevent a start, show or verify", arguments: rows.indices)
    func row(index: Int) async throws {
        let storage = Storage()
        try await storage.record([.samples(numbered(16_000))], words: ["one", "two"], in: storage.archive())
        try alter(storage) { try $0.execute(Self.rows[index]) }
        try await expectUsable(storage, "\(Self.rows[index])")
    }

    /// Opens the database, changes it and closes it.
    private func alter(_ storage: Storage, _ body: (Connection) throws -> Void) throws {
        try body(Connection(path: storage.configuration.archivePath))
    }

    @Test(
        "a header that claims more audio than a file can hold is corrected to the file's length",
        arguments: [UInt64(1) << 63 - 1, 1 << 63 - 512, .max, 1 << 62])
    func longHeader(bytes: UInt64) async throws {
        let storage = Storage()
        try await storage.record([.samples(numbered(16_000))], isClosed: false, in: storage.archive())
        let path = storage.audio(1)
        try change(path) { content in
            // In RF64, a ds64 chunk in place of JUNK has the length of the samples.
            content.replaceSubrange(0..<4, with: Array("RF64".utf8))
            content.replaceSubrange(12..<16, with: Array("ds64".utf8))
            for byte in 0..<8 { content[28 + byte] = UInt8(truncatingIfNeeded: bytes >> UInt64(8 * byte)) }
            content.replaceSubrange(508..<512, with: [0xFF, 0xFF, 0xFF, 0xFF])
            // The file consists of whole blocks, as if the file system had added zeros.
            content += [UInt8](repeating: 0, count: 4_096 - content.count % 4_096)
        }
        #expect(
            try RecordingVerification(
                path: path, gaps: [Gap(SampleRange(SamplePosition(.min), SamplePosition(.max)), cause: .disk)]
            ).length > .zero)
        try await storage.recover()
        let verification = try RecordingVerification(path: path, gaps: [])
        #expect(verification.headerLength == verification.length && verification.length >= SamplePosition(16_000))
    }

    @Test("positions, ranges, confidences and voice measures are always clamped to valid values")
    func types() throws {
        let maximum = SamplePosition(.max)
        #expect(
            maximum + 1 == maximum && maximum + .max == maximum && SamplePosition(.min) - .max == SamplePosition(.min))
        #expect(maximum - SamplePosition(.min) == 2 * SamplePosition.maximumSamples)
        #expect(SamplePosition(seconds: .nan) == .zero && SamplePosition(seconds: 1e300) == maximum)
        let range = try JSONDecoder().decode(SampleRange.self, from: Data(Self.invertedRange.utf8))
        #expect(range.isEmpty && range.start == maximum)
        #expect(Word("w", range, confidence: .nan).confidence == 0 && Word("w", range, confidence: 7).confidence == 1)
        let voice = VoiceAnalytics(pitch: 1e19, jitter: .nan, shimmer: -1, voicing: .infinity, finalLowering: .nan)
        #expect([voice.pitch, voice.jitter, voice.shimmer, voice.voicing] == [8_000, 0, 0, 0])
        #expect(voice.finalLowering == nil)
        #expect(Int(nearest: .nan) == 0 && Int(nearest: 1e300) == .max && Int8(nearest: -1e3) == .min)
    }
}
