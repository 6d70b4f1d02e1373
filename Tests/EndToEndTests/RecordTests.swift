import FoundationEssentials
import Glibc
import Testing
import TestKit

@testable import System

@Suite("record", .serialized) struct RecordTests {
    /// Returns the samples of a WAV file, without its header.
    private func samples(_ path: String, in folder: TemporaryFolder) throws -> Data {
        let raw = folder.file("samples-\(UInt32.random(in: 0...UInt32.max)).raw")
        try Fieldscribe.tool("sox", path, "-t", "raw", raw, in: folder)
        return try Data(contentsOf: URL(filePath: raw))
    }

    @Test("the audio file and the archive have the whole recording, with the transcript that transcribe prints")
    func recordAndShow() throws {
        let folder = TemporaryFolder()
        let joined = try Speech.joined(in: folder)
        let storage = folder.file("storage")
        let outcome = try Fieldscribe.run(
            "record", "--microphone", "file+fast:\(joined)", "--directory", storage, in: folder)
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(
            outcome.errors.contains { $0.contains(/recording 1: 00:[0-9]{2} in \/.*audio.wav$/) }, "\(outcome.errors)")
        let audio = "\(storage)/recordings/000001/audio.wav"
        #expect(try samples(audio, in: folder) == samples(joined, in: folder))

        let shown = try Transcript(
            try Fieldscribe.run("show", "1", "--format", "json", "--directory", storage, in: folder).output)
        let transcribed = try Transcript(
            try Fieldscribe.run("transcribe", "--format", "json", joined, in: folder).output)
        #expect(shown.segments == transcribed.segments && shown.segments.count >= 5)
        let found = try Fieldscribe.run("search", "amiable", "itself", "--directory", storage, in: folder)
        #expect(found.status == 0 && found.output.contains("[amiable] [itself]"), "\(found.output)")
        let list = try Fieldscribe.run("list", "--json", "--directory", storage, in: folder).output
        #expect(list.contains("\"stopReason\":\"ended\"") && list.contains(audio), "\(list)")
        let subtitles = try Fieldscribe.run(
            "show", "1", "--format", "srt", "--directory", storage, in: folder
        ).output
        #expect(subtitles.hasPrefix("1\n00:00:00,"))
    }

    @Test("recordings are readable only by their owner, even in a readable folder and with any umask")
    func permissions() throws {
        let folder = TemporaryFolder()
        let storage = folder.file("storage")
        let program = try #require(Fieldscribe.path)
        try Fieldscribe.tool("mkdir", "-m", "755", storage, in: folder)
        for arguments in [
            ["record", "--audio-only", "--seconds", "1", "--microphone", "tone+fast:440"], ["recover"], ["list"],
        ] {
            let outcome = try Fieldscribe(
                program: "/bin/bash",
                ["-c", "umask 0; exec \"$0\" \"$@\"", program] + arguments + ["--directory", storage], in: folder
            ).wait()
            #expect(outcome.status == 0, "\(outcome.errors)")
        }
        let open = "find '\(storage)' -mindepth 1 -perm /077 ! -name signing.pub"
        try Fieldscribe.tool("bash", "-c", "\(open); [ -z \"$(\(open))\" ]", in: folder)
    }

