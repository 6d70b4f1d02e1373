import FoundationEssentials
import Glibc
import Testing

@testable import Archive
@testable import Core

@Suite("Maintenance of the archive") struct MaintenanceTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test("recordings made before the clock was set are numbered since power-on")
    func powerOns() async throws {
        do {
            let connection = try Connection(path: folder.archive)
            try Migrations.apply(to: connection, path: folder.archive)
            try connection.execute(
                """
                INSERT INTO recording (id, started_at, clock, microphone, boot_id, monotonic_ns)
                    VALUES (1, 1, 'unverified', '', 'a', 11520000000000), (2, 1, 'unverified', '', 'b', 40000000000),
                        (3, 1, 'unverified', '', 'a', 11640000000000), (4, 1, 'synchronized', '', 'a', 12000000000000),
                        (5, 1, 'unverified', '', NULL, NULL), (6, 1, 'unverified', '', 'b', -1),
                        (7, 1, 'unverified', '', 'b', 9223372036854775807);
                """)
            connection.keepLog(false)
        }
        let archive = try SQLiteArchive(path: folder.archive)
        let expected: [String?] = [
            "1st recording since power-on, 3 h 12 min after it", "1st recording since power-on, 40 s after it",
            "2nd recording since power-on, 3 h 14 min after it", nil, nil, nil,
            "3rd recording since power-on, 2562047 h 47 min after it",
        ]
        #expect(try await archive.recordings().map { $0.powerOn?.text } == expected)
        for (index, text) in expected.enumerated() {
            #expect(try await archive.transcript(of: index + 1)?.0.powerOn?.text == text)
        }
    }

    @Test("a recording keeps its number since power-on when others are erased, even in a rebuilt database")
    func stableOrdinals() async throws {
        func ordinals(_ archive: SQLiteArchive) async throws -> [Int: Int] {
            var ordinals: [Int: Int] = [:]
            for recording in try await archive.recordings() {
                ordinals[recording.id] = recording.powerOn?.order
                let powerOn = try await archive.transcript(of: recording.id)?.0.powerOn
                #expect(powerOn == recording.powerOn)
            }
            return ordinals
        }
        func begin(_ archive: SQLiteArchive) async throws {
            let id = try await archive.beginRecording(startedAt: 0, clock: .unverified, microphone: "")
            try await archive.endRecording(id, length: SamplePosition(16_000), reason: .button)
        }
        func erase(_ id: Int, in archive: SQLiteArchive) async throws {
            try await archive.delete(recordings: [id])
            try FileManager.default.removeItem(atPath: "\(folder.path)/recordings/00000\(id)")
        }
        do {
            let archive = try SQLiteArchive(path: folder.archive)
            for _ in 1...4 { try await begin(archive) }
            #expect(try await ordinals(archive) == [1: 1, 2: 2, 3: 3, 4: 4])
            try await erase(2, in: archive)
            #expect(try await ordinals(archive) == [1: 1, 3: 3, 4: 4])
            try await erase(4, in: archive)
            try await begin(archive)
            try await erase(1, in: archive)
            #expect(try await ordinals(archive) == [3: 3, 5: 5])
            // A recording without sound is discarded, but still counts.
            let empty = try await archive.beginRecording(startedAt: 0, clock: .unverified, microphone: "")
            try await begin(archive)
            try await archive.discard(recording: empty)
            #expect(try await ordinals(archive) == [3: 3, 5: 5, 7: 7])
        }
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) where name.hasPrefix("archive") {
            try FileManager.default.removeItem(atPath: "\(folder.path)/\(name)")
        }
        let rebuilt = try await SQLiteArchive.openCatchingUp(path: folder.archive).archive
        #expect(try await ordinals(rebuilt) == [3: 3, 5: 5, 7: 7])
    }

    @Test("the default pass is the latest, but complete passes, passes with text and passes without errors come first")
    func bestPass() async throws {
        let archive = try SQLiteArchive(path: folder.archive)
        let (id, first) = try await archive.record("first")
        let second = try await archive.beginPass(recording: id, engine: engine, profile: "final")
        #expect(try await archive.shownPass(of: id)?.id == first)
        try await archive.commit(segment(1, at: 0, "second"), pass: second, recording: id)
        #expect(try await archive.shownPass(of: id)?.id == second)
        try await archive.endPass(first, recording: id)
        #expect(try await archive.shownPass(of: id)?.id == first)
        #expect(try await archive.search("second", limit: 9).isEmpty)
        #expect(try await archive.transcript(of: id)?.1.segments.map(\.text) == ["first"])
        try await archive.endPass(second, recording: id)
        #expect(try await archive.search("second", limit: 9).count == 1)
        #expect(try await archive.search("first", limit: 9).isEmpty)
        #expect(await failure { try await archive.endPass(second, recording: 99) }?.code == .missing)
        // A pass whose workers crashed does not hide the text of an earlier pass.
        let third = try await archive.beginPass(recording: id, engine: engine, profile: "final")
        var failedSegment = segment(1, at: 0, "")
        failedSegment.endedBy = .error
        try await archive.commit(failedSegment, pass: third, recording: id)
        try await archive.endPass(third, recording: id)
        #expect(try await archive.shownPass(of: id)?.id == second)
        #expect(try await archive.search("second", limit: 9).count == 1)
        let adaptation = AdaptationState(
            .object(["cepstralMean": .array([.number(41.25), .number(-5.5)]), "warp": .number(1.08)]))
        try await archive.commit(segment(2, at: 20_000, "more"), adaptation: adaptation, pass: third, recording: id)
        try await archive.commit(segment(3, at: 40_000, "and more"), pass: third, recording: id)
        let passes = try await archive.passes(of: id)
        #expect(passes.map(\.adaptation) == [nil, nil, adaptation])
        #expect(passes.map(\.lastSegment) == [1, 1, 3])
        #expect(passes.map(\.committedUpTo.samples) == [1000, 1000, 42_000])
        // Swift 6.0's JSONDecoder would crash on such a key.
        try await archive.execute(#"UPDATE pass SET channel = '{"a\x":1}' WHERE channel IS NOT NULL"#)
        #expect(try await archive.passes(of: id).map(\.adaptation) == [nil, nil, nil])
    }

    @Test("of segments that are committed together, the archive and the journal store either all or none")
    func atomicCommit() async throws {
        let archive = try SQLiteArchive(path: folder.archive)
        let (id, pass) = try await archive.record("one")
        let adaptation = AdaptationState(.object(["cepstralMean": .array([.number(1)])]))
        let journal = folder.path + "/recordings/000001/journal.jsonl"
        let before = try Data(contentsOf: URL(filePath: journal))
        // The last segment overlaps the previous one.
        let invalid = [
            segment(2, at: 100_000, "two"), segment(3, at: 200_000, "three"), segment(4, at: 200_500, "four"),
        ]
        let error = await failure {
            try await archive.commit(invalid, adaptation: adaptation, pass: pass, recording: id)
        }
        #expect(error != nil)
        #expect(try await archive.transcript(of: id)?.1.segments.map(\.text) == ["one"])
        #expect(try Data(contentsOf: URL(filePath: journal)) == before)
        #expect(try await archive.passes(of: id).map(\.adaptation) == [nil])
        let valid = Array(invalid.prefix(2))
        try await archive.commit(valid, adaptation: adaptation, pass: pass, recording: id)
        try await archive.commit([], adaptation: nil, pass: pass, recording: id)
        #expect(try await archive.transcript(of: id)?.1.segments.map(\.text) == ["one", "two", "three"])
        #expect(try await archive.passes(of: id).map(\.adaptation) == [adaptation])
        #expect(try await archive.journalFindings(of: id) == (0, false))
    }

    @Test("erased text is in none of the archive's files, and other recordings stay")
    func erasedText() async throws {
        let archive = try SQLiteArchive(path: folder.archive)
        let names = (1...40).map { "canary\($0)zebra" }
        let (otherID, _) = try await archive.record("neighbour")
        var erasedIDs: [Int] = []
        for name in names {
            let (id, pass) = try await archive.record(name)
            var lastSegment = segment(7, at: 700_000, "more \(name)")
            lastSegment.alternatives = [Alternative(text: "other\(name)", confidence: 0.5)]
            try await archive.commit(lastSegment, pass: pass, recording: id)
            try await archive.add(Bookmark(.zero, text: "mark\(name)"), recording: id)
            erasedIDs.append(id)
        }
        func occurrences() throws -> Int {
            try ["", "-wal"].filter { access(folder.archive + $0, F_OK) == 0 }.reduce(0) { count, suffix in
                let bytes = try Data(contentsOf: URL(filePath: folder.archive + suffix))
                return count + (bytes.firstRange(of: Data("zebra".utf8)) == nil ? 0 : 1)
                    + (bytes.firstRange(of: Data("canary".utf8)) == nil ? 0 : 1)
            }
        }
        #expect(try occurrences() > 0)
        try await archive.delete(recordings: erasedIDs)
        #expect(try occurrences() == 0)
        #expect(try await archive.recordings().map(\.id) == [otherID])
        #expect(try await archive.search("neighbour", limit: 9).count == 1)
        #expect(try await archive.search("canary", limit: 9).isEmpty)
        #expect(try await archive.count("SELECT count(*) FROM erasure") == 40)
        try await archive.execute("INSERT INTO segment_text (segment_text) VALUES ('integrity-check')")
        // Missing recordings count as erased.
        try await archive.delete(recordings: erasedIDs)
        #expect(try await archive.count("SELECT count(*) FROM erasure") == 40)
    }

    @Test("copies are listed by volume and by recording, and erased with their recording")
    func ledger() async throws {
        let archive = try SQLiteArchive(path: folder.archive)
        let (first, pass) = try await archive.record("one")
        let (second, _) = try await archive.record("two")
        let entries = [(first, pass as Int?, "a"), (second, nil, "a"), (first, pass, "b")].map {
            ExportEntry(recording: $0, pass: $1, volume: $2, folder: "x", manifest: "m", exportedAt: 3)
        }
        for entry in entries { try await archive.add(entry) }
        #expect(try await archive.exports(to: "a") == [entries[0], entries[1]])
        #expect(try await archive.exports(of: first) == [entries[0], entries[2]])
        try await archive.delete(recordings: [first])
        #expect(try await archive.exports(to: "a") == [entries[1]])
        #expect(await failure { try await archive.add(entries[0]) }?.code == .missing)
    }

    @Test("a start before the clock was set is found by its boot")
    func unverifiedStarts() async throws {
        let archive = try SQLiteArchive(path: folder.archive)
        let id = try await archive.beginRecording(startedAt: 0, clock: .unverified, microphone: "")
        let boot = try #require(
            try? String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8).prefix(36))
        let starts = try await archive.unverifiedStarts(inBoot: boot.filter { $0 != "-" })
        #expect(starts.map(\.recording) == [id])
        #expect(starts.allSatisfy { $0.nanoseconds > 0 })
        #expect(try await archive.unverifiedStarts(inBoot: "another").isEmpty)
    }
}
