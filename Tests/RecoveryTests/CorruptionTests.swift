import FoundationEssentials
import Glibc
import Testing
import TestKit

@testable import Archive
@testable import Core

/// Random damage, like a bad card's, and a start after it. `FIELDSCRIBE_SEEDS` sets the number; default 60. `FIELDSCRIBE_SEED` repeats
/// one that a failed test named.
@Suite("A start on a damaged card") struct CorruptionTests {
    private struct Case {
        var file: String
        var what: String
    }

    private static let seeds = getenv("FIELDSCRIBE_SEEDS").flatMap { UInt64(String(cString: $0)) } ?? 60

    /// Three recordings with text: as after a power cut, with the database's log, and closed.
    private func golden() async throws -> [Storage] {
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

    private func copy(_ storage: Storage, to other: Storage) throws {
        try FileManager.default.removeItem(atPath: other.folder.path)
        try FileManager.default.copyItem(atPath: storage.folder.path, toPath: other.folder.path)
    }

    private func files(_ root: String) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: root).filter { name in
            var status = stat()
            return stat("\(root)/\(name)", &status) == 0 && status.st_mode & S_IFMT == S_IFREG
        }.sorted()
    }

    /// Flips bits, cuts, zeroes a block, deletes a log, or swaps two recordings' files.
    private func damage(_ root: String, with random: inout SeededGenerator) throws -> Case {
        let all = try files(root).filter { !$0.hasSuffix("-shm") }
        guard let name = all.randomElement(using: &random) else { return Case(file: "", what: "nothing") }
        let path = "\(root)/\(name)"
        var bytes = try bytes(path)
        guard !bytes.isEmpty else { return Case(file: name, what: "nothing") }
        let what: String
        switch Int.random(in: 0..<10, using: &random) {
        case 0..<5:
            // Half of the damage is in the first kilobyte, which has the headers.
            let end = Bool.random(using: &random) ? min(1024, bytes.count) : bytes.count
            let count = Int.random(in: 1...64, using: &random)
            for _ in 0..<count {
                bytes[Int.random(in: 0..<end, using: &random)] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            }
            what = "\(count) bits before \(end)"
        case 5..<7:
            let left = Int.random(in: 0..<bytes.count, using: &random)
            bytes.removeLast(bytes.count - left)
            what = "cut to \(left)"
        case 7..<9:
            let start = Int.random(in: 0..<bytes.count, using: &random) / 4096 * 4096
            for index in start..<min(bytes.count, start + 4096) { bytes[index] = 0 }
            what = "zeroes from \(start)"
        default:
            if name.hasSuffix("-wal") {
                unlink(path)
                return Case(file: name, what: "deleted")
            }
            let other = all.filter { $0.split(separator: "/").last == name.split(separator: "/").last }
                .randomElement(using: &random)
            if let other { bytes = try RecoveryTests.bytes("\(root)/\(other)") }
            what = "replaced by \(other ?? "")"
        }
        try Data(bytes).write(to: URL(filePath: path))
        return Case(file: name, what: what)
    }

    @Test("A flipped bit in an index hides no segment")
    func index() async throws {
        let storage = try await golden()[1]
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

    @Test("A full-text index without its version is damage")
    func indexVersion() async throws {
        let storage = try await golden()[1]
        let path = storage.configuration.archivePath
        do { try Connection(path: path).execute("UPDATE segment_text_config SET v = 0 WHERE k = 'version'") }
        let findings = try await storage.recover(.start)
        #expect(findings.contains { $0.file == path })
        #expect(try await storage.archive().transcript(of: 3)?.1.segments.count == 20)
    }

    @Test("It starts every time, every intact sample can be read, and no file is deleted")
    func seeds() async throws {
        let golden = try await golden()
        let first = SeededGenerator().seed
        print("corruption: \(Self.seeds) seeds from \(first)")
        var rebuilt = 0
        var texts = 0
        for seed in 0..<Self.seeds {
            var random = SeededGenerator(seed: first &+ seed)
            let storage = Storage()
            let root = storage.folder.path
            try copy(golden[Int(seed % 2)], to: storage)
            let damage = try damage(root, with: &random)
            let label: Comment = "seed \(first &+ seed): \(damage.file): \(damage.what)"
            let before = try files(root).filter { !$0.hasPrefix("archive.sqlite") }
            var kept: [String: [UInt8]] = [:]
            for name in before { kept[name] = try bytes("\(root)/\(name)") }

            let findings: [StorageFinding]
            do { findings = try await storage.recover(Bool.random(using: &random) ? .everything : .start) } catch {
                Issue.record("\(label): \(error)")
                continue
            }
            if findings.contains(where: { $0.file.hasSuffix("archive.sqlite") && $0.recording == nil }) { rebuilt += 1 }
            #expect(Set(before).isSubset(of: try files(root)), label)
            for (name, old) in kept where name.hasSuffix("audio.wav") {
                let now = try bytes("\(root)/\(name)")
                // Everything except the header, and half a sample, is unchanged. An interrupted recording may lose
                // zeros at its end: they may be sound, or never written.
                let given = old.dropFirst(512).prefix(max(0, old.count - 512) & ~1)
                let isAsGiven = given.starts(with: now.dropFirst(512))
                #expect(isAsGiven, label)
                let missing = given.dropFirst(now.count - 512)
                let wasCut = name == "recordings/000003/audio.wav"
                let isDropped = missing.count <= (wasCut ? 4_096 : 0) && missing.allSatisfy { $0 == 0 }
                // A longer recording that begins with the same sound counts as one with appended audio.
                let aside = try? bytes("\(root)/\(name).surplus-1")
                #expect(isDropped || aside?.starts(with: missing) == true, label)
                #expect(try samples(of: "\(root)/\(name)").count == (now.count - 512) / 2, label)
            }
            let archive = try storage.archive()
            #expect(try await archive.recordings().map(\.id) == [1, 2, 3], label)
            for id in 1...3 where !damage.file.hasPrefix(String("recordings/00000\(id)/j")) {
                // Text with an intact journal is kept, unless the database changed it undetectably.
                let segments = try #require(try await archive.transcript(of: id)).1.segments
                if segments.map(\.text) == (1...20).map({ "word\(id)x\($0)" }) { texts += 1 }
                #expect(segments.count == 20, label)
            }
            // The next recording can begin.
            #expect(try await archive.beginRecording(startedAt: 0, clock: .unverified, microphone: "") == 4, label)
        }
        print("corruption: \(Self.seeds) starts, \(rebuilt) databases rebuilt, \(texts) texts unchanged")
        #expect(texts > 0)
    }
}