    @Test("if a decode worker is killed during an utterance, no audio and no text is lost")
    func killedWorker() throws {
        let folder = TemporaryFolder()
        let joined = try Speech.joined(in: folder)
        let undisturbed = try Transcript(
            try Fieldscribe.run("transcribe", "--format", "json", joined, in: folder).output)
        let storage = folder.file("storage")
        let recording = try Fieldscribe(
            ["record", "--json", "--microphone", "file+fast:\(joined)", "--directory", storage], in: folder)
        // Once the first segment is committed, a worker is decoding the next one.
        var killedCount = 0
        try recording.wait(until: "the first segment", every: .milliseconds(5)) {
            try !recording.children.isEmpty && recording.outputSoFar.contains("\"event\":\"final\"")
        }
        for child in Set(try recording.children) where kill(child, SIGKILL) == 0 { killedCount += 1 }
        let outcome = try recording.wait()
        #expect(killedCount > 0)
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(try samples("\(storage)/recordings/000001/audio.wav", in: folder) == samples(joined, in: folder))
        let shown = try Transcript(
            try Fieldscribe.run("show", "1", "--format", "json", "--directory", storage, in: folder).output)
        #expect(shown.segments == undisturbed.segments)
        let finals = outcome.output.split(separator: "\n").filter { $0.contains("\"event\":\"final\"") }
        #expect(finals.count == undisturbed.segments.count)
    }

    /// The standard termination signals, and the first and last real-time signals. Swift 6.0.3 crashes on a closure in
    /// `arguments`.
    private static let signals = TerminationSignals.all.filter { $0 < 35 || $0 == 64 }

    @Test("every catchable signal stops the recording cleanly", arguments: signals)
    func signal(_ number: Int32) throws { try stop(by: [number]) }

    @Test("two signals at once, as timeout sends them, are one request to stop")
    func interruptTwice() throws { try stop(by: [SIGINT, SIGTERM]) }

    @Test("a second Ctrl-C skips the rest of the transcript; the recording is complete, and the status is 0")
    func skipped() throws {
        let folder = TemporaryFolder()
        let storage = folder.file("storage")
        let sound = try Speech.endless(in: folder)
        let recording = try Fieldscribe(
            ["record", "--engine", "pocketsphinx", "--microphone", "file+fast:\(sound)", "--directory", storage],
            in: folder)
        let journal = "\(storage)/recordings/000001/journal.jsonl"
        try recording.wait(until: "the end of the sound", every: .milliseconds(100)) {
            (try? Fieldscribe.text(journal))?.contains("\"ended\"") == true
        }
        // Two signals within half a second count as one.
        try waitUntil("the command exits", every: .seconds(1)) {
            guard recording.isRunning else { return true }
            kill(recording.id, SIGINT)
            return false
        }
        let outcome = try recording.wait()
        #expect(
            outcome.status == 0
                && outcome.errors.last?.contains("the recording is complete, but its transcript is not;") == true,
            "\(outcome)")
        #expect(try samples("\(storage)/recordings/000001/audio.wav", in: folder) == samples(sound, in: folder))
        let list = try Fieldscribe.run("list", "--directory", storage, in: folder)
        #expect(list.output.contains("transcribed"), "\(list)")
    }

    /// Sends the signals at once during a recording, and expects that the recording is closed as if stopped by command.
    private func stop(by signals: [Int32]) throws {
        let folder = TemporaryFolder()
        let storage = folder.file("storage")
        let recording = try Fieldscribe(
            ["record", "--json", "--audio-only", "--microphone", "tone:440", "--directory", storage], in: folder)
        try recording.wait(until: "a level") { try recording.outputSoFar.contains("\"event\":\"level\"") }
        for signal in signals { kill(recording.id, signal) }
        let outcome = try recording.wait()
        #expect(outcome.status == 0, "\(outcome.errors)")
        let list = try Fieldscribe.run("list", "--json", "--directory", storage, in: folder).output
        #expect(list.contains("\"stopReason\":\"command\""), "\(list)")
        #expect(try !samples("\(storage)/recordings/000001/audio.wav", in: folder).isEmpty)
    }

    @Test("--seconds records exactly that many seconds")
    func seconds() throws {
        let folder = TemporaryFolder()
        let storage = folder.file("storage")
        let outcome = try Fieldscribe.run(
            "record", "--audio-only", "--seconds", "2", "--microphone", "tone+fast:440", "--directory", storage,
            in: folder)
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(try samples("\(storage)/recordings/000001/audio.wav", in: folder).count == 64_000)
    }
}
