import FoundationEssentials
import Glibc
import Testing
import TestKit

@Suite("recover, verify, delete", .serialized) struct RecoverTests {
    private let folder = TemporaryFolder()

    private func run(_ arguments: String...) throws -> Fieldscribe.Outcome {
        try Fieldscribe(arguments + ["--directory", folder.file("storage")], in: folder).wait()
    }

    private func shown() throws -> Transcript { try Transcript(try run("show", "1", "--format", "json").output) }

    /// Runs a command and kills it once it has printed `times` lines that contain `text`, unless it exits before.
    private func kill(_ arguments: String..., after text: String, times: Int) throws {
        let process = try Fieldscribe(arguments + ["--directory", folder.file("storage")], in: folder)
        try waitUntil("\(times) lines with \(text)", every: .milliseconds(5)) {
            try !process.isRunning
                || process.outputSoFar.split(separator: "\n").count(where: { $0.contains(text) }) >= times
        }
        Glibc.kill(process.id, SIGKILL)
        _ = try process.wait()
    }

    @Test("killing a recording and its recovery loses no committed segment and no synced sample")
    func killed() throws {
        let joined = try Speech.joined(in: folder)
        try kill("record", "--json", "--microphone", "file+fast:\(joined)", after: "\"event\":\"final\"", times: 2)
        let segmentsBefore = try shown().segments
        #expect(segmentsBefore.count >= 2)
        try kill("recover", after: "  ", times: 1)
        let segmentsBetween = try shown().segments
        #expect(Array(segmentsBetween.prefix(segmentsBefore.count)) == segmentsBefore)
        let recovery = try run("recover")
        #expect(recovery.status == 0, "\(recovery.errors)")
        try expectVerified(run("verify"))
        let after = try shown()
        #expect(Array(after.segments.prefix(segmentsBetween.count)) == segmentsBetween)
        #expect(after.segments.map(\.id) == Array(1...after.segments.count))
        #expect(zip(after.segments, after.segments.dropFirst()).allSatisfy { $0.end <= $1.start })
        let audio = folder.file("storage/recordings/000001/audio.wav")
        let size = try Data(contentsOf: URL(filePath: audio)).count
        #expect(after.duration == Double(size - 512) / 32_000)
        // The number of words differs from an uninterrupted run only by the effect of three cold starts.
        let complete = try Transcript(try Fieldscribe.run("transcribe", "--format", "json", audio, in: folder).output)
        #expect(abs(after.words.count - complete.words.count) <= 6)
        let list = try run("list", "--json").output
        #expect(list.contains("\"transcribedUpTo\":\(after.duration)"), "\(list)")
        let secondRecovery = try run("recover", "--json")
        #expect(
            secondRecovery.status == 0
                && secondRecovery.output == "{\"dated\":[],\"findings\":[],\"transcribed\":[]}\n",
            "\(secondRecovery.output)")
    }

    @Test("a damaged database is rebuilt and the old one kept; if damage cannot be repaired, the exit status is 4")
    func damaged() throws {
        #expect(try run("recover").status == 3)
        let recorded = try run("record", "--audio-only", "--seconds", "2", "--microphone", "tone+fast:440")
        #expect(recorded.status == 0)
        // SQLite would restore the database from a complete write-ahead log.
        unlink(folder.file("storage/archive.sqlite-wal"))
        try Data("no database".utf8).write(to: URL(filePath: folder.file("storage/archive.sqlite")))
        #expect(try run("list").status == 4)
        #expect(try run("verify").status == 4)
        let recovery = try run("recover", "--no-transcribe")
        #expect(recovery.status == 0)
        #expect(recovery.output.contains("archive.sqlite.damaged-1"), "\(recovery.output)")
        let brief = try run("verify")
        expectVerified(brief)
        #expect(
            brief.output.hasSuffix("2 files of 1 recording unaltered\n")
                && !brief.output.contains("unaltered: "), "\(brief)")
        let quick = try run("verify", "--quick")
        #expect(quick.output.hasSuffix("2 files of 1 recording as expected; the sound was not read\n"), "\(quick)")
        let verbose = try run("verify", "--verbose").output
        #expect(
            verbose.contains("unaltered: \(folder.file("storage/recordings/000001/journal.jsonl"))\n"), "\(verbose)")
        unlink(folder.file("storage/recordings/000001/audio.wav"))
        #expect(try run("recover", "--no-transcribe").status == 4)
        let verified = try run("verify", "1", "--json")
        #expect(verified.status == 4 && verified.output.contains("\"outcome\":\"damaged\""), "\(verified.output)")
        #expect(try run("verify", "1").output.hasSuffix("1 file of 1 recording unaltered; 1 damaged\n"))
        #expect(try run("list").output.contains("audio missing"))
    }

    @Test("delete needs a confirmation or --yes, and removes recordings from the disk")
    func delete() throws {
        for _ in 1...2 {
            let recorded = try run("record", "--audio-only", "--seconds", "1", "--microphone", "tone+fast:440")
            #expect(recorded.status == 0)
        }
        #expect(try run("delete", "1").status == 2)
        #expect(try run("delete", "--yes").status == 2)
        #expect(try run("delete", "1", "7", "--yes").status == 3)
        #expect(try run("list").output.split(separator: "\n").count == 3)
        #expect(try run("delete", "1", "--yes").status == 0)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.file("storage/recordings")) == ["000002"])
        #expect(try run("list").output.contains("\n2  "))
        #expect(try run("recover", "--no-transcribe").status == 0)
        #expect(try run("list").output.split(separator: "\n").count == 2)
    }
}
