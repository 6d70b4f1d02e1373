import FoundationEssentials
import Glibc
import Testing
import TestKit

/// Malicious files on a stick while the appliance records with little memory.
@Suite("A stick with hostile files") struct HostileStickTests {
    private let folder = TemporaryFolder()

    /// The beginning of a corrections file, up to its first list.
    private static let head =
        #"{"format":"fieldscribe-corrections","version":1,"recording":{"id":1,"sound":"\#(String(repeating: "a", count: 64))"},"#
        + #""editor":{"name":"Ann","saved":1},"segments":[],"#

    /// Each file's name, its content, and the line that RESULT.txt must contain for it.
    private static let files: [(name: String, bytes: String, line: String)] = [
        (
            "corrections.json",
            head + #""other":["# + String(repeating: "1,", count: 7_700_000) + "1]}",
            "corrections.json: recording 1 is still being transcribed"
        ),
        (
            "corrections (1).json", String(repeating: "[", count: 16_000_000),
            "corrections (1).json: is incomplete, or not a Fieldscribe corrections file"
        ),
        (
            "corrections (2).html", String(repeating: "\u{301}", count: 8_000_000),
            "corrections (2).html: is incomplete, or not a Fieldscribe corrections file"
        ),
        (
            "corrections (3).json",
            head + #""notes":["# + String(repeating: #"{"time":1,"text":"a"},"#, count: 100_001)
                + #"{"time":1,"text":"a"}]}"#,
            "corrections (3).json: contains more than any recording"
        ),
    ]

    @Test("with 400 MB of address space, each file is reported in one line and the recording is complete")
    func recording() throws {
        let appliance = try ApplianceProcess(
            in: folder, microphone: "tone:440", environment: ["prlimit", "--as=400000000"])
        #expect(try appliance.run("start").status == 0)
        let top = folder.file("stick/Fieldscribe")
        try FileManager.default.createDirectory(atPath: top, withIntermediateDirectories: true)
        for file in Self.files { try Data(file.bytes.utf8).write(to: URL(filePath: "\(top)/\(file.name)")) }
        try Data("{".utf8).write(to: URL(filePath: "\(top)/corrections\n.json"))
        let export = try appliance.run("export", "--stick", "--to", folder.file("stick"))
        let result = try Fieldscribe.text("\(top)/RESULT.txt")
        for file in Self.files {
            #expect(result.contains(file.line), "\(result)")
            // The import command sends the file through the socket.
            let name = folder.file(file.name)
            try Data(file.bytes.utf8).write(to: URL(filePath: name))
            let imported = try appliance.run("import", name)
            #expect(imported.status != 0 && imported.errors.count == 1, "\(imported.errors)")
            #expect(imported.errors.first?.contains(file.line) == true, "\(imported.errors)")
        }
        #expect(export.status == 0, "\(export.errors)")
        // The name with a line break is reported in one line.
        #expect(!export.errors.contains { $0.hasPrefix(".json") }, "\(export.errors)")
        #expect(kill(appliance.process.id, 0) == 0)
        #expect(try appliance.run("stop").status == 0)
        try expectVerified(appliance.run("verify"))
        let outcome = try appliance.stop()
        #expect(outcome.status == 0 && !outcome.errors.contains { $0.contains("fault") }, "\(outcome.errors)")
    }

