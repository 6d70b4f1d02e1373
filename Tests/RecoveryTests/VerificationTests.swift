import Glibc
import Testing
import TestKit

@testable import Archive
@testable import Core
@testable import Maintenance

@Suite("Verification") struct VerificationTests {
    private let storage = Storage()

    enum Damage: String, CaseIterable, Sendable {
        case none, header, halfSample, truncated, missing, noisyGap, audio, journal, otherJournal, exportEntry,
            segmentAfterEnd, unknownFolder, history
    }

    private func apply(_ damage: Damage, to archive: SQLiteArchive) async throws {
        let audio = storage.audio(1)
        let journal = storage.folder.file("recordings/000001/journal.jsonl")
        switch damage {
        case .none: break
        case .header: try change(audio) { $0[509] ^= 1 }
        case .halfSample: try change(audio) { $0.append(1) }
        case .truncated: try change(audio) { $0.removeLast(1000) }
        case .missing: unlink(audio)
        case .noisyGap: try change(audio) { $0[512 + 2 * 3100] = 1 }
        case .audio: try change(audio) { $0[512 + 2 * 1000] ^= 1 }
        case .journal: try change(journal) { $0[20] ^= 1 }
        case .otherJournal:
            let other = try bytes(storage.folder.file("recordings/000002/journal.jsonl"))
            try change(journal) { $0 = other }
        case .exportEntry:
            try await archive.add(
                ExportEntry(recording: 1, pass: 1, volume: "v", folder: "f", manifest: "short", exportedAt: 5))
        case .segmentAfterEnd: try await archive.commit(segment(9, "far"), pass: 1, recording: 1)
        case .history:
            try change(storage.folder.file("history.jsonl")) { bytes in
                bytes = Array(bytes.drop { $0 != 0x0A }.dropFirst())
            }
        case .unknownFolder: rename(storage.folder.file("recordings/000002"), storage.folder.file("recordings/000005"))
        }
    }

    @Test(
        "Intact files have no findings; damage is reported with its file and a remedy, only for its own recording",
        arguments: Damage.allCases)
    func findings(kind: Damage) async throws {
        let archive = try storage.archive()
        try await storage.record(
            [.samples(numbered(3000)), .lost(500), .samples(numbered(1500))], words: ["one", "two"], in: archive)
        try await storage.record([.samples(numbered(5000))], words: ["other"], in: archive)
        try await apply(kind, to: archive)
        let findings = try await Verification(storage: storage.folder.path, archive: archive).run([]).problems
        #expect(findings.isEmpty == (kind == .none), "\(findings)")
        for finding in findings {
            #expect(finding.outcome == .damaged && finding.file.hasPrefix(storage.folder.path))
            #expect(!finding.message.contains("\n"))
            #expect(
                ["run fieldscribe recover", "copy", "restore", "export", "keep"].contains {
                    finding.message.contains($0)
                })
        }
        let expected = kind == .unknownFolder ? [5, 2] : [1]
        #expect(kind == .none || Set(findings.map(\.recording)) == Set(expected), "\(findings)")
        let secondFindings = try await Verification(storage: storage.folder.path, archive: archive).run([2]).problems
        #expect(secondFindings.isEmpty == (kind != .unknownFolder))
    }

    @Test("Damaged audio is reported with its time range, but not by a quick check")
    func sound() async throws {
        let archive = try storage.archive()
        try await storage.record([.samples(numbered(40_000))], in: archive)
        try change(storage.audio(1)) { $0[512 + 2 * 20_000] ^= 1 }
        let verification = Verification(storage: storage.folder.path, archive: archive)
        let findings = try await verification.run([])
        #expect(findings.map(\.recording) == [1] && findings[0].outcome == .damaged)
        #expect(findings.first?.message.contains("from 1.0 s to 2.0 s") == true, "\(findings)")
        #expect(try await verification.run([], isQuick: true) == [])
    }

    @Test(
        "Missing checksums are reported in one line and do not count as damage; recover computes them"
    )
    func unsummed() async throws {
        func record() async throws {
            let archive = try storage.archive()
            for id in 1...4 {
                try await storage.record([.samples(numbered(5000))], in: archive)
                if id != 3 { unlink(storage.folder.file("recordings/00000\(id)/audio.sums")) }
            }
            let findings = try await Verification(storage: storage.folder.path, archive: archive).run([])
            #expect(findings.map(\.outcome) == [.note, .note])
            #expect(findings.last?.message.hasPrefix("recordings 1-2, 4: ") == true, "\(findings)")
        }
        try await record()
        // A start does not compute the checksums.
        #expect(try await storage.recover(.start) == [])
        #expect(try await storage.recover().map(\.outcome) == [.note, .note, .note])
        #expect(try await storage.recover() == [])
        #expect(try await Verification(storage: storage.folder.path, archive: storage.archive()).run([]).problems == [])
    }

    @Test("The current recording is reported as such, and the part on the disk is checked", arguments: [false, true])
    func beingRecorded(isDamaged: Bool) async throws {
        let archive = try storage.archive()
        try await storage.record([.samples(numbered(40_000))], isClosed: false, in: archive)
        if isDamaged { try change(storage.audio(1)) { $0[512 + 2 * 20_000] ^= 1 } }
        let findings = try await Verification(storage: storage.folder.path, archive: archive).run([], recording: [1])
        #expect(findings.map(\.outcome) == (isDamaged ? [.note, .damaged] : [.note]))
        #expect(findings.first?.message.contains("is being recorded") == true)
    }

    @Test("A file in place of a recording's folder is reported, and the other recordings are checked")
    func stray() async throws {
        let archive = try storage.archive()
        try await storage.record([.samples(numbered(40_000))], in: archive)
        try change(storage.audio(1)) { $0[512 + 2 * 20_000] ^= 1 }
        #expect(mkfifo(storage.folder.file("recordings/000009"), 0o600) == 0)
        let findings = try await Verification(storage: storage.folder.path, archive: archive).run([]).problems
        #expect(findings.map(\.recording) == [1, 9], "\(findings)")
        #expect(findings.last?.message.contains("is not a folder") == true, "\(findings)")
    }

    @Test("An unknown recording number is refused")
    func unknown() async throws {
        let verification = Verification(storage: storage.folder.path, archive: try storage.archive())
        #expect(await thrown { _ = try await verification.run([3]) }?.code == .missing)
    }
}
