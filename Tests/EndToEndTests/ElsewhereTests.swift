import FoundationEssentials
import Glibc
import Testing
import TestKit

/// `transcribe` on files that Fieldscribe did not record: output, order and exit status.
@Suite("Foreign sound files", .serialized) struct ElsewhereTests {
    private let folder = TemporaryFolder()
    /// A pipe from which the engine reads a byte before it answers a long utterance.
    private var gate: String { folder.file("gate") }
    private var texts: String { folder.file("texts") }

    /// Writes settings with an engine that returns the word "heard" for each utterance. If `hasGate`, the engine waits
    /// for a byte from the gate before it answers an utterance longer than 2.5 s.
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
        let config = folder.file("own.conf")
        try "[recognizer]\nengine = command:\(engine)\n".write(toFile: config, atomically: true, encoding: .utf8)
        return config
    }

    /// Creates a file with `seconds` of noise between two seconds of silence.
    private func noise(_ name: String, seconds: String) throws -> String {
        let path = folder.file(name)
        try Fieldscribe.tool(
            "sox", "-R", "-n", "-r", "16000", "-b", "16", path, "synth", seconds, "whitenoise", "gain", "-12", "pad",
            "1", "1", in: folder)
        return path
    }

    private func transcriptNames() -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: texts)) ?? []).filter { $0.hasSuffix(".txt") }.sorted()
    }

    private func inode(_ name: String) -> ino_t {
        var status = stat()
        return stat("\(texts)/\(name)", &status) == 0 ? status.st_ino : 0
    }

    @Test("each transcript is written once it is complete and stays after Ctrl-C; --resume transcribes only the rest")
    func resumes() throws {
        let config = try configuration(hasGate: true)
        try #require(mkfifo(gate, 0o600) == 0)
        let files = try [noise("1.wav", seconds: "4")] + (2...5).map { try noise("\($0).wav", seconds: "0.8") }
        let arguments = ["transcribe", "--config", config, "--jobs", "2", "--output", texts]
        let run = try Fieldscribe(arguments + files, in: folder)
        try run.wait(until: "the transcripts of the short files") { transcriptNames().count == 4 }
        kill(run.id, SIGINT)
        #expect(try run.wait().status == 130)
        #expect(transcriptNames() == ["2.txt", "3.txt", "4.txt", "5.txt"])
        let inodes = transcriptNames().map(inode)
        // From now on, the engine answers without waiting.
        let opened = open(gate, O_RDWR)
        defer { close(opened) }
        try #require(write(opened, "....", 4) == 4)
        let resumed = try Fieldscribe(arguments + ["--resume"] + files, in: folder).wait()
        #expect(resumed.status == 0, "\(resumed.errors)")
        #expect(transcriptNames() == ["1.txt", "2.txt", "3.txt", "4.txt", "5.txt"])
        #expect(transcriptNames().dropFirst().map(inode) == inodes)
        // A file with newer sound is transcribed again; an edited transcript stays.
        try "corrected\n".write(toFile: "\(texts)/3.txt", atomically: true, encoding: .utf8)
        utimensat(AT_FDCWD, files[1], nil, 0)
        #expect(try Fieldscribe(arguments + ["--resume"] + files, in: folder).wait().status == 0)
        #expect(inode("2.txt") != inodes[0] && inode("4.txt") == inodes[2])
        #expect(try Fieldscribe.text("\(texts)/3.txt") == "corrected\n")
        let withoutFolder = try Fieldscribe.run("transcribe", "--resume", files[0], in: folder)
        #expect(withoutFolder.status == 2 && withoutFolder.errors.count == 1, "\(withoutFolder.errors)")
    }

    @Test("file names too long for an extension are shortened, and names with the same beginning stay distinct")
    func longNames() throws {
        let config = try configuration()
        let long = String(repeating: "é", count: 124)
        let files = try [noise("\(long)a.wav", seconds: "0.8"), noise("\(long)b.wav", seconds: "0.8")]
        let outcome = try Fieldscribe(
            ["transcribe", "--config", config, "--output", texts, "--format", "textgrid"] + files, in: folder
        ).wait()
        #expect(outcome.status == 0, "\(outcome.errors)")
        let names = try FileManager.default.contentsOfDirectory(atPath: texts).filter { $0.hasSuffix(".TextGrid") }
        #expect(names.count == 2 && names.allSatisfy { $0.hasPrefix("éééé") && $0.utf8.count <= 230 }, "\(names)")
    }

    @Test("a film's default track is read unless --track selects others; a line names the ignored tracks")
    func tracks() throws {
        let config = try configuration()
        let sound = try noise("sound.wav", seconds: "2")
        let film = folder.file("film.mkv")
        try Fieldscribe.tool(
            "ffmpeg", "-loglevel", "error", "-f", "lavfi", "-i", "anullsrc=d=4:r=16000", "-i", sound, "-map", "0",
            "-map", "1", "-c:a", "aac", "-disposition:a:0", "0", "-disposition:a:1", "default",
            "-metadata:s:a:0", "language=eng", film, in: folder)
        func read(_ arguments: String...) throws -> Fieldscribe.Outcome {
            try Fieldscribe(["transcribe", "--config", config, film] + arguments, in: folder).wait()
        }
        let defaultTrack = try read()
        #expect(defaultTrack.status == 0 && defaultTrack.output.contains("heard"), "\(defaultTrack.output)")
        #expect(
            defaultTrack.errors.count == 1 && defaultTrack.errors[0].contains("track 2 of 2 is read, not 1 (eng)"),
            "\(defaultTrack.errors)")
        let firstTrack = try read("--track", "1")
        #expect(
            firstTrack.status == 0 && !firstTrack.output.contains("heard") && firstTrack.errors.isEmpty,
            "\(firstTrack.errors)")
        let allTracks = try read("--track", "all")
        #expect(allTracks.status == 0 && allTracks.output.contains("heard"), "\(allTracks.output) \(allTracks.errors)")
        let missingTrack = try read("--track", "3")
        #expect(
            missingTrack.status == 3 && missingTrack.errors.count == 1 && missingTrack.errors[0].contains("2 tracks"),
            "\(missingTrack.errors)")
        let invalidTrack = try read("--track", "both")
        #expect(
            invalidTrack.status == 2 && invalidTrack.errors.count == 1 && invalidTrack.errors[0].contains("both"),
            "\(invalidTrack.errors)")
    }

    @Test("times match a player's times, even if the sound begins after the picture")
    func lateSound() throws {
        let config = try configuration()
        let sound = try noise("sound.wav", seconds: "2")
        let film = folder.file("late.mp4")
        try Fieldscribe.tool(
            "ffmpeg", "-loglevel", "error", "-f", "lavfi", "-i", "testsrc=d=10:r=5:s=64x64", "-itsoffset", "5", "-i",
            sound, "-map", "0:v", "-map", "1:a", "-c:v", "mpeg4", "-c:a", "aac", film, in: folder)
        let outcome = try Fieldscribe.run("transcribe", "--config", config, "--format", "json", film, in: folder)
        #expect(outcome.status == 0 && outcome.errors.isEmpty, "\(outcome.errors)")
        let segment = try #require(Transcript(outcome.output).segments.first)
        #expect(segment.start > 5.5 && segment.start < 6.2 && segment.end > 7.8, "\(segment)")
    }

    @Test("without ffmpeg, a line reports what libsndfile may have missed; with ffmpeg, everything is read")
    func withoutFFmpeg() throws {
        let config = try configuration()
        let (singlePath, doublePath) = (folder.file("one.mp3"), folder.file("two.mp3"))
        try Fieldscribe.tool(
            "ffmpeg", "-loglevel", "error", "-i", noise("talk.wav", seconds: "8"), singlePath, in: folder)
        let bytes = try Data(contentsOf: URL(filePath: singlePath))
        try (bytes + bytes).write(to: URL(filePath: doublePath))
        let arguments = ["transcribe", "--config", config, "--format", "json", doublePath]
        let complete = try Fieldscribe(arguments, in: folder).wait()
        #expect(complete.status == 0 && complete.errors.isEmpty, "\(complete.errors)")
        #expect(try abs(Transcript(complete.output).duration - 20) < 0.3)
        let incomplete = try Fieldscribe(
            program: "/usr/bin/env", ["PATH=/nonexistent", Fieldscribe.executable()] + arguments, in: folder
        ).wait()
        // libmpg123 also prints lines.
        let errors = incomplete.errors.filter { $0.hasPrefix("fieldscribe: ") }
        #expect(incomplete.status == 4 && errors.count == 1, "\(incomplete.errors)")
        #expect(errors.first?.contains("was not read; ffmpeg may read it: apt install ffmpeg") == true)
    }

    @Test("damaged sound is a gap in the transcript, and a line names the file and the time", arguments: [false, true])
    func damaged(isCopy: Bool) throws {
        let config = try configuration()
        let talk = try noise("talk.wav", seconds: "8")
        var sound = folder.file("talk.flac")
        if isCopy {
            // The audio file of an exported copy.
            let (storage, stick) = (folder.file("storage"), folder.file("stick"))
            try Fieldscribe.tool("mkdir", stick, in: folder)
            let recorded = try Fieldscribe.run(
                "record", "--config", config, "--microphone", "file+fast:\(talk)", "--directory", storage, in: folder)
            #expect(recorded.status == 0, "\(recorded.errors)")
            let copied = try Fieldscribe.run(
                "export", "--config", config, "--to", stick, "--directory", storage, in: folder)
            let line = try #require(copied.output.split(separator: "\n").first)
            let copy = try #require(line.split(separator: " ").last)
            sound = "\(copy)/audio.flac"
        } else {
            try Fieldscribe.tool("sox", talk, sound, in: folder)
        }
        var bytes = try Data(contentsOf: URL(filePath: sound))
        for index in bytes.count / 2..<bytes.count / 2 + 2 { bytes[index] ^= 0xff }
        try bytes.write(to: URL(filePath: sound))
        let outcome = try Fieldscribe.run("transcribe", "--config", config, "--format", "json", sound, in: folder)
        #expect(outcome.status == 4)
        #expect(
            outcome.errors.count == 1 && outcome.errors[0].contains(sound)
                && outcome.errors[0].contains("no sound can be read"), "\(outcome.errors)")
        let transcript = try Transcript(outcome.output)
        #expect(abs(transcript.duration - 10) < 0.01 && transcript.segments.count == 2, "\(transcript)")
        #expect(outcome.output.contains("\"cause\":\"damage\"") || outcome.output.contains("\"cause\" : \"damage\""))
    }

    @Test(
        "for a truncated film, the exit status and a message report that something is missing",
        arguments: [
            ["-c:a", "aac", "-movflags", "+faststart", "cut.m4a"], ["-c:a", "libopus", "cut.webm"],
            ["-c:a", "aac", "-movflags", "frag_keyframe+empty_moov", "-frag_duration", "1000000", "cut.mp4"],
        ])
    func cut(encoding: [String]) throws {
        let config = try configuration()
        let path = folder.file(encoding.last ?? "")
        let arguments = ["-nostdin", "-loglevel", "error", "-i", try noise("talk.wav", seconds: "18")]
        let encoded = try Fieldscribe(program: "ffmpeg", arguments + encoding.dropLast() + [path], in: folder).wait()
        try #require(encoded.status == 0, "\(encoded.errors)")
        let bytes = try Data(contentsOf: URL(filePath: path))
        try bytes.prefix(bytes.count * 55 / 100).write(to: URL(filePath: path))
        let outcome = try Fieldscribe.run("transcribe", "--config", config, "--format", "json", path, in: folder)
        #expect(outcome.status == 4 && outcome.errors.count == 1, "\(outcome.errors)")
        #expect(outcome.errors.first?.hasPrefix("fieldscribe: \(path): ") == true, "\(outcome.errors)")
        let transcript = try Transcript(outcome.output)
        #expect(transcript.duration > 8 && transcript.duration < 14 && !transcript.words.isEmpty, "\(transcript)")
    }

    @Test("a WAV header without the real length is reported, but is not an error", arguments: [0, UInt32.max])
    func streamed(length: UInt32) throws {
        let config = try configuration()
        let path = try noise("talk.wav", seconds: "2")
        var bytes = try Data(contentsOf: URL(filePath: path))
        let data = try #require(bytes.firstRange(of: Data("data".utf8)))
        for offset in [4, data.upperBound] {
            for index in 0..<4 { bytes[offset + index] = UInt8(truncatingIfNeeded: length) }
        }
        try bytes.write(to: URL(filePath: path))
        let outcome = try Fieldscribe.run("transcribe", "--config", config, "--format", "json", path, in: folder)
        #expect(outcome.status == 0 && outcome.errors.count == 1, "\(outcome.errors)")
        #expect(outcome.errors.first?.contains("never completed") == true, "\(outcome.errors)")
        #expect(try abs(Transcript(outcome.output).duration - 4) < 0.01)
    }

    @Test("an ELAN document names the WAV file next to the sound if there is one, otherwise the sound itself")
    func elan() throws {
        let config = try configuration()
        let (wave, sound) = (try noise("talk.wav", seconds: "1"), folder.file("talk.flac"))
        try Fieldscribe.tool("sox", wave, sound, in: folder)
        for (exists, name) in [(true, "talk.wav"), (false, "talk.flac")] {
            if !exists { unlink(wave) }
            let outcome = try Fieldscribe.run("transcribe", "--config", config, "--format", "eaf", sound, in: folder)
            #expect(outcome.status == 0, "\(outcome.errors)")
            #expect(outcome.output.contains(#"RELATIVE_MEDIA_URL="./\#(name)""#), "\(outcome.output)")
        }
    }
}
