import FoundationEssentials
import Testing
import TestKit

@Suite("models", .serialized) struct ModelsTests {
    private struct Row: Decodable {
        var name: String
        var path: String
        var sha256: String
        var isChosen: Bool
        var problems: [String]
    }

    private struct Head: Decodable {
        struct Engine: Decodable { var model: String }
        var engine: Engine
    }

    private let folder = TemporaryFolder()
    private static let data = "/usr/share/pocketsphinx/test/data"

    /// Writes settings with `extra` under `[recognizer]`, and installs a model with a small vocabulary.
    private func configuration(_ extra: String) throws -> String {
        let files = FileManager.default
        let model = folder.file("store/models/turtle")
        if !files.fileExists(atPath: model) {
            try files.createDirectory(atPath: model, withIntermediateDirectories: true)
            try files.copyItem(atPath: "\(Self.data)/an4_ci_cont", toPath: "\(model)/an4")
            try files.copyItem(atPath: "\(Self.data)/turtle.lm.bin", toPath: "\(model)/turtle.lm.bin")
            let dictionary = try Fieldscribe.text("\(Self.data)/turtle.dic")
            // The acoustic model lacks six of the dictionary's phones.
            let supported = dictionary.split(separator: "\n").filter {
                $0.split(separator: " ").allSatisfy { !["DH", "NG", "OY", "SH", "UH", "ZH"].contains($0) }
            }.joined(separator: "\n")
            try Data(supported.utf8).write(to: URL(filePath: "\(model)/turtle.dic"))
        }
        let path = folder.file("fieldscribe.conf")
        let text = "[storage]\ndirectory = \(folder.file("store"))\n[recognizer]\n\(extra)\n"
        try Data(text.utf8).write(to: URL(filePath: path))
        return path
    }

    private func speech() throws -> String {
        let path = folder.file("goforward.wav")
        try Fieldscribe.tool(
            "sox", "-r", "16000", "-e", "signed", "-b", "16", "-c", "1", "\(Self.data)/goforward.raw", path, in: folder)
        return path
    }

    @Test("models lists Debian's models and the user's own, with a checksum that sha256sum confirms")
    func list() throws {
        let outcome = try Fieldscribe.run("models", "--json", "--config", configuration("model = turtle"), in: folder)
        let rows = try JSONDecoder().decode([Row].self, from: Data(outcome.output.utf8))
        #expect(outcome.status == 0)
        #expect(rows.map(\.name) == ["turtle", "en-us"])
        #expect(rows.map(\.isChosen) == [true, false])
        let turtle = try #require(rows.first)
        let sum = try Fieldscribe(
            program: "sh",
            ["-c", "cd '\(turtle.path)' && find . -type f | LC_ALL=C sort | xargs sha256sum | sha256sum"], in: folder
        ).wait()
        #expect(sum.output.hasPrefix(turtle.sha256) && turtle.sha256.count == 64)
    }

    @Test("--model overrides the configured model")
    func modelOption() throws {
        let audio = try speech()
        func engine(_ arguments: String...) throws -> String {
            let outcome = try Fieldscribe(["transcribe", "--format", "json", audio] + arguments, in: folder).wait()
            #expect(outcome.status == 0, "\(outcome.errors)")
            return try JSONDecoder().decode(Head.self, from: Data(outcome.output.utf8)).engine.model
        }
        let configuration = try configuration("model = turtle")
        #expect(try engine("--config", configuration) == "turtle")
        #expect(try engine("--config", configuration, "--model", "en-us") == "en-us")
        let configured = try Fieldscribe.run("transcribe", "--config", configuration, audio, in: folder)
        #expect(configured.output.hasSuffix("ten meters\n"), "\(configured.output)")
    }

    @Test(
        "an incomplete or unknown model is refused in one line with exit status 3, and the missing file is named"
    )
    func unusableModels() throws {
        let configuration = try configuration("model = turtle")
        try FileManager.default.removeItem(atPath: folder.file("store/models/turtle/an4/means"))
        let list = try Fieldscribe.run("models", "turtle", "--config", configuration, in: folder)
        #expect(list.status == 3 && list.output.contains("an4/means: the recognizer's model lacks this file"))
        let run = try Fieldscribe.run("transcribe", "--config", configuration, Speech.all[4], in: folder)
        #expect(run.status == 3 && run.errors.count == 1 && run.errors[0].contains("an4/means"), "\(run.errors)")
        let unknown = try Fieldscribe.run("transcribe", "--model", "xx", Speech.all[4], in: folder)
        #expect(unknown.status == 3 && unknown.errors.count == 1, "\(unknown.errors)")
        #expect(unknown.errors[0].contains("xx: no model has this name"), "\(unknown.errors)")
    }
}
