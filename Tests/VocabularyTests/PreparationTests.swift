import FoundationEssentials
import Glibc
import Testing
import TestKit

@testable import Core
@testable import Recognition

/// These tests need Debian's model and eSpeak NG.
@Suite("Preparing a vocabulary") struct PreparationTests {
    private let folder = TemporaryFolder()
    private let model = PocketSphinxModel(folder: PocketSphinxModel.debian)

    private func file(_ text: String, named name: String = "vocabulary.txt") throws -> String {
        let path = folder.file(name)
        try Data(text.utf8).write(to: URL(filePath: path))
        return path
    }

    private func text(_ path: String) throws -> String {
        String(decoding: try Data(contentsOf: URL(filePath: path)), as: UTF8.self)
    }

    @Test("pronunciations come from the dictionary, the file or eSpeak; a word without one is a problem")
    func report() throws {
        let path = try file("Millet\nbalafon\nNokoué\nDogon = D OW G AA N\nx9q\nzorp = Z QQ\nzai*\n")
        let report = try model.preparation(of: path, cachedIn: folder.path).check()
        #expect(report.words == 6 && report.told == 2, "\(report)")
        #expect(report.known == 1)
        #expect(report.guesses.map(\.word).prefix(2) == ["balafon", "Nokoué"])
        #expect(report.guesses.first?.ways.first == "B AE L AE F AH N")
        #expect(report.problems.map(\.line) == [6, 7], "\(report.problems)")
        #expect(report.problems.first?.reason.contains("no sound QQ") == true)
    }

    @Test("a word in a grammar that begins with a dash is not an option for eSpeak")
    func dash() throws {
        // If it were an option, eSpeak would read this file.
        let path = try file("balafon")
        let pronunciations = EspeakVoice(language: "en-US").pronunciations(of: ["-f\(path)", "balafon"])
        #expect(pronunciations[1].first?.joined(separator: " ") == "B AE L AE F AH N")
        #expect(pronunciations[0] != pronunciations[1])
    }

    @Test("a vocabulary is prepared once, and again if it or the model's files change")
    func kept() throws {
        let path = try file("balafon\n")
        let (first, made) = try model.prepare(path, cachedIn: folder.file("cache"))
        let (second, kept) = try model.prepare(path, cachedIn: folder.file("cache"))
        #expect(made != nil && kept == nil && first == second)
        let dictionary = try text(first.dictionary)
        #expect(dictionary.suffix(200).contains("\nbalafon B AE L AE F AH N\nbalafon(2) "))
        #expect(dictionary.hasPrefix("'bout B AW T\n"))
        _ = try file("balafon\ngriot\n")
        #expect(try model.prepare(path, cachedIn: folder.file("cache")).report != nil)
        // An incomplete result is not used.
        try FileManager.default.removeItem(atPath: first.dictionary)
        _ = try file("balafon\n")
        #expect(try model.prepare(path, cachedIn: folder.file("cache")).report != nil)
    }

    @Test(
        "a changed or invalid cache file is rebuilt",
        arguments: ["", "garbage", "pipe", "folder", "link"])
    func damaged(content: String) throws {
        let path = try file("balafon\n")
        let (first, _) = try model.prepare(path, cachedIn: folder.file("cache"))
        let dictionary = try text(first.dictionary)
        let other = folder.file("other")
        try Data("precious".utf8).write(to: URL(filePath: other))
        try FileManager.default.removeItem(atPath: first.dictionary)
        switch content {
        case "pipe": #expect(mkfifo(first.dictionary, 0o600) == 0)
        case "folder": #expect(mkdir(first.dictionary, 0o700) == 0)
        case "link": #expect(symlink(other, first.dictionary) == 0)
        default: try Data(content.utf8).write(to: URL(filePath: first.dictionary))
        }
        let (second, made) = try model.prepare(path, cachedIn: folder.file("cache"))
        #expect(made != nil && second == first)
        #expect(try text(first.dictionary) == dictionary && text(other) == "precious")
    }

