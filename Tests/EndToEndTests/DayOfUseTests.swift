import FoundationEssentials
import Glibc
import Testing
import TestKit

@testable import Core
@testable import System
@testable import Transcripts
@testable import fieldscribe

/// Commands and output that a user meets in a day of work.
@Suite("A day of use", .serialized) struct DayOfUseTests {
    private static let hasFFmpeg = access("/usr/bin/ffmpeg", X_OK) == 0

    /// Runs the executable with another PATH.
    private func run(path: String, _ arguments: [String], in folder: TemporaryFolder) throws -> Fieldscribe.Outcome {
        let program = try Fieldscribe.executable()
        return try Fieldscribe(program: "/usr/bin/env", ["PATH=\(path)", program] + arguments, in: folder).wait()
    }

    @Test(
        "an edited transcript is overwritten only with --force, an unchanged one always")
    func corrected() throws {
        let folder = TemporaryFolder()
        let texts = folder.file("texts")
        let arguments = ["transcribe", "--output", texts, Speech.all[4]]
        #expect(try Fieldscribe(arguments, in: folder).wait().status == 0)
        // An unchanged transcript is written again.
        #expect(try Fieldscribe(arguments, in: folder).wait().status == 0)
        let name = try #require(
            try FileManager.default.contentsOfDirectory(atPath: texts).first { $0.hasSuffix(".txt") })
        let path = "\(texts)/\(name)"
        try Data("corrected\n".utf8).write(to: URL(filePath: path))
        let refused = try Fieldscribe(arguments, in: folder).wait()
        #expect(refused.status == 1 && refused.errors.count == 1, "\(refused.errors)")
        #expect(refused.errors.first?.contains(path) == true && refused.errors.first?.contains("--force") == true)
        #expect(try Fieldscribe.text(path) == "corrected\n")
        #expect(try Fieldscribe(arguments + ["--force"], in: folder).wait().status == 0)
        #expect(try Fieldscribe.text(path) != "corrected\n")
        // A link is not followed.
        unlink(path)
        #expect(symlink(folder.file("elsewhere"), path) == 0)
        #expect(try Fieldscribe(arguments, in: folder).wait().status == 1)
        #expect(access(folder.file("elsewhere"), F_OK) != 0)
        // Neither a link nor a FIFO is replaced, even with --force.
        for command in ["true", "rm '\(path)'; mkfifo '\(path)'"] {
            #expect(system(command) == 0)
            let refused = try Fieldscribe(arguments + ["--force"], in: folder).wait()
            #expect(
                refused.status == 1 && refused.errors.first?.contains("was not changed") == true, "\(refused.errors)")
            var status = stat()
            #expect(lstat(path, &status) == 0 && status.st_mode & S_IFMT != S_IFREG)
        }
    }

    @Test("several transcripts on standard output are headed by their file names, except in JSON")
    func headings() throws {
        let folder = TemporaryFolder()
        let outcome = try Fieldscribe.run("transcribe", Speech.all[4], Speech.all[1], in: folder)
        let headings = outcome.output.split(separator: "\n").filter { $0.hasPrefix("==> ") }
        #expect(headings == [Speech.all[4], Speech.all[1]].map { "==> \($0) <==" })
        let json = try Fieldscribe.run("transcribe", "--format", "json", Speech.all[4], Speech.all[1], in: folder)
        #expect(!json.output.contains("==>"))
    }

    @Test("the progress line counts finished files")
    func progress() {
        let bar = ProgressBar(files: 3)
        var files = [0: ProgressBar.File(length: SamplePosition(16_000)), 1: ProgressBar.File(), 2: ProgressBar.File()]
        #expect(bar.line(files, seconds: 1).contains("0 of 3 files"))
        files[1]?.hasEnded = true
        #expect(bar.line(files, seconds: 1).contains("1 of 3 files"))
    }

    @Test("the progress line has a bar, times such as 08:00, and an estimate of the time left; it fits the width")
    func timeLeft() {
        let bar = ProgressBar(files: 1)
        let file = ProgressBar.File(
            length: SamplePosition(seconds: 1_920.520_25), reached: SamplePosition(seconds: 480.2))
        let line = bar.line([0: file], seconds: 100)
        #expect(line.contains("] 25 %  08:00 of 32:00  4.8 x real time, 05:00 left"), "\(line)")
        #expect(ProgressBar.timeLeft(fraction: 0.01, seconds: 60) == nil)
        #expect(ProgressBar.timeLeft(fraction: 0.5, seconds: 0.5) == nil)
        #expect(ProgressBar.timeLeft(fraction: 1, seconds: 60) == "00:00")
        let speakers = TaskProgressBar.line(
            "identifying the speakers of recording 7", fraction: 0.25, seconds: 20, width: 80)
        #expect(
            speakers.hasPrefix("[####")
                && speakers.hasSuffix("] 25 %  identifying the speakers of recording 7, 01:00 left"))
        for width in [0, 10, 40, 80] {
            #expect(
                TaskProgressBar.line("what it does", fraction: 0.5, seconds: 9, width: width).count <= max(10, width))
        }
        #expect(TaskProgressBar.line("x", fraction: .nan, seconds: 9, width: 80).contains("] 0 %"))
    }

    @Test("while recording, a terminal shows duration, level and how to stop; partial text replaces that hint")
    func status() {
        var line = StatusLine()
        line.began = 0
        line.level = -30
        #expect(line.text(at: 65_000_000_000, width: 80).hasPrefix("01:05  [######......]  "))
        #expect(line.text(at: 65_000_000_000, width: 80).contains("Ctrl-C stops"))
        line.partial = "one two \u{1B}[2J three"
        let speech = line.text(at: 65_000_000_000, width: 80)
        #expect(speech.contains("one two [2J three") && !speech.contains("Ctrl-C"))
        #expect(speech.contains("\u{1B}[2m"))
        line.isStyled = false
        #expect(!line.text(at: 65_000_000_000, width: 80).contains("\u{1B}"))
        line.level = .nan
        #expect(line.text(at: .max, width: 1).contains("[............]"))
    }

    @Test("the list has local times, then title and state; a row fits 80 columns")
    func table() throws {
        let hour = SamplePosition(seconds: 3_600)
        var recording = RecordingSummary(
            id: 7, startedAt: 1_795_000_000, clock: .synchronized, microphone: "tone:440", length: hour,
            transcribedUpTo: hour, stopReason: .button)
        let table = RecordingTable(numberWidth: 2)
        var date = tm()
        var time = time_t(1_795_000_000)
        localtime_r(&time, &date)
        let start =
            "2026-11-\(date.tm_mday.padded(to: 2)) \(date.tm_hour.padded(to: 2)):\(date.tm_min.padded(to: 2))"
        #expect(table.header == "NO  START              LENGTH   TITLE AND STATE")
        #expect(table.row(recording) == "7   \(start)   1:00:00")
        recording.title = "The\nmill"
        recording.transcribedUpTo = SamplePosition(seconds: 61)
        #expect(table.row(recording) == "7   \(start)   1:00:00  The mill; transcribed up to 01:01")
        recording.live = RecordingSummary.Live(.paused, length: SamplePosition(seconds: 8))
        recording.stopReason = .cutShort
        #expect(table.row(recording) == "7   \(start)   00:08    The mill; paused")
        (recording.live, recording.title, recording.clock) = (nil, nil, .unverified)
        recording.transcribedUpTo = hour
        recording.powerOn = PowerOn(order: 12, nanoseconds: 50_000_000_000_000)
        #expect(table.row(recording) == "7   \(start)?  1:00:00  cut short; 12th since power-on, after 13 h 53 min")
        recording.stopReason = .button
        #expect(table.row(recording).count <= 80)
        for reason in StopReason.allCases {
            recording.stopReason = reason
            let isNormal = [.button, .command, .ended].contains(reason)
            #expect(table.row(recording).contains("  12th") == isNormal)
        }
    }

    @Test("a terminal shows a transcript with title, times and speakers, wrapped at words")
    func shownTranscript() {
        func word(_ text: String, _ second: Double) -> Word {
            Word(
                text, SampleRange(SamplePosition(seconds: second), SamplePosition(seconds: second + 0.5)), confidence: 1
            )
        }
        var timeline = Timeline(
            name: "000007", length: SamplePosition(seconds: 60),
            engine: EngineDescription(name: "e", version: "1", model: "m"),
            segments: [
                Segment(
                    id: 1, range: SampleRange(.zero, SamplePosition(seconds: 9)),
                    words: [
                        word("how", 0), word("long?", 1), word("since", 5), word("the\u{1B}[2J", 6), word("mill", 7),
                    ],
                    endedBy: .silence)
            ])
        timeline.marks = [Bookmark(SamplePosition(seconds: 20), text: "here")]
        let details = RecordingDetails(title: "Recording 7", started: "today")
        func plainLines(_ width: Int) -> [String] {
            TerminalTranscript.lines(timeline, details, width: width).map(\.plain)
        }
        #expect(
            plainLines(80) == [
                "Recording 7", "today, 1:00", "", "00:00  how long? since the [2J mill", "[bookmark 0:20: here]",
            ])
        timeline.annotations = Annotations()
        timeline.annotations?.title = "The mill"
        timeline.annotations?.speakers = ["B": "Anna"]
        timeline.speakers = Speakers(turns: [
            Speakers.Turn(SampleRange(.zero, SamplePosition(seconds: 4)), speaker: 0),
            Speakers.Turn(SampleRange(SamplePosition(seconds: 4), SamplePosition(seconds: 9)), speaker: 1),
        ])
        let lines = plainLines(24)
        #expect(lines.first == "The mill" && lines.last == "[bookmark 0:20: here]")
        #expect(lines.contains("00:00  A: how long?") && lines.contains("00:05  Anna: since the"), "\(lines)")
        let turn = TerminalTranscript.lines(timeline, details, width: 80).first { $0.plain.contains("Anna: since") }
        #expect(
            turn?.styled == "\u{1B}[2m00:05\u{1B}[0m  \u{1B}[1mAnna:\u{1B}[0m since the [2J mill", "\(lines)")
        for width in [0, 1, 5, 9] { #expect(!plainLines(width).isEmpty) }
    }

    @Test("list, show and the page report what is not transcribed yet, and do not show it as silence")
    func untranscribed() throws {
        let folder = TemporaryFolder()
        let storage = folder.file("storage")
        let recorded = try Fieldscribe.run(
            "record", "--audio-only", "--microphone", "file+fast:\(Speech.all[4])", "--directory", storage, in: folder)
        #expect(recorded.status == 0, "\(recorded.errors)")
        let list = try Fieldscribe.run("list", "--directory", storage, in: folder)
        #expect(list.output.contains("not transcribed yet"), "\(list.output)")
        let text = try Fieldscribe.run("show", "1", "--directory", storage, in: folder)
        #expect(text.output.contains("[not transcribed yet: 0:0"), "\(text.output)")
        let page = try Fieldscribe.run("show", "1", "--format", "html", "--directory", storage, in: folder)
        #expect(page.output.contains("not transcribed yet") && !page.output.contains("Nobody said anything"))
        #expect(page.errors.contains { $0.contains("not transcribed yet") }, "\(page.errors)")
        let json = try Fieldscribe.run("show", "1", "--format", "json", "--directory", storage, in: folder)
        #expect(json.output.contains("\"writtenUpTo\":0"), "\(json.output)")
        let stick = folder.file("stick")
        try FileManager.default.createDirectory(atPath: stick, withIntermediateDirectories: true)
        #expect(try Fieldscribe.run("export", "--to", stick, "--directory", storage, in: folder).status == 0)
        let result = try Fieldscribe.text("\(stick)/Fieldscribe/RESULT.txt")
        #expect(result.contains("; not transcribed yet") && result.contains("NOT EVERYTHING HAS BEEN TRANSCRIBED YET"))
        // Once everything is transcribed, list and show no longer report that.
        #expect(try Fieldscribe.run("recover", "--directory", storage, in: folder).status == 0)
        let transcribed = try Fieldscribe.run("list", "--directory", storage, in: folder)
        #expect(transcribed.status == 0 && !transcribed.output.contains("transcribed"), "\(transcribed.output)")
        #expect(try !Fieldscribe.run("show", "1", "--directory", storage, in: folder).output.contains("transcribed"))
    }

    @Test(
        "recordings from phones and browsers are read through ffmpeg", .enabled(if: hasFFmpeg),
        arguments: ["m4a", "mp4", "mov", "webm"])
    func phoneFile(fileExtension: String) throws {
        let folder = TemporaryFolder()
        let path = folder.file("a talk\n.\(fileExtension)")
        try Fieldscribe.tool(
            "ffmpeg", "-loglevel", "error", "-i", Speech.all[4], "-c:a", fileExtension == "webm" ? "libopus" : "aac",
            path,
            in: folder)
        let transcribed = try Fieldscribe.run("transcribe", path, in: folder)
        #expect(
            transcribed.status == 0 && transcribed.output.contains("amiable"),
            "\(transcribed.output) \(transcribed.errors)")
        let piped = try Fieldscribe.run("transcribe", "-", in: folder, input: path)
        #expect(piped.status == 0 && piped.output == transcribed.output, "\(piped.errors)")
        let noFFmpeg = try run(path: "/nonexistent", ["transcribe", path], in: folder)
        #expect(noFFmpeg.status == 1, "\(noFFmpeg.errors)")
        #expect(noFFmpeg.errors.joined().contains("apt install ffmpeg"), "\(noFFmpeg.errors)")
        // A file with only the beginning of such a recording is reported as damaged.
        let damagedPath = folder.file("broken.\(fileExtension)")
        let bytes = try Data(contentsOf: URL(filePath: path))
        try Data(bytes.prefix(300) + Data(repeating: 7, count: 5_000)).write(to: URL(filePath: damagedPath))
        let failure = try Fieldscribe.run("transcribe", damagedPath, in: folder)
        #expect(
            failure.status == 4 && failure.errors.count == 1 && failure.errors[0].contains("broken"),
            "\(failure.errors)")
    }
}
