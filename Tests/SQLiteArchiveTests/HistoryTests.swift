import FoundationEssentials
import Glibc
import Testing

@testable import Archive
@testable import Core
@testable import System

@Suite("History") struct HistoryTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private var file: String { folder.path + "/history.jsonl" }

    private func lines() throws -> [String] {
        String(decoding: try Data(contentsOf: URL(filePath: file)), as: UTF8.self).split(separator: "\n").map(
            String.init)
    }

    private func write(_ lines: [String], ending: String = "\n") throws {
        try Data((lines.joined(separator: "\n") + ending).utf8).write(to: URL(filePath: file))
    }

    private let copy = ExportEntry(
        recording: 1, pass: 1, volume: "1A2B-3C4D", folder: "recorder/000001", manifest: "m", exportedAt: 2.5)

    /// Makes two recordings, one of which is also corrected and copied.
    private func fill(_ archive: SQLiteArchive) async throws {
        for _ in 1...2 {
            let (id, pass) = try await archive.record("secret words", "two")
            try await archive.add(
                Gap(SampleRange(SamplePosition(16_000), SamplePosition(32_000)), cause: .paused), recording: id)
            try await archive.endRecording(id, length: SamplePosition(302_000), reason: .button)
            try await archive.endPass(pass, recording: id)
        }
        let correction = Correction(person: "Maria", savedAt: 7, base: 1)
        _ = try await archive.correct([segment(1, at: 0, "secret word")], correction, recording: 1)
        try await archive.add(copy)
    }

    private func findings(_ archive: SQLiteArchive) async throws -> [String] {
        try await archive.historyFindings().map { finding in
            #expect(finding.outcome == .damaged && finding.file.hasSuffix("/history.jsonl"))
            #expect(!finding.message.contains("\n") && finding.message.contains("fieldscribe recover"))
            return finding.message.split(separator: ";").first.map(String.init) ?? ""
        }
    }

    @Test(
        "each action becomes a timed entry in the global hash chain and its recording's, without transcribed words"
    )
    func chain() async throws {
        let archive = try SQLiteArchive(path: folder.archive)
        try await fill(archive)
        try await archive.add(
            Gap(SampleRange(SamplePosition(0), SamplePosition(16_000)), cause: .redacted), recording: 1)
        try await archive.redact(recording: 1)
        let history = try await archive.history(of: nil)
        #expect(try lines() == history.map(\.text))
        #expect(
            history.map(\.entry.act.rawValue) == [
                "paused", "recorded", "written", "paused", "recorded", "written", "corrected", "copied", "struck",
            ])
        #expect(history.map(\.entry.number) == Array(1...9))
        #expect(history.map(\.entry.recording) == [1, 1, 1, 2, 2, 2, 1, 1, 1])
        for (previous, line) in zip(history, history.dropFirst()) {
            #expect(line.entry.before == Digest.of(previous.text))
        }
        #expect(history[0].entry.before == HistoryEntry.initialDigest && history[0].entry.own == nil)
        let recordingHistory = try await archive.history(of: 1)
        for (previous, line) in zip(recordingHistory, recordingHistory.dropFirst()) {
            #expect(line.entry.own == Digest.of(previous.text))
        }
        #expect(recordingHistory.count == 6 && history[7].entry.volume == "1A2B-3C4D" && history[8].entry.to == 1)
        #expect(history.allSatisfy { $0.entry.time.hasSuffix("Z") && $0.entry.sinceBoot > 0 })
        let text = try lines().joined()
        for word in ["secret", "Maria", "two"] { #expect(!text.contains(word)) }
        #expect(try await findings(archive).isEmpty)
    }

    @Test("an erased recording's number stays in the history")
    func erased() async throws {
        let archive = try SQLiteArchive(path: folder.archive)
        try await fill(archive)
        try await archive.delete(recordings: [1])
        #expect(try await archive.history(of: 1).last?.entry.act == .erased)
        #expect(try await findings(archive).isEmpty)
        try await archive.delete(recordings: [1])
        #expect(try await archive.history(of: 1).filter { $0.entry.act == .erased }.count == 1)
    }

    @Test("if sealing has removed the pass of a copy, the copy is stored without the pass")
    func removedPass() async throws {
        let archive = try SQLiteArchive(path: folder.archive)
        try await fill(archive)
        var lateCopy = copy
        lateCopy.pass = 77
        lateCopy.folder = "late"
        try await archive.add(lateCopy)
        #expect(try await archive.exports(of: 1).last?.pass == nil)
        #expect(try await archive.exports(of: 1).first?.pass == 1)
    }

    @Test("the same copy is entered once; the path of a folder is never entered")
    func copies() async throws {
        let archive = try SQLiteArchive(path: folder.archive)
        try await fill(archive)
        var sameCopy = copy
        sameCopy.pass = 2
        try await archive.add(sameCopy)
        sameCopy.volume = "folder:/home/maria/interviews"
        try await archive.add(sameCopy)
        let entries = try await archive.history(of: 1).filter { $0.entry.act == .copied }
        #expect(entries.map(\.entry.volume) == ["1A2B-3C4D", "folder"])
    }

    enum Tampering: String, CaseIterable, Sendable {
        case missingFirst, missing, missingTwo, missingLast, changed, changedLast, garbage, moved, doubled, deleted,
            emptied
        case link, pipe, folder, changedBoth, missingBoth
    }

    @Test("a missing, changed or moved entry is detected and named", arguments: Tampering.allCases)
    func tampering(kind: Tampering) async throws {
        let archive = try SQLiteArchive(path: folder.archive)
        try await fill(archive)
        var remaining = try lines()
        let expected: String
        switch kind {
        case .missingFirst: remaining.removeFirst(); expected = "entry 1 is missing"
        case .missing: remaining.remove(at: 2); expected = "entry 3 is missing"
        case .missingTwo: remaining.removeSubrange(2...3); expected = "entries 3 to 4 are missing"
        case .missingLast: remaining.removeLast(); expected = "entry 8 is missing"
        case .changed:
            remaining[2] = remaining[2].replacing("pocketsphinx", with: "pocketsphinY")
            expected = "entry 3 (recording 1, written) was changed"
        case .changedLast:
            remaining[7] = remaining[7].replacing("1A2B", with: "1A2C")
            expected = "entry 8 (recording 1, copied) was changed"
        case .garbage: remaining[2] = "{"; expected = "entry 3 (recording 1, written) was changed and cannot be read"
        case .moved: remaining.swapAt(2, 4); expected = "entry 3 (recording 1, written) is out of order"
        case .doubled: remaining.insert(remaining[2], at: 3); expected = "entry 3 (recording 1, written) is duplicated"
        case .deleted, .link, .pipe, .folder: expected = ""
        case .emptied: remaining = []; expected = "entries 1 to 8 are missing"
        case .changedBoth:
            let original = remaining[2]
            remaining[2] = original.replacing("pocketsphinx", with: "pocketsphinY")
            try await archive.rewrite(3, line: remaining[2])
            expected = "entry 4 (recording 2, paused) does not follow from entry 3: one of them was changed"
        case .missingBoth:
            remaining.remove(at: 2)
            try await archive.rewrite(3, line: nil)
            expected = "entry 3 is missing"
        }
        try write(remaining, ending: remaining.isEmpty ? "" : "\n")
        switch kind {
        case .deleted: unlink(file)
        case .link:
            rename(file, file + ".other")
            symlink(file + ".other", file)
        case .pipe:
            unlink(file)
            mkfifo(file, 0o600)
        case .folder:
            unlink(file)
            mkdir(file, 0o700)
        default: break
        }
        let messages: [String] = try await archive.historyFindings().map(\.message)
        #expect(messages.contains { $0.hasPrefix(expected) }, "\(messages)")
        #expect([.moved].contains(kind) || messages.count == 1, "\(messages)")
        // New entries are still added.
        try await archive.add(Gap(SampleRange(SamplePosition(0), SamplePosition(9)), cause: .paused), recording: 2)
        #expect(try await archive.history(of: 2).last?.entry.number == 9)
        #expect(try await !archive.historyFindings().isEmpty)
        // The repair restores the file, unless the database was changed too.
        let outcome = try await archive.repairHistory()
        let databaseDiffers = [.changedBoth, .missingBoth].contains(kind)
        #expect((outcome == nil) == databaseDiffers)
        #expect(try await archive.historyFindings().isEmpty == !databaseDiffers)
        if !databaseDiffers { #expect(try await archive.history(of: nil).last?.entry.act == .mended) }
        #expect(try await archive.repairHistory() == nil)
    }

    @Test(
        "an incomplete entry left by a power cut is not reported",
        arguments: [#"{"act":"rec"#, "\0\0\0\0", ""])
    func incompleteEntry(rest: String) async throws {
        do {
            let archive = try SQLiteArchive(path: folder.archive)
            try await fill(archive)
        }
        let entries = try lines()
        try write(entries, ending: "\n" + rest)
        let opened = try await SQLiteArchive.openCatchingUp(path: folder.archive).archive
        #expect(try await findings(opened).isEmpty)
        try await opened.delete(recordings: [2])
        #expect(try lines().count == 9 && lines().prefix(8) == entries[...])
        #expect(try await findings(opened).isEmpty)
    }

    @Test(
        "an entry that is only in the file is valid; an action that is only in the journal gets an entry"
    )
    func onlyInOneFile() async throws {
        do {
            let archive = try SQLiteArchive(path: folder.archive)
            try await fill(archive)
            // Simulates a power cut before the last transaction was committed.
            try await archive.rewrite(8, line: nil)
            #expect(try await findings(archive).isEmpty)
        }
        do {
            let opened = try await SQLiteArchive.openCatchingUp(path: folder.archive).archive
            #expect(try await opened.history(of: nil).map(\.entry.number) == Array(1...8))
            try await opened.forgetJournalLength(of: 2)
        }
        let opened = try await SQLiteArchive.openCatchingUp(path: folder.archive)
        #expect(opened.restored == [2])
        #expect(try await opened.archive.history(of: nil).last?.entry.act == .restored)
        #expect(try await findings(opened.archive).isEmpty)
    }

    @Test("an uncommitted action is not in the history")
    func rolledBack() async throws {
        let archive = try SQLiteArchive(path: folder.archive)
        try await fill(archive)
        await #expect(throws: DeviceError.self) { try await archive.failAfterEntry() }
        #expect(try lines().count == 9)
        #expect(try await findings(archive).isEmpty)
        try await archive.delete(recordings: [2])
        #expect(try lines().count == 9 && lines().last?.contains("erased") == true)
        #expect(try await findings(archive).isEmpty)
    }

    @Test(
        "impossible numbers prevent neither new entries nor the check",
        arguments: [.max, .max - 1, 2_147_483_648, 2_147_483_647, 1_099_511_627_776, -5] as [Int64])
    func hugeNumbers(number: Int64) async throws {
        let last = try await {
            let archive = try SQLiteArchive(path: folder.archive)
            try await fill(archive)
            return try #require(try await archive.history(of: nil).last)
        }()
        var entry = last.entry
        entry.number = Int(number)
        let line = String(decoding: try JSONEncoder().encode(entry), as: UTF8.self)
        try Connection(path: folder.archive).run(
            "INSERT INTO history (number, recording, act, line, end_bytes) VALUES (?, 1, 'recorded', ?, ?)",
            .integer(Int(number)), .text(line), .integer(Int(-number)))
        try write(try lines() + [line])
        let archive = try SQLiteArchive(path: folder.archive)
        try await archive.delete(recordings: [2])
        #expect(try lines().last?.contains("erased") ?? false)
        #expect(try await archive.historyFindings().count <= 3)
    }

    @Test("a rebuilt database restores the history and continues it")
    func rebuilt() async throws {
        let before: [HistoryLine]
        do {
            let archive = try SQLiteArchive(path: folder.archive)
            try await fill(archive)
            try await archive.delete(recordings: [2])
            before = try await archive.history(of: nil)
        }
        unlink(folder.archive)
        let archive = try await SQLiteArchive.openCatchingUp(path: folder.archive).archive
        #expect(try await archive.history(of: nil) == before)
        try await archive.delete(recordings: [1])
        #expect(try await archive.history(of: nil).count == before.count + 1)
        #expect(try await findings(archive).isEmpty)
    }
}

extension SQLiteArchive {
    /// Changes or removes the database's copy of an entry.
    fileprivate func rewrite(_ number: Int, line: String?) throws {
        if let line {
            try connection.run("UPDATE history SET line = ?2 WHERE number = ?1", .integer(number), .text(line))
        } else {
            try connection.run("DELETE FROM history WHERE number = ?", .integer(number))
        }
    }

    fileprivate func forgetJournalLength(of recording: Int) throws {
        try connection.run("UPDATE recording SET journal_bytes = journal_bytes - 1 WHERE id = ?", .integer(recording))
    }

    /// Runs a transaction that fails after its entry has been written to the file.
    fileprivate func failAfterEntry() throws {
        try connection.transaction {
            try addToHistory(.mended, of: nil)
            throw DeviceError(.full, "sqlite3_step", "no space")
        }
    }
}
