import FoundationEssentials
import Glibc
import Testing
import TestKit

@testable import System

@Suite("transcribe", .serialized) struct TranscribeTests {
    @Test("a 48 kHz stereo FLAC yields the original's words, with times within 50 ms")
    func resampledFlac() throws {
        let folder = TemporaryFolder()
        let joined = try Speech.joined(in: folder)
        let flac = folder.file("talk.flac")
        // In 24 bits, because sox adds random dither when it converts to 16 bits.
        try Fieldscribe.tool("sox", joined, "-b", "24", "-r", "48000", "-c", "2", flac, in: folder)
        let original = try Transcript(try Fieldscribe.run("transcribe", "--format", "json", joined, in: folder).output)
        let resampled = try Transcript(try Fieldscribe.run("transcribe", "--format", "json", flac, in: folder).output)
        #expect(original.words.count > 50)
        // Resampling changes the samples, and thus a few words; all other words must have the same times.
        var sameCount = 0
        for word in original.words {
            guard let nearest = resampled.words.min(by: { abs($0.start - word.start) < abs($1.start - word.start) }),
                nearest.text == word.text
            else { continue }
            sameCount += 1
            #expect(abs(nearest.start - word.start) <= 0.05, "\(word) against \(nearest)")
            #expect(abs(nearest.end - word.end) <= 0.05, "\(word) against \(nearest)")
        }
        #expect(
            sameCount * 10 >= original.words.count * 9, "\(sameCount) of \(original.words.count) words are the same")
    }

    @Test("one worker and two yield the same transcripts, in the order of the command line")
    func workers() throws {
        let folder = TemporaryFolder()
        let oneWorker = try Fieldscribe(["transcribe", "--jobs", "1"] + Speech.all, in: folder).wait()
        let twoWorkers = try Fieldscribe(["transcribe", "--jobs", "2"] + Speech.all, in: folder).wait()
        #expect(oneWorker.status == 0 && twoWorkers.status == 0)
        #expect(oneWorker.output == twoWorkers.output)
        let single = try Fieldscribe.run("transcribe", Speech.all[4], in: folder)
        #expect(oneWorker.output.hasSuffix(single.output) && !single.output.isEmpty)
    }

    // wait: a time limit, because workers that run one after the other would never meet
    @Test("many short files keep all workers busy until the last one", .timeLimit(.minutes(60)))
    func manyFiles() async throws {
        let folder = TemporaryFolder()
        let (workers, rounds) = (3, 2)
        let meeting = try WorkerMeeting()
        let script =
            #filePath.split(separator: "/").dropLast(2).reduce("") { "\($0)/\($1)" } + "/RecognizingTests/worker.py"
        let config = folder.file("own.conf")
        let engine = try folder.program(
            "engine", "exec /usr/bin/python3 '\(script)' meet '\(meeting.arrivalsPath)' '\(meeting.departuresPath)'")
        try "[recognizer]\nengine = command:\(engine)\n".write(toFile: config, atomically: true, encoding: .utf8)
        let files = (1...workers * rounds).map { folder.file("\($0).wav") }
        for file in files {
            try Fieldscribe.tool(
                "sox", "-R", "-n", "-r", "16000", "-b", "16", file, "synth", "0.8", "whitenoise", "gain", "-12", "pad",
                "0.5", "1", in: folder)
        }
        async let metWorkers = meeting.hold(workers: workers, rounds: rounds)
        let outcome = try await onThread(named: "transcribe") {
            try Fieldscribe(["transcribe", "--config", config, "--jobs", "\(workers)"] + files, in: folder).wait()
        }
        try meeting.cancel()
        #expect(outcome.status == 0, "\(outcome.errors)")
        let texts = outcome.output.split(separator: "\n").filter { !$0.hasPrefix("==> ") }
        #expect(texts.count == files.count, "\(outcome.output)\(outcome.errors)")
        #expect(try await metWorkers == files.count)
    }

    @Test("a terminal shows the progress in a line that disappears at the end")
    func progress() throws {
        let folder = TemporaryFolder()
        // One worker finishes utterances less often than the line is drawn, even on a fast machine.
        let speech = try Speech.joined(in: folder)
        let command = "\(try Fieldscribe.executable()) transcribe --jobs 1 \(speech) > \(folder.file("text"))"
        let shown = try Fieldscribe(
            program: "script", ["--quiet", "--return", "--command", command, "/dev/null"], in: folder
        ).wait()
        #expect(shown.status == 0, "\(shown.output)")
        let lines = shown.output.split(separator: "\r\u{1B}[K")
        let shares = lines.compactMap { line in
            line.split(separator: "] ").last.flatMap { Int($0.prefix { $0.isNumber }) }
        }
        #expect(shares.count > 2 && shares == shares.sorted(), "\(shown.output)")
        #expect(shares.allSatisfy { (0...100).contains($0) } && (shares.last ?? 0) > 50, "\(shown.output)")
        #expect(lines.contains { $0.contains("x real time") })
        #expect(shown.output.hasSuffix("\r\u{1B}[K"), "\(shown.output)")
        #expect(try Fieldscribe.text(folder.file("text")).contains("amiable"))
    }

    @Test("with --output each file has its own transcript, and two files with the same name are refused")
    func output() throws {
        let folder = TemporaryFolder()
        let texts = folder.file("texts")
        let outcome = try Fieldscribe.run(
            "transcribe", "--format", "json", "--output", texts, Speech.all[1], Speech.all[4], in: folder)
        #expect(outcome.status == 0 && outcome.output.isEmpty)
        let transcript = try Transcript(
            try Fieldscribe.text("\(texts)/sense_and_sensibility_01_austen_64kb-0880.json"))
        #expect(!transcript.words.isEmpty)
        let clash = try Fieldscribe.run("transcribe", "--output", texts, "a/talk.wav", "b/talk.flac", in: folder)
        #expect(clash.status == 2)
        #expect(clash.errors.count == 1 && clash.errors[0].contains("b/talk.flac"))
    }

    @Test(
        "a page has a waveform and plays the file in the same folder, or a copy that overwrites no other file")
    func page() throws {
        let folder = TemporaryFolder()
        let (talkPath, pageFolder) = (folder.file("talk.wav"), folder.file("pages"))
        try Fieldscribe.tool("cp", Speech.all[4], talkPath, in: folder)
        func text(_ name: String) throws -> String { try Fieldscribe.text(folder.file(name)) }
        func transcribe(into target: String) throws -> Fieldscribe.Outcome {
            try Fieldscribe.run(
                "transcribe", "--engine", "pocketsphinx", "--format", "html", "--output", target, talkPath, in: folder)
        }
        for _ in 1...2 { #expect(try transcribe(into: pageFolder).errors.isEmpty) }
        let page = try text("pages/talk.html")
        #expect(page.contains(#"src="./talk.flac""#) && !page.contains(#""peaks":"""#))
        let names = try FileManager.default.contentsOfDirectory(atPath: pageFolder).sorted()
        #expect(names == [".fieldscribe", "talk.flac", "talk.html"])
        try Fieldscribe.tool("sox", "\(pageFolder)/talk.flac", folder.file("played.wav"), in: folder)
        #expect(
            try Data(contentsOf: URL(filePath: folder.file("played.wav"))).suffix(32_000)
                == Data(contentsOf: URL(filePath: talkPath)).suffix(32_000))
        #expect(try transcribe(into: folder.path).status == 0)
        #expect(try text("talk.html").contains(#"src="./talk.wav""#) && access(folder.file("talk.flac"), F_OK) != 0)
        try Data("mine".utf8).write(to: URL(filePath: "\(pageFolder)/talk.flac"))
        let refused = try transcribe(into: pageFolder)
        #expect(refused.status == 1 && refused.errors.first?.contains("talk.flac: was edited") == true)
        #expect(try text("pages/talk.flac") == "mine")
    }

    @Test("standard input is read like a file")
    func standardInput() throws {
        let folder = TemporaryFolder()
        let named = try Fieldscribe.run("transcribe", Speech.all[4], in: folder)
        let piped = try Fieldscribe.run("transcribe", "-", in: folder, input: Speech.all[4])
        #expect(piped.status == 0 && piped.output == named.output && !named.output.isEmpty)
    }

    @Test(
        "audio of any sample format, rate and channel count is transcribed",
        arguments: [
            ["-b", "8"], ["-b", "24"], ["-e", "floating-point"], ["-c", "6"], ["-r", "96000"],
            ["-r", "44100", "-c", "2"],
        ])
    func formats(options: [String]) throws {
        let folder = TemporaryFolder()
        let copy = folder.file("copy.wav")
        // Without dither, which would be different each time.
        let converted = try Fieldscribe(program: "sox", ["-D", Speech.all[4]] + options + [copy], in: folder).wait()
        #expect(converted.status == 0)
        let outcome = try Fieldscribe.run("transcribe", copy, in: folder)
        #expect(outcome.status == 0 && outcome.errors.isEmpty)
        // The sentence is "he might even have been made amiable himself".
        #expect(outcome.output.contains("might even"), "\(outcome.output)")
    }

    @Test("the readable part of a truncated file is transcribed, and a line reports the truncation")
    func truncated() throws {
        let folder = TemporaryFolder()
        let truncatedPath = folder.file("cut.wav")
        let converted = try Fieldscribe(
            program: "head", ["-c", "80000", Speech.all[4]], in: folder, output: truncatedPath
        ).wait()
        #expect(converted.status == 0)
        let outcome = try Fieldscribe.run("transcribe", truncatedPath, in: folder)
        #expect(outcome.status == 4)
        #expect(!outcome.output.isEmpty)
        #expect(outcome.errors.count == 1 && outcome.errors[0].contains("holds"), "\(outcome.errors)")
    }
}
