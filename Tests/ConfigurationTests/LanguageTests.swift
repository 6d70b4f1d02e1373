import FoundationEssentials
import Recognition
import TestKit
import Testing

@testable import Settings

@Suite("recognizer.language chooses a model") struct LanguageTests {
    @Test(
        "for its region, otherwise for its language, otherwise the default model",
        arguments: [
            ("", nil), ("en", nil), ("en-US", nil), ("en-AU", nil), ("en-GB", "en-gb"), ("pt", "pt-BR"),
            ("pt-PT", "pt_PT"), ("pt-AO", "pt-BR"), ("uk", nil),
        ])
    func model(language: String, name: String?) throws {
        let folder = TemporaryFolder()
        for name in ["en-gb", "pt-BR", "pt_PT"] {
            try FileManager.default.createDirectory(
                atPath: folder.file("models/\(name)"), withIntermediateDirectories: true)
        }
        var configuration = Configuration()
        configuration.storage.directory = folder.path
        configuration.recognizer.language = language
        let expected = name.map { folder.file("models/\($0)") } ?? PocketSphinxModel.debian
        #expect(configuration.pocketSphinxFolder == expected)
    }
}
