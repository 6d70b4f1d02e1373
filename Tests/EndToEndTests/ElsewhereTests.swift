import FoundationEssentials
import Glibc
import Testing
import TestKit

/// `transcribe` on foreign files: its output, its order, and its exit status.
@Suite("Foreign sound files", .serialized) struct ElsewhereTests {
    private let folder = TemporaryFolder()
    /// A pipe: the engine waits for a byte from it before it answers a long utterance.
    private var gate: String { folder.file("gate") }
    private var texts: String { folder.file("texts") }

    /// An engine that answers with an utterance's level; with a gate it waits at each utterance longer than 2.5 s.
    private func configuration(hasGate: Bool = false) throws -> String {
        let script = folder.file("engine.py")
        try """
        import array, json, struct, sys
        def frame():
            head = sys.stdin.buffer.read(5)
            if len(head) < 5: sys.exit(0)
            kind, length = struct.unpack("<cI", head)
            return kind, sys.stdin.buffer.read(length)
        print(json.dumps({"ready": {"name": "loudness", "version": "1", "model": "none"}}), flush=True)
        while True:
            request, sound = json.loads(frame()[1]), b""
            while (part := frame())[0] == b"a": sound += part[1]
            samples = array.array("h", sound)
            if len(sys.argv) > 1 and len(samples) > 40000: open(sys.argv[1], "rb", 0).read(1)
            words = [{"text": "heard", "range": {"start": 0, "end": len(samples)}, "confidence": 0.5}]
            print(json.dumps({"result": {"words": words, "alternatives": [], "cpuSeconds": 0}}), flush=True)
        """.write(toFile: script, atomically: true, encoding: .utf8)
        let engine = try folder.program("engine", "exec /usr/bin/python3 '\(script)' \(hasGate ? "'\(gate)'" : "")")
        let own = folder.file("own.conf")
        try "[recognizer]\nengine = command:\(engine)\n".write(toFile: own, atomically: true, encoding: .utf8)
        return own
    }

    /// Noise of this many seconds between two of silence.
    private func noise(_ name: String, seconds: String) throws -> String {
        let path = folder.file(name)
        try Fieldscribe.tool(
            "sox", "-R", "-n", "-r", "16000", "-b", "16", path, "synth", seconds, "whitenoise", "gain", "-12", "pad",
            "1", "1", in: folder)
        return path
    }

