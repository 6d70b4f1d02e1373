import FoundationEssentials
import Testing
import TestKit

/// Options for recognition, and commands for reviewing transcripts.
@Suite("Hints, engines, review", .serialized) struct ParityTests {
    private let folder = TemporaryFolder()

    private func configuration(_ text: String) throws -> String {
        let path = folder.file("fieldscribe.conf")
        try Data("[storage]\ndirectory = \(folder.file("store"))\n\(text)\n".utf8).write(to: URL(filePath: path))
        return path
    }

    @Test("a custom engine transcribes files through the protocol of decode workers")
    func engine() throws {
        let example = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "deploy/engine-example").path
        let config = try configuration("[recognizer]\nengine = command:\(example)")
        let outcome = try Fieldscribe.run("transcribe", "--config", config, Speech.all[4], in: folder)
        #expect(outcome.status == 0 && !outcome.output.isEmpty, "\(outcome.errors)")
        let words = outcome.output.split(separator: "\n")
        #expect(words.allSatisfy { ["loud", "soft"].contains($0) }, "\(outcome.output)")
        let lines = try Fieldscribe.text(example).split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.count <= 35)
        let missing = try configuration("[recognizer]\nengine = command:/nowhere/engine")
        let refused = try Fieldscribe.run("transcribe", "--config", missing, Speech.all[4], in: folder)
        #expect(refused.status == 3 && refused.errors.count == 1 && refused.errors[0].contains("/nowhere/engine"))
    }

    @Test("with the hint \"confirmation\", only yes, no and numbers are recognized")
    func confirmation() throws {
        let config = try configuration("[recognizer]\nhint = confirmation")
        let outcome = try Fieldscribe.run("transcribe", "--config", config, Speech.all[4], in: folder)
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(["made", "amiable", "itself"].allSatisfy { !outcome.output.contains($0) }, "\(outcome.output)")
        let dictation = try Fieldscribe.run(
            "transcribe", "--config", config, "--hint", "dictation", Speech.all[4], in: folder)
        #expect(dictation.output.contains("amiable itself"), "\(dictation.output)")
    }

    @Test("punctuation is added on request and changes no word; the archive keeps the recognized text")
    func sentences() throws {
        let config = try configuration("[recognizer]\npunctuation = automatic")
        let joined = try Speech.joined(in: folder)
        let recorded = try Fieldscribe.run(
            "record", "--config", config, "--microphone", "file+fast:\(joined)", in: folder)
        #expect(recorded.status == 0, "\(recorded.errors)")
        let shown = try Fieldscribe.run("show", "1", "--config", config, in: folder).output
        let unpunctuated = try Fieldscribe.run(
            "show", "1", "--config", config, "--punctuation", "none", in: folder
        ).output
        #expect(shown.first?.isUppercase == true && shown.hasSuffix(".\n"), "\(shown)")
        #expect((2...8).contains(shown.count { $0 == "." }), "\(shown)")
        #expect(shown.contains(".\nHe was"), "\(shown)")
        #expect(shown.lowercased().replacing(".", with: "") == unpunctuated, "\(unpunctuated)")
        #expect(unpunctuated == unpunctuated.lowercased())
        let transcribed = try Fieldscribe.run("transcribe", "--config", config, joined, in: folder).output
        #expect(transcribed == shown)
        let target = folder.file("stick")
        try FileManager.default.createDirectory(atPath: target, withIntermediateDirectories: false)
        let export = try Fieldscribe.run("export", "--to", target, "--config", config, in: folder)
        #expect(export.status == 0, "\(export.errors)")
        let folders = export.output.split(separator: "  ").last?.split(separator: "\n")
        let copy = try #require(folders?.first)
        #expect(try Fieldscribe.text("\(copy)/transcript.txt") == shown)
        let configWithoutModel = try configuration("[recognizer]\npunctuation = automatic\nmodel = /nowhere")
        #expect(try Fieldscribe.run("show", "1", "--config", configWithoutModel, in: folder).status == 3)
        try FileManager.default.createDirectory(atPath: folder.file("other"), withIntermediateDirectories: false)
        let exportWithoutModel = try Fieldscribe.run(
            "export", "--to", folder.file("other"), "--config", configWithoutModel, in: folder)
        #expect(exportWithoutModel.status == 0 && exportWithoutModel.errors.count == 1, "\(exportWithoutModel.errors)")
        #expect(exportWithoutModel.errors.first?.contains("/nowhere") == true, "\(exportWithoutModel.errors)")
        let otherFolders = exportWithoutModel.output.split(separator: "  ").last?.split(separator: "\n")
        let otherCopy = try #require(otherFolders?.first)
        let plainText = try Fieldscribe.text("\(otherCopy)/transcript.txt")
        #expect(plainText.lowercased() == unpunctuated && plainText.first?.isUppercase == true, "\(plainText)")
    }

    @Test("review lists the least certain words first; search --context shows the lines around a match")
    func wordsToReview() throws {
        let config = try configuration("")
        let recorded = try Fieldscribe.run(
            "record", "--config", config, "--microphone", "file+fast:\(try Speech.joined(in: folder))", in: folder)
        #expect(recorded.status == 0, "\(recorded.errors)")
        struct Row: Decodable {
            var recording: Int
            var start: Double
            var text: String
            var confidence: Double
        }
        let listed = try Fieldscribe.run("review", "--config", config, "--json", "--limit", "7", in: folder)
        let rows = try JSONDecoder().decode([Row].self, from: Data(listed.output.utf8))
        #expect(rows.count == 7 && rows.allSatisfy { $0.recording == 1 })
        #expect(zip(rows, rows.dropFirst()).allSatisfy { $0.confidence <= $1.confidence })
        let first = try #require(rows.first)
        let text = try Fieldscribe.run("review", "1", "--config", config, "--limit", "1", in: folder)
        let formerCommand = try Fieldscribe.run("relisten", "1", "--config", config, "--limit", "1", in: folder)
        #expect(
            formerCommand.output == text.output && formerCommand.status == 0,
            "the former name of review must still work")
        #expect(text.output.contains("[\(first.text)]") && text.output.split(separator: "\n").count == 1)
        let lines = try Fieldscribe.run("show", "1", "--config", config, in: folder).output.split(separator: "\n")
        let index = try #require(lines.firstIndex { $0.contains("itself") })
        let found = try Fieldscribe.run("search", "itself", "--context", "1", "--config", config, in: folder)
        #expect(index > 0 && found.output.contains("       \(lines[index - 1])\n"), "\(found.output)")
        #expect(try Fieldscribe.run("review", "9", "--config", config, in: folder).status == 3)
    }
}