    @Test("a worker that runs out of memory is reported as a fault, and the recording continues")
    func worker() throws {
        let (script, resultPath) = (folder.file("engine.py"), folder.file("result"))
        // An engine that allocates more than the limit once it receives speech.
        try """
        import json, os, struct, sys
        print(json.dumps({"ready": {"name": "greedy", "version": "1", "model": "none"}}), flush=True)
        while len(head := sys.stdin.buffer.read(5)) == 5:
            kind, length = struct.unpack("<cI", head)
            sys.stdin.buffer.read(length)
            if kind != b"a": continue
            try: bytearray(1 << 30)
            except MemoryError: open("\(resultPath)", "w").write("no memory")
            os._exit(1)
        """.write(toFile: script, atomically: true, encoding: .utf8)
        let engine = try folder.program("engine", "exec /usr/bin/python3 '\(script)'")
        let speech = try Speech.endless(in: folder)
        let appliance = try ApplianceProcess(
            in: folder, microphone: "file:\(speech)", settings: "[recognizer]\nengine = command:\(engine)",
            environment: ["prlimit", "--as=400000000"])
        #expect(try appliance.run("start").status == 0)
        try appliance.waitForStatus("decode worker")
        #expect(try Fieldscribe.text(resultPath) == "no memory")
        #expect(try appliance.status().contains(#""lastFault":{"#))
        try appliance.waitForSound(seconds: 1)
        #expect(try appliance.run("stop").status == 0)
        // Compares the sound after the headers of both files.
        let path = "\(appliance.storage)/recordings/000001/audio.wav"
        let audio = try Data(contentsOf: URL(filePath: path)).dropFirst(512)
        #expect(try Data(contentsOf: URL(filePath: speech)).dropFirst(44).starts(with: audio) && audio.count > 32_000)
        #expect(try appliance.stop().status == 0)
        try expectVerified(appliance.run("verify"))
    }

    @Test("up to 100,000 files are all checked; beyond that, a line reports that not all were checked")
    func crowded() throws {
        let (storage, stick) = (folder.file("storage"), folder.file("stick"))
        func run(_ arguments: String...) throws -> Fieldscribe.Outcome {
            try Fieldscribe(arguments + ["--directory", storage], in: folder).wait()
        }
        #expect(
            try run("record", "--audio-only", "--seconds", "1", "--microphone", "tone+fast:440").status == 0)
        try Fieldscribe.tool(
            "bash", "-c",
            "mkdir -p '\(stick)/Fieldscribe/many' && cd '\(stick)/Fieldscribe/many' && seq 1 99999 | xargs touch && "
                + "echo '{' >corrections.json", in: folder)
        let expectedLine = "many/corrections.json: is incomplete"
        let first = try run("export", "--stick", "--to", stick)
        var result = try Fieldscribe.text("\(stick)/Fieldscribe/RESULT.txt")
        #expect(
            first.status == 0 && result.contains(expectedLine) && !result.contains("not all were checked"), "\(result)")
        try Fieldscribe.tool(
            "bash", "-c", "cd '\(stick)/Fieldscribe/many' && seq 100000 100009 | xargs touch", in: folder)
        #expect(try run("export", "--stick", "--to", stick).status == 0)
        result = try Fieldscribe.text("\(stick)/Fieldscribe/RESULT.txt")
        #expect(result.contains("many: has more than 100000 files, so not all were checked"), "\(result)")
    }

    @Test("corrections and folders whose names are not UTF-8 are reported")
    func names() throws {
        let (storage, stick) = (folder.file("storage"), folder.file("stick"))
        let record = [
            "record", "--audio-only", "--seconds", "1", "--microphone", "tone+fast:440", "--directory", storage,
        ]
        #expect(try Fieldscribe(record, in: folder).wait().status == 0)
        try Fieldscribe.tool(
            "bash", "-c",
            "mkdir -p '\(stick)/Fieldscribe/'$'old\\xff' && touch '\(stick)/Fieldscribe/'$'corrections\\xff.json'",
            in: folder)
        let export = ["export", "--stick", "--to", stick, "--directory", storage]
        #expect(try Fieldscribe(export, in: folder).wait().status == 0)
        let result = try Fieldscribe.text("\(stick)/Fieldscribe/RESULT.txt")
        #expect(
            result.contains("corrections\u{FFFD}.json: was not read: its name is not UTF-8; rename it"), "\(result)")
        #expect(result.contains("old\u{FFFD}: was not read: its name is not UTF-8; rename it"), "\(result)")
    }
}