    @Test(
        "learned words apply with or without a vocabulary, but not with a grammar, and replace the previous ones")
    func learned() throws {
        let cache = folder.file("cache")
        let path = try file("balafon\n")
        let (own, _) = try model.prepare(path, cachedIn: cache)
        let (both, made) = try model.prepare(path, and: "\nNokoué\nbalafon = B AA\n", cachedIn: cache)
        #expect(made?.words == 1 && both != own)
        #expect(try text(both.dictionary).contains("\nNokoué ") && text(both.dictionary).contains("\nbalafon B AA\n"))
        guard case .phrases(let phrases) = both.addition else { return #expect(Bool(false), "\(both)") }
        #expect(try text(phrases).contains("Nokoué"))
        let (alone, _) = try model.prepare(nil, and: "griot\n", cachedIn: cache)
        #expect(try text(alone.dictionary).contains("\ngriot "))
        let kept = try FileManager.default.contentsOfDirectory(atPath: cache)
        #expect(kept.count == 2 && kept.filter { $0.hasPrefix("learned-") }.count == 1, "\(kept)")
        #expect(thrown { _ = try model.prepare(nil, and: "x9q%\n", cachedIn: cache) }?.code == .unsupported)
        let grammar = try file("#JSGF V1.0;\ngrammar g;\npublic <g> = yes | no;\n", named: "g.gram")
        let (said, _) = try model.prepare(grammar, and: "griot\n", cachedIn: cache)
        #expect(try !text(said.dictionary).contains("\ngriot "))
    }

    @Test("a pronunciation for a word in the dictionary is added to the existing ones")
    func oneMore() throws {
        let (prepared, _) = try model.prepare(file("tomato = T OW M AO T OW\n"), cachedIn: folder.file("cache"))
        #expect(try text(prepared.dictionary).hasSuffix("tomato(3) T OW M AO T OW\n"))
    }

    @Test("a vocabulary without usable words is refused, and a missing file is reported as missing")
    func refused() throws {
        let empty = try file("# nothing\n")
        #expect(thrown { _ = try model.prepare(empty, cachedIn: folder.file("cache")) }?.code == .unsupported)
        let missing = thrown { _ = try model.prepare(folder.file("none"), cachedIn: folder.file("cache")) }
        #expect(missing?.code == .missing && missing?.message.contains("none") == true)
    }

    private static let data = "/usr/share/pocketsphinx/test/data"

    private func samples(_ name: String) throws -> [Int16] {
        let bytes = try Data(contentsOf: URL(filePath: "\(Self.data)/\(name)"))
        // A WAV header has 44 bytes.
        return bytes.dropFirst(name.hasSuffix(".wav") ? 44 : 0).withUnsafeBytes { raw in
            stride(from: 0, to: raw.count - 1, by: 2).map { raw.loadUnaligned(fromByteOffset: $0, as: Int16.self) }
        }
    }

    private func transcribe(
        _ samples: [Int16], with model: PocketSphinxModel, by profile: DecoderProfile = .live
    ) throws -> String {
        let recognizer = try PocketSphinxRecognizer(model: model, profile: profile)
        return try samples.withUnsafeBufferPointer {
            try recognizer.recognize($0, from: nil, alternatives: 0) { _ throws(DeviceError) in }
        }.words.map(\.text).joined(separator: " ")
    }

    private static let austen = "librivox/sense_and_sensibility_01_austen_64kb-0870.wav"

    @Test("a name in a sentence that is read aloud is recognized once it is in the vocabulary")
    func heard() throws {
        // "... and mr john dashwood had then leisure to consider ..."
        let speech = try samples(Self.austen)
        #expect(try !transcribe(speech, with: model).contains("dashwood"))
        let (prepared, _) = try model.prepare(file("mr john Dashwood\n"), cachedIn: folder.file("cache"))
        #expect(try transcribe(speech, with: prepared).lowercased().contains("dashwood"))
    }

    @Test("phrases use the profile's phrase settings, which affect nothing else")
    func phraseOptions() throws {
        let speech = try samples(Self.austen)
        let narrow = DecoderProfile(
            name: "narrow", options: ["fwdflat": "no", "maxhmmpf": "2500", "remove_silence": "no", "cmn": "batch"],
            phraseOptions: ["maxhmmpf": "30"], calibration: DecoderProfile.live.calibration)
        #expect(try transcribe(speech, with: model, by: narrow).contains("leisure to consider"))
        let (prepared, _) = try model.prepare(file("mr john Dashwood\n"), cachedIn: folder.file("cache"))
        #expect(try !transcribe(speech, with: prepared, by: narrow).contains("leisure to consider"))
    }

    @Test("words that are not spoken are not recognized")
    func unsaid() throws {
        let speech = try samples("librivox/sense_and_sensibility_01_austen_64kb-0930.wav")
        let (prepared, _) = try model.prepare(
            file("balafon\nzai pits\nBintou Sawadogo\n"), cachedIn: folder.file("cache"))
        let words = Set(try transcribe(speech, with: prepared).split(separator: " ").map(String.init))
        #expect(
            words.count > 5 && words.isDisjoint(with: ["balafon", "zai", "pits", "Bintou", "Sawadogo"]), "\(words)")
    }

    @Test("with a grammar, nothing else is recognized")
    func grammar() throws {
        let path = try file(
            "#JSGF V1.0;\ngrammar move;\npublic <move> = GO (forward | backward) <n> (meters | degrees);\n<n> = one | two | ten;\n",
            named: "move.gram")
        let (prepared, report) = try model.prepare(path, cachedIn: folder.file("cache"))
        #expect(report?.isGrammar == true && report?.problems == [])
        #expect(try transcribe(samples("goforward.raw"), with: prepared) == "go forward ten meters")
        let broken = try file("#JSGF V1.0;\ngrammar x;\npublic <x> = go <nowhere>;\n", named: "broken.gram")
        let problems = try model.preparation(of: broken, cachedIn: folder.path).check().problems
        #expect(problems.map(\.line) == [3] && problems[0].reason.contains("<nowhere>"))
    }
}
