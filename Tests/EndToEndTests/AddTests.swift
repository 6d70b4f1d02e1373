import FoundationEssentials
import Glibc
import Testing
import TestKit

/// Files from phones and other recorders become recordings.
@Suite("add", .serialized) struct AddTests {
    private let folder = TemporaryFolder()

    private var storage: String { folder.file("storage") }

    private struct Row: Decodable {
        var id: Int
        var title: String?
        var start: String
        var clock: String
        var duration: Double
        var transcribedUpTo: Double
    }

    private func run(_ arguments: String..., input: String = "/dev/null") throws -> Fieldscribe.Outcome {
        try Fieldscribe(arguments + ["--directory", storage], in: folder, input: input).wait()
    }

    private func add(_ arguments: String..., input: String = "/dev/null") throws -> Fieldscribe.Outcome {
        let engine = arguments.contains("--no-transcribe") ? [] : ["--engine", "pocketsphinx"]
        return try Fieldscribe(["add"] + arguments + engine + ["--directory", storage], in: folder, input: input).wait()
    }

    private func rows() throws -> [Row] {
        try JSONDecoder().decode([Row].self, from: Data(try run("list", "--json").output.utf8))
    }

    private func files(_ id: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: "\(storage)/recordings/\(id)").sorted()
    }

    private func content(_ path: String) throws -> Data { try Data(contentsOf: URL(filePath: path)) }

    /// Creates a file with speech at 8 kHz, as phones record it, but without metadata.
    private func phoneRecording(_ name: String) throws -> String {
        let path = folder.file(name)
        try Fieldscribe.tool("sox", Speech.all[0], "-r", "8000", path, in: folder)
        return path
    }

    @Test("a phone's file becomes a recording and is kept unchanged, even in a copy")
    func phone() throws {
        let path = folder.file("Anna at the mill.m4a")
        try Fieldscribe.tool(
            "ffmpeg", "-v", "error", "-i", Speech.all[0], "-metadata", "creation_time=2019-05-03T10:11:12Z", path,
            in: folder)
        let addition = try add(path)
        #expect(addition.status == 0, "\(addition.errors)")
        #expect(addition.output.hasPrefix("recording 1: \(path), 00:0"))
        let row = try #require(try rows().first)
        #expect(row.title == "Anna at the mill" && row.start.hasPrefix("2019-05-03T10:11:12"))
        #expect(row.clock == "synchronized" && row.duration > 3 && row.transcribedUpTo == row.duration)
        #expect(try files("000001").contains("original.m4a"))
        #expect(try content("\(storage)/recordings/000001/original.m4a") == content(path))
        #expect(try Transcript(try run("show", "1", "--format", "json").output).words.count > 3)
        #expect(try run("show", "1", "--format", "markdown").output.contains("Anna at the mill"))
        #expect(try run("history", "1").output.contains("added from a file, SHA-256 "))
        try expectVerified(run("verify"))
        let stick = folder.file("stick")
        try FileManager.default.createDirectory(atPath: stick, withIntermediateDirectories: true)
        let export = try run("export", "--to", stick)
        let copy = try #require(export.copy)
        #expect(try content("\(copy)/original.m4a") == content(path))
        try Fieldscribe.tool("sh", "-c", "cd '\(copy)' && sha256sum --quiet -c SHA256SUMS", in: folder)
        #expect(try run("export", "--to", stick).status == 0)
        #expect(try run("redact", "1", "0", "1", "--yes").status == 0)
        #expect(try !files("000001").contains("original.m4a"))
        #expect(try run("export", "--to", stick).status == 0)
        #expect(access("\(copy)/original.m4a", F_OK) != 0)
        #expect(try run("delete", "1", "--yes").status == 0)
        #expect(try rows().isEmpty)
    }

    @Test("a file already in the format of recordings is not kept a second time")
    func recording() throws {
        let addition = try add(Speech.all[0], "--no-transcribe")
        #expect(addition.status == 0 && addition.errors.isEmpty, "\(addition.errors)")
        #expect(try files("000001") == ["audio.sums", "audio.wav", "journal.jsonl"])
        #expect(try content("\(storage)/recordings/000001/audio.wav") == content(Speech.all[0]))
        let row = try #require(try rows().first)
        #expect(row.clock == "unverified" && row.transcribedUpTo == 0)
        // An audio file from another Fieldscribe recorder.
        let otherStorage = folder.file("other")
        let recorded = try Fieldscribe.run(
            "record", "--audio-only", "--seconds", "2", "--microphone", "tone+fast:440", "--directory", otherStorage,
            in: folder)
        #expect(recorded.status == 0)
        #expect(try add("\(otherStorage)/recordings/000001/audio.wav", "--no-transcribe").status == 0)
        #expect(try files("000002") == ["audio.sums", "audio.wav", "journal.jsonl"])
        let recovered = try run("recover")
        #expect(recovered.status == 0, "\(recovered.errors)")
        #expect(try rows().allSatisfy { $0.transcribedUpTo == $0.duration })
        try expectVerified(run("verify"))
    }

    @Test("files that cannot be added are reported, one per line; the others are added once each")
    func unusableFiles() throws {
        let fileName = "two\nlines.wav"
        let talk = try phoneRecording("talk.wav")
        try FileManager.default.moveItem(atPath: talk, toPath: folder.file(fileName))
        try Data("no sound".utf8).write(to: URL(filePath: folder.file("notes.m4a")))
        try Data().write(to: URL(filePath: folder.file("empty.wav")))
        #expect(mkfifo(folder.file("pipe"), 0o600) == 0)
        symlink(folder.file(fileName), folder.file("link.wav"))
        let unusablePaths =
            ["missing.wav", "notes.m4a", "empty.wav", "pipe"].map(folder.file) + [folder.path, "/dev/null"]
        let outcome = try Fieldscribe(
            ["add", "--no-transcribe", "--directory", storage] + unusablePaths + [
                folder.file(fileName), folder.file("link.wav"),
            ],
            in: folder
        ).wait()
        #expect(outcome.status == 3, "\(outcome.errors)")
        #expect(outcome.output.hasPrefix("recording 1: \(folder.path)/two lines.wav, 00:"), "\(outcome.output)")
        #expect(outcome.errors.count == unusablePaths.count + 1, "\(outcome.errors)")
        for (path, line) in zip(unusablePaths, outcome.errors) {
            #expect(line.hasPrefix("fieldscribe: \(path): "), "\(line)")
        }
        #expect(outcome.errors.last?.contains("link.wav: is already recording 1") == true)
        #expect(try rows().map(\.title) == ["two lines"])
        #expect(try add(folder.file(fileName), "--no-transcribe").status == 0)
        #expect(try FileManager.default.contentsOfDirectory(atPath: "\(storage)/recordings") == ["000001"])
    }

    @Test("standard input is accepted; the readable part of a truncated file is added, with status 4")
    func truncatedFile() throws {
        let path = try phoneRecording("talk.wav")
        let bytes = try content(path)
        #expect(try add("-", "--no-transcribe", input: path).status == 0)
        let truncatedPath = folder.file("cut.wav")
        try bytes.prefix(bytes.count / 2).write(to: URL(filePath: truncatedPath))
        let outcome = try add(truncatedPath, "--no-transcribe")
        #expect(outcome.status == 4)
        #expect(
            outcome.errors.count == 1 && outcome.errors[0].hasSuffix("; the readable part was added"),
            "\(outcome.errors)")
        let rows = try rows()
        #expect(rows.map(\.title) == ["standard input", "cut"])
        #expect(abs(rows[1].duration - rows[0].duration / 2) < 0.1)
        try expectVerified(run("verify"))
    }

    private var recordingFolders: [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: "\(storage)/recordings")) ?? []
    }

    /// Starts to add 20 minutes of sound, and returns while the sound is being converted.
    private func startLongAdd() throws -> Fieldscribe {
        let path = folder.file("long.wav")
        try Fieldscribe.tool("sox", "-n", "-r", "44100", "-b", "16", path, "synth", "1200", "sine", "300", in: folder)
        let process = try Fieldscribe(["add", "--no-transcribe", "--directory", storage, path], in: folder)
        try process.wait(until: "sound that is being converted") {
            recordingFolders.contains { access("\(storage)/recordings/\($0)/audio.wav", F_OK) == 0 }
        }
        return process
    }

    @Test("a killed add leaves no partial recording and uses no recording number")
    func killed() throws {
        let process = try startLongAdd()
        kill(process.id, SIGKILL)
        _ = try process.wait()
        #expect(try rows().isEmpty)
        let talk = try phoneRecording("talk.wav")
        #expect(try add(talk, "--no-transcribe").output.hasPrefix("recording 1: "))
        #expect(recordingFolders == ["000001"])
        try expectVerified(run("verify"))
    }

    @Test("a full disk is reported, and no files remain")
    func fullDisk() throws {
        let configuration = folder.file("fieldscribe.conf")
        try Data("[storage]\ndirectory = \(storage)\nreserve-megabytes = 1000000\n".utf8).write(
            to: URL(filePath: configuration))
        let talk = try phoneRecording("talk.wav")
        let outcome = try Fieldscribe.run("add", talk, "--no-transcribe", "--config", configuration, in: folder)
        #expect(outcome.status == 1 && outcome.errors.count == 1, "\(outcome.errors)")
        #expect(outcome.errors.first?.contains("storage.reserve-megabytes") == true)
        #expect(try FileManager.default.contentsOfDirectory(atPath: "\(storage)/recordings").isEmpty)
    }

    @Test("if a file size limit cuts off ffmpeg's output, the error names the limit and does not blame the file")
    func fileSizeLimit() throws {
        let path = folder.file("talk.mp3")
        try Fieldscribe.tool(
            "ffmpeg", "-v", "error", "-f", "lavfi", "-i", "sine=d=60:r=16000", "-b:a", "16k", path, in: folder)
        let program = try Fieldscribe.executable()
        for command in ["transcribe --engine pocketsphinx", "add --no-transcribe --directory '\(storage)'"] {
            // The decoded sound has 1.9 MB and exceeds the limit; the file and a new database do not.
            let outcome = try Fieldscribe(
                program: "bash", ["-c", "ulimit -f 1000; exec '\(program)' \(command) '\(path)'"], in: folder
            ).wait()
            #expect(outcome.status == 1, "\(command): \(outcome.errors)")
            let line = outcome.errors.first { $0.contains("ulimit -f") }
            #expect(line?.contains("the temporary file in ") == true, "\(command): \(outcome.errors)")
            #expect(!outcome.errors.contains { $0.contains("the header says") }, "\(command): \(outcome.errors)")
        }
        #expect(try rows().isEmpty)
    }

    @Test("a second add waits for the first, and reports that in one line")
    func concurrentAdds() throws {
        let first = try startLongAdd()
        // A stopped process keeps its locks.
        kill(first.id, SIGSTOP)
        let talk = try phoneRecording("talk.wav")
        let second = try Fieldscribe(["add", "--no-transcribe", "--directory", storage, talk], in: folder)
        try second.wait(until: "the line about waiting") {
            try second.errorsSoFar.contains("is using this archive; waiting")
        }
        kill(first.id, SIGCONT)
        #expect(try first.wait().output.hasPrefix("recording 1: "))
        let outcome = try second.wait()
        #expect(outcome.status == 0 && outcome.output.hasPrefix("recording 2: "), "\(outcome)")
        #expect(outcome.errors.count == 1, "\(outcome.errors)")
    }

    @Test("the appliance accepts a file while it records, and transcribes it afterwards")
    func appliance() throws {
        let appliance = try ApplianceProcess(
            in: folder, microphone: "tone:440", settings: "[recognizer]\nengine = pocketsphinx\nsecond-pass = no")
        #expect(try appliance.run("start").status == 0)
        let talk = try phoneRecording("talk.wav")
        let addition = try appliance.run("add", talk)
        #expect(
            addition.status == 0 && addition.output.hasPrefix("recording 2: "), "\(addition.output) \(addition.errors)")
        #expect(try appliance.run("add", talk).errors.first?.contains("is already recording 2") == true)
        try appliance.waitForSound(seconds: 1)
        #expect(try appliance.run("stop").status == 0)
        try appliance.process.wait(until: "the transcript of the added file") {
            try appliance.run("show", "2", "--format", "json").output.contains(#""words":[{"#)
        }
        try expectVerified(appliance.run("verify"))
        _ = try appliance.stop()
    }
}
