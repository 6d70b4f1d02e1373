import FoundationEssentials
import Glibc
import Testing
import TestKit

@testable import Archive
@testable import Core

/// Recovers archives after random damage, as on a bad card. `FIELDSCRIBE_SEEDS` sets the number of runs, by default 60.
/// `FIELDSCRIBE_SEED` repeats the run of a seed that a failed test reported.
@Suite("A start on a damaged card") struct CorruptionTests {
    private struct AppliedDamage {
        var file: String
        var description: String
    }

    private static let seeds = getenv("FIELDSCRIBE_SEEDS").flatMap { UInt64(String(cString: $0)) } ?? 60

    /// Creates two archives of three recordings with transcripts: one as after a power cut, with the database's
    /// write-ahead log, and one that was closed.
    private func makeArchives() async throws -> [Storage] {
        let closed = Storage()
        let cut = Storage()
        func write() async throws {
            let archive = try closed.archive()
            for id in 1...3 {
                let words = (1...20).map { "word\(id)x\($0)" }
                try await closed.record(
                    [.samples(numbered(24_000 + id))], words: words, isClosed: id < 3, in: archive)
            }
            try copy(closed, to: cut)
        }
        try await write()
        return [cut, closed]
    }

    private func copy(_ storage: Storage, to target: Storage) throws {
        try FileManager.default.removeItem(atPath: target.folder.path)
        try FileManager.default.copyItem(atPath: storage.folder.path, toPath: target.folder.path)
    }