    private func written() -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: texts)) ?? []).filter { $0.hasSuffix(".txt") }.sorted()
    }

    private func identity(_ name: String) -> ino_t {
        var status = stat()
        return stat("\(texts)/\(name)", &status) == 0 ? status.st_ino : 0
    }

    @Test("each text is written when it is done and stays after Ctrl-C; --resume does only the rest")
    func resumes() throws {
        let own = try configuration(hasGate: true)
        try #require(mkfifo(gate, 0o600) == 0)
        let files = try [noise("1.wav", seconds: "4")] + (2...5).map { try noise("\($0).wav", seconds: "0.8") }
        let words = ["transcribe", "--config", own, "--jobs", "2", "--output", texts]
        let run = try Fieldscribe(words + files, in: folder)
        try run.wait(until: "the texts of the short files") { written().count == 4 }
        kill(run.id, SIGINT)
        #expect(try run.wait().status == 130)
        #expect(written() == ["2.txt", "3.txt", "4.txt", "5.txt"])
        let before = written().map(identity)
        // From here on the gate is open.
        let opened = open(gate, O_RDWR)
        defer { close(opened) }
        try #require(write(opened, "....", 4) == 4)
        let resumed = try Fieldscribe(words + ["--resume"] + files, in: folder).wait()
        #expect(resumed.status == 0, "\(resumed.errors)")
        #expect(written() == ["1.txt", "2.txt", "3.txt", "4.txt", "5.txt"])
        #expect(written().dropFirst().map(identity) == before)
        // Newer sound is transcribed again; corrected texts stay.
        try "corrected\n".write(toFile: "\(texts)/3.txt", atomically: true, encoding: .utf8)
        utimensat(AT_FDCWD, files[1], nil, 0)
        #expect(try Fieldscribe(words + ["--resume"] + files, in: folder).wait().status == 0)
        #expect(identity("2.txt") != before[0] && identity("4.txt") == before[2])
        #expect(try Fieldscribe.text("\(texts)/3.txt") == "corrected\n")
        let nowhere = try Fieldscribe.run("transcribe", "--resume", files[0], in: folder)
        #expect(nowhere.status == 2 && nowhere.errors.count == 1, "\(nowhere.errors)")
    }

    @Test("a name too long for its extension is shortened, and two with the same beginning stay different")
    func longNames() throws {
        let own = try configuration()
        let long = String(repeating: "é", count: 124)
        let files = try [noise("\(long)a.wav", seconds: "0.8"), noise("\(long)b.wav", seconds: "0.8")]
        let ending = try Fieldscribe(
            ["transcribe", "--config", own, "--output", texts, "--format", "textgrid"] + files, in: folder
        ).wait()
        #expect(ending.status == 0, "\(ending.errors)")
        let names = try FileManager.default.contentsOfDirectory(atPath: texts).filter { $0.hasSuffix(".TextGrid") }
        #expect(names.count == 2 && names.allSatisfy { $0.hasPrefix("éééé") && $0.utf8.count <= 230 }, "\(names)")
    }

    @Test("a film's default track is read, or the named one, or all; a line names the ignored tracks")
    func tracks() throws {
        let own = try configuration()
        let sound = try noise("sound.wav", seconds: "2")
        let film = folder.file("film.mkv")
        try Fieldscribe.tool(
            "ffmpeg", "-loglevel", "error", "-f", "lavfi", "-i", "anullsrc=d=4:r=16000", "-i", sound, "-map", "0",
            "-map", "1", "-c:a", "aac", "-disposition:a:0", "0", "-disposition:a:1", "default",
            "-metadata:s:a:0", "language=eng", film, in: folder)
        func read(_ words: String...) throws -> Fieldscribe.Ending {
            try Fieldscribe(["transcribe", "--config", own, film] + words, in: folder).wait()
        }
        let chosen = try read()
        #expect(chosen.status == 0 && chosen.output.contains("heard"), "\(chosen.output)")
        #expect(
            chosen.errors.count == 1 && chosen.errors[0].contains("track 2 of 2 is read, not 1 (eng)"),
            "\(chosen.errors)")
        let first = try read("--track", "1")
        #expect(first.status == 0 && !first.output.contains("heard") && first.errors.isEmpty, "\(first.errors)")
        let all = try read("--track", "all")
        #expect(all.status == 0 && all.output.contains("heard"), "\(all.output) \(all.errors)")
        let none = try read("--track", "3")
        #expect(none.status == 3 && none.errors.count == 1 && none.errors[0].contains("2 tracks"), "\(none.errors)")
        let wrong = try read("--track", "both")
        #expect(wrong.status == 2 && wrong.errors.count == 1 && wrong.errors[0].contains("both"), "\(wrong.errors)")
    }

    @Test("times match those of players, even if the sound begins after the picture")
    func lateSound() throws {
        let own = try configuration()
        let sound = try noise("sound.wav", seconds: "2")
        let film = folder.file("late.mp4")
        try Fieldscribe.tool(
            "ffmpeg", "-loglevel", "error", "-f", "lavfi", "-i", "testsrc=d=10:r=5:s=64x64", "-itsoffset", "5", "-i",
            sound, "-map", "0:v", "-map", "1:a", "-c:v", "mpeg4", "-c:a", "aac", film, in: folder)
        let ending = try Fieldscribe.run("transcribe", "--config", own, "--format", "json", film, in: folder)
        #expect(ending.status == 0 && ending.errors.isEmpty, "\(ending.errors)")
        let segment = try #require(Transcript(ending.output).segments.first)
        #expect(segment.start > 5.5 && segment.start < 6.2 && segment.end > 7.8, "\(segment)")
    }

    @Test("without ffmpeg a line reports what libsndfile may have missed; with ffmpeg everything is read")
    func withoutFFmpeg() throws {
        let own = try configuration()
        let (one, two) = (folder.file("one.mp3"), folder.file("two.mp3"))
        try Fieldscribe.tool("ffmpeg", "-loglevel", "error", "-i", noise("talk.wav", seconds: "8"), one, in: folder)
        let bytes = try Data(contentsOf: URL(filePath: one))
        try (bytes + bytes).write(to: URL(filePath: two))
        let words = ["transcribe", "--config", own, "--format", "json", two]
        let all = try Fieldscribe(words, in: folder).wait()
        #expect(all.status == 0 && all.errors.isEmpty, "\(all.errors)")
        #expect(try abs(Transcript(all.output).duration - 20) < 0.3)
        let half = try Fieldscribe(
            program: "/usr/bin/env", ["PATH=/nonexistent", Fieldscribe.executable()] + words, in: folder
        ).wait()
        // libmpg123 prints its own lines.
        let errors = half.errors.filter { $0.hasPrefix("fieldscribe: ") }
        #expect(half.status == 4 && errors.count == 1, "\(half.errors)")
        #expect(errors.first?.contains("was not read; ffmpeg may read it: apt install ffmpeg") == true)
    }

    @Test("damage is a gap in the text, and a line names file and time", arguments: [false, true])
    func damaged(isCopy: Bool) throws {
        let own = try configuration()
        let talk = try noise("talk.wav", seconds: "8")
        var sound = folder.file("talk.flac")
        if isCopy {
            // The sound of a copy.
            let (storage, stick) = (folder.file("storage"), folder.file("stick"))
            try Fieldscribe.tool("mkdir", stick, in: folder)
            let recorded = try Fieldscribe.run(
                "record", "--config", own, "--microphone", "file+fast:\(talk)", "--directory", storage, in: folder)
            #expect(recorded.status == 0, "\(recorded.errors)")
            let copied = try Fieldscribe.run(
                "export", "--config", own, "--to", stick, "--directory", storage, in: folder)
            let line = try #require(copied.output.split(separator: "\n").first)
            let copy = try #require(line.split(separator: " ").last)
            sound = "\(copy)/audio.flac"
        } else {
            try Fieldscribe.tool("sox", talk, sound, in: folder)
        }
        var bytes = try Data(contentsOf: URL(filePath: sound))
        for index in bytes.count / 2..<bytes.count / 2 + 2 { bytes[index] ^= 0xff }
        try bytes.write(to: URL(filePath: sound))
        let ending = try Fieldscribe.run("transcribe", "--config", own, "--format", "json", sound, in: folder)
        #expect(ending.status == 4)
        #expect(
            ending.errors.count == 1 && ending.errors[0].contains(sound)
                && ending.errors[0].contains("no sound can be read"), "\(ending.errors)")
        let transcript = try Transcript(ending.output)
        #expect(abs(transcript.duration - 10) < 0.01 && transcript.segments.count == 2, "\(transcript)")
        #expect(ending.output.contains("\"cause\":\"damage\"") || ending.output.contains("\"cause\" : \"damage\""))
    }

    @Test(
        "a truncated film is not a success: the exit status and a message report that something is missing",
        arguments: [
            ["-c:a", "aac", "-movflags", "+faststart", "cut.m4a"], ["-c:a", "libopus", "cut.webm"],
            ["-c:a", "aac", "-movflags", "frag_keyframe+empty_moov", "-frag_duration", "1000000", "cut.mp4"],
        ])
    func cut(encoding: [String]) throws {
        let own = try configuration()
        let path = folder.file(encoding.last ?? "")
        let words = ["-nostdin", "-loglevel", "error", "-i", try noise("talk.wav", seconds: "18")]
        let made = try Fieldscribe(program: "ffmpeg", words + encoding.dropLast() + [path], in: folder).wait()
        try #require(made.status == 0, "\(made.errors)")
        let bytes = try Data(contentsOf: URL(filePath: path))
        try bytes.prefix(bytes.count * 55 / 100).write(to: URL(filePath: path))
        let ending = try Fieldscribe.run("transcribe", "--config", own, "--format", "json", path, in: folder)
        #expect(ending.status == 4 && ending.errors.count == 1, "\(ending.errors)")
        #expect(ending.errors.first?.hasPrefix("fieldscribe: \(path): ") == true, "\(ending.errors)")
        let transcript = try Transcript(ending.output)
        #expect(transcript.duration > 8 && transcript.duration < 14 && !transcript.words.isEmpty, "\(transcript)")
    }

    @Test("a header written before the sound is not a fault if the sound is complete", arguments: [0, UInt32.max])
    func streamed(length: UInt32) throws {
        let own = try configuration()
        let path = try noise("talk.wav", seconds: "2")
        var bytes = try Data(contentsOf: URL(filePath: path))
        let data = try #require(bytes.firstRange(of: Data("data".utf8)))
        for place in [4, data.upperBound] {
            for index in 0..<4 { bytes[place + index] = UInt8(truncatingIfNeeded: length) }
        }
        try bytes.write(to: URL(filePath: path))
        let ending = try Fieldscribe.run("transcribe", "--config", own, "--format", "json", path, in: folder)
        #expect(ending.status == 0 && ending.errors.count == 1, "\(ending.errors)")
        #expect(ending.errors.first?.contains("never completed") == true, "\(ending.errors)")
        #expect(try abs(Transcript(ending.output).duration - 4) < 0.01)
    }

    @Test("ELAN's document names the WAV next to the sound, or else the sound itself")
    func elan() throws {
        let own = try configuration()
        let (wave, sound) = (try noise("talk.wav", seconds: "1"), folder.file("talk.flac"))
        try Fieldscribe.tool("sox", wave, sound, in: folder)
        for (isThere, name) in [(true, "talk.wav"), (false, "talk.flac")] {
            if !isThere { unlink(wave) }
            let ending = try Fieldscribe.run("transcribe", "--config", own, "--format", "eaf", sound, in: folder)
            #expect(ending.status == 0, "\(ending.errors)")
            #expect(ending.output.contains(#"RELATIVE_MEDIA_URL="./\#(name)""#), "\(ending.output)")
        }
    }
}