    private func files(_ root: String) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: root).filter { name in
            var status = stat()
            return stat("\(root)/\(name)", &status) == 0 && status.st_mode & S_IFMT == S_IFREG
        }.sorted()
    }

    /// Damages a random file: flips bits, truncates it, zeroes a block, deletes a write-ahead log, or replaces it with
    /// a file of the same kind, usually from another recording.
    private func damage(_ root: String, with random: inout SeededGenerator) throws -> AppliedDamage {
        let candidates = try files(root).filter { !$0.hasSuffix("-shm") }
        guard let name = candidates.randomElement(using: &random) else {
            return AppliedDamage(file: "", description: "nothing")
        }
        let path = "\(root)/\(name)"
        var bytes = try bytes(path)
        guard !bytes.isEmpty else { return AppliedDamage(file: name, description: "nothing") }
        let description: String
        switch Int.random(in: 0..<10, using: &random) {
        case 0..<5:
            // Half of the time, the damage is in the first kilobyte, which has the headers.
            let end = Bool.random(using: &random) ? min(1024, bytes.count) : bytes.count
            let count = Int.random(in: 1...64, using: &random)
            for _ in 0..<count {
                bytes[Int.random(in: 0..<end, using: &random)] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            }
            description = "\(count) bits before \(end)"
        case 5..<7:
            let remaining = Int.random(in: 0..<bytes.count, using: &random)
            bytes.removeLast(bytes.count - remaining)
            description = "truncated to \(remaining)"
        case 7..<9:
            let start = Int.random(in: 0..<bytes.count, using: &random) / 4096 * 4096
            for index in start..<min(bytes.count, start + 4096) { bytes[index] = 0 }
            description = "zeroes from \(start)"
        default:
            if name.hasSuffix("-wal") {
                unlink(path)
                return AppliedDamage(file: name, description: "deleted")
            }
            let replacement = candidates.filter { $0.split(separator: "/").last == name.split(separator: "/").last }
                .randomElement(using: &random)
            if let replacement { bytes = try RecoveryTests.bytes("\(root)/\(replacement)") }
            description = "replaced by \(replacement ?? "")"
        }
        try Data(bytes).write(to: URL(filePath: path))
        return AppliedDamage(file: name, description: description)
    }

    @Test("A flipped bit in an index does not hide a segment")
    func index() async throws {
        let storage = try await makeArchives()[1]
        let path = storage.configuration.archivePath
        let root = try Connection(onlyReading: path).number(
            "SELECT rootpage FROM sqlite_schema WHERE name = 'sqlite_autoindex_segment_1'")
        var bytes = try RecoveryTests.bytes(path)
        // SQLite's record of (pass 3, segment 13, row 53): the header's length, three types, three values.
        let record: [UInt8] = [4, 1, 1, 1, 3, 13, 53]
        let page = (root - 1) * 4096..<root * 4096
        let start = try #require(page.first { bytes[$0...].starts(with: record) })
        bytes[start + 4] ^= 64
        try Data(bytes).write(to: URL(filePath: path))
        try await storage.recover(.start)
        #expect(try await storage.archive().transcript(of: 3)?.1.segments.count == 20)
    }

    @Test("A full-text index without its version counts as damaged")
    func indexVersion() async throws {
        let storage = try await makeArchives()[1]
        let path = storage.configuration.archivePath
        do { try Connection(path: path).execute("UPDATE segment_text_config SET v = 0 WHERE k = 'version'") }
        let findings = try await storage.recover(.start)
        #expect(findings.contains { $0.file == path })
        #expect(try await storage.archive().transcript(of: 3)?.1.segments.count == 20)
    }

    @Test("Every start succeeds, every intact sample can be read, and no file is deleted")
    func seeds() async throws {
        let archives = try await makeArchives()
        let firstSeed = SeededGenerator().seed
        print("corruption: \(Self.seeds) seeds from \(firstSeed)")
        var rebuiltCount = 0
        var unchangedCount = 0
        for seed in 0..<Self.seeds {
            var random = SeededGenerator(seed: firstSeed &+ seed)
            let storage = Storage()
            let root = storage.folder.path
            try copy(archives[Int(seed % 2)], to: storage)
            let damage = try damage(root, with: &random)
            let label: Comment = "seed \(firstSeed &+ seed): \(damage.file): \(damage.description)"
            let before = try files(root).filter { !$0.hasPrefix("archive.sqlite") }
            var contents: [String: [UInt8]] = [:]
            for name in before { contents[name] = try bytes("\(root)/\(name)") }

            let findings: [StorageFinding]
            do { findings = try await storage.recover(Bool.random(using: &random) ? .everything : .start) } catch {
                Issue.record("\(label): \(error)")
                continue
            }
            if findings.contains(where: { $0.file.hasSuffix("archive.sqlite") && $0.recording == nil }) {
                rebuiltCount += 1
            }
            #expect(Set(before).isSubset(of: try files(root)), label)
            for (name, old) in contents where name.hasSuffix("audio.wav") {
                let now = try bytes("\(root)/\(name)")
                // Everything except the header and half a sample is unchanged. An interrupted recording may lose zeros
                // at its end, because they may never have been written.
                let original = old.dropFirst(512).prefix(max(0, old.count - 512) & ~1)
                let isUnchanged = original.starts(with: now.dropFirst(512))
                #expect(isUnchanged, label)
                let missing = original.dropFirst(now.count - 512)
                let wasCut = name == "recordings/000003/audio.wav"
                let isDropped = missing.count <= (wasCut ? 4_096 : 0) && missing.allSatisfy { $0 == 0 }
                // If a file was replaced by a longer one with the same beginning, the rest counts as appended audio.
                let surplus = try? bytes("\(root)/\(name).surplus-1")
                #expect(isDropped || surplus?.starts(with: missing) == true, label)
                #expect(try samples(of: "\(root)/\(name)").count == (now.count - 512) / 2, label)
            }
            let archive = try storage.archive()
            #expect(try await archive.recordings().map(\.id) == [1, 2, 3], label)
            for id in 1...3 where !damage.file.hasPrefix(String("recordings/00000\(id)/j")) {
                // With an intact journal, no segment is lost, but undetected damage may change the text of one.
                let segments = try #require(try await archive.transcript(of: id)).1.segments
                if segments.map(\.text) == (1...20).map({ "word\(id)x\($0)" }) { unchangedCount += 1 }
                #expect(segments.count == 20, label)
            }
            // The next recording can begin.
            #expect(try await archive.beginRecording(startedAt: 0, clock: .unverified, microphone: "") == 4, label)
        }
        let counts = "\(rebuiltCount) databases rebuilt, \(unchangedCount) transcripts unchanged"
        print("corruption: \(Self.seeds) starts, \(counts)")
        #expect(unchangedCount > 0)
    }
}
