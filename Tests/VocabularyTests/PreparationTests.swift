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

    private func write(_ text: String, named name: String = "vocabulary.txt") throws -> String {
        let path = folder.file(name)
        try Data(text.utf8).write(to: URL(filePath: path))
        return path
    }

    private func text(_ path: String) throws -> String {
        String(decoding: try Data(contentsOf: URL(filePath: path)), as: UTF8.self)
    }

    @Test("pronunciations come from the dictionary, the file or eSpeak; a word without any is a problem")
    func report() throws {
        let path = try write("Millet\nbalafon\nNokoué\nDogon = D OW G AA N\nx9q\nzorp = Z QQ\nzai*\n")
        let report = try model.preparation(of: path, cachedIn: folder.path).check()
        #expect(report.words == 6 && report.userPronouncedWords == 2, "\(report)")
        #expect(report.dictionaryWords == 1)
        #expect(report.guesses.map(\.word).prefix(2) == ["balafon", "Nokoué"])
        #expect(report.guesses.first?.pronunciations.first == "B AE L AE F AH N")
        #expect(report.problems.map(\.line) == [6, 7], "\(report.problems)")
        #expect(report.problems.first?.reason.contains("no sound QQ") == true)
    }

    @Test("eSpeak does not parse a word that begins with a dash as an option")
    func dash() throws {
        // As an option, the word would make eSpeak read this file.
        let path = try write("balafon")
        let pronunciations = EspeakVoice(language: "en-US").pronunciations(of: ["-f\(path)", "balafon"])
        #expect(pronunciations[1].first?.joined(separator: " ") == "B AE L AE F AH N")
        #expect(pronunciations[0] != pronunciations[1])
    }

    @Test("a vocabulary is prepared once, and again if it changes or the result is incomplete")
    func caching() throws {
        let path = try write("balafon\n")
        let (first, firstReport) = try model.prepare(path, cachedIn: folder.file("cache"))
        let (second, secondReport) = try model.prepare(path, cachedIn: folder.file("cache"))
        #expect(firstReport != nil && secondReport == nil && first == second)
        let dictionary = try text(first.dictionary)
        #expect(dictionary.suffix(200).contains("\nbalafon B AE L AE F AH N\nbalafon(2) "))
        #expect(dictionary.hasPrefix("'bout B AW T\n"))
        _ = try write("balafon\ngriot\n")
        #expect(try model.prepare(path, cachedIn: folder.file("cache")).report != nil)
        // Now the earlier result lacks a file.
        try FileManager.default.removeItem(atPath: first.dictionary)
        _ = try write("balafon\n")
        #expect(try model.prepare(path, cachedIn: folder.file("cache")).report != nil)
    }

    @Test(
        "a changed or invalid cache file is rebuilt",
        arguments: ["", "garbage", "pipe", "folder", "link"])
    func damagedCache(content: String) throws {
        let path = try write("balafon\n")
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
        let (second, secondReport) = try model.prepare(path, cachedIn: folder.file("cache"))
        #expect(secondReport != nil && second == first)
        #expect(try text(first.dictionary) == dictionary && text(other) == "precious")
    }

    @Test(
        "learned words apply with or without a vocabulary, but not with a grammar, and replace the previous ones")
    func learnedWords() throws {
        let cache = folder.file("cache")
        let path = try write("balafon\n")
        let (withoutLearned, _) = try model.prepare(path, cachedIn: cache)
        let (both, report) = try model.prepare(path, and: "\nNokoué\nbalafon = B AA\n", cachedIn: cache)
        #expect(report?.words == 1 && both != withoutLearned)
        #expect(try text(both.dictionary).contains("\nNokoué ") && text(both.dictionary).contains("\nbalafon B AA\n"))
        guard case .phrases(let phrases) = both.addition else { return #expect(Bool(false), "\(both)") }
        #expect(try text(phrases).contains("Nokoué"))
        let (alone, _) = try model.prepare(nil, and: "griot\n", cachedIn: cache)
        #expect(try text(alone.dictionary).contains("\ngriot "))
        let results = try FileManager.default.contentsOfDirectory(atPath: cache)
        #expect(results.count == 2 && results.filter { $0.hasPrefix("learned-") }.count == 1, "\(results)")
        #expect(thrown { _ = try model.prepare(nil, and: "x9q%\n", cachedIn: cache) }?.code == .unsupported)
        let grammar = try write("#JSGF V1.0;\ngrammar g;\npublic <g> = yes | no;\n", named: "g.gram")
        let (withGrammar, _) = try model.prepare(grammar, and: "griot\n", cachedIn: cache)
        #expect(try !text(withGrammar.dictionary).contains("\ngriot "))
    }

    @Test("a pronunciation for a word in the dictionary is added to the existing ones")
    func additionalPronunciation() throws {
        let (prepared, _) = try model.prepare(write("tomato = T OW M AO T OW\n"), cachedIn: folder.file("cache"))
        #expect(try text(prepared.dictionary).hasSuffix("tomato(3) T OW M AO T OW\n"))
    }

    @Test("a vocabulary without usable words is refused, and a missing file is reported as missing")
    func unusableVocabulary() throws {
        let empty = try write("# nothing\n")
        #expect(thrown { _ = try model.prepare(empty, cachedIn: folder.file("cache")) }?.code == .unsupported)
        let (prepared, _) = try model.prepare(empty, and: "griot\n", cachedIn: folder.file("cache"))
        #expect(try text(prepared.dictionary).contains("\ngriot "))
        // The only usable word is part of an unusable phrase.
        let unusable = "the zorp\nzorp = Z QQ\n"
        #expect(
            thrown { _ = try model.prepare(nil, and: unusable, cachedIn: folder.file("cache")) }?.code == .unsupported)
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
    func addedName() throws {
        // "... and mr john dashwood had then leisure to consider ..."
        let speech = try samples(Self.austen)
        #expect(try !transcribe(speech, with: model).contains("dashwood"))
        let (prepared, _) = try model.prepare(write("mr john Dashwood\n"), cachedIn: folder.file("cache"))
        #expect(try transcribe(speech, with: prepared).lowercased().contains("dashwood"))
    }

    @Test("phrases use the profile's phrase settings, which affect nothing else")
    func phraseOptions() throws {
        let speech = try samples(Self.austen)
        let narrow = DecoderProfile(
            name: "narrow", options: ["fwdflat": "no", "maxhmmpf": "2500", "remove_silence": "no", "cmn": "batch"],
            phraseOptions: ["maxhmmpf": "30"], calibration: DecoderProfile.live.calibration)
        #expect(try transcribe(speech, with: model, by: narrow).contains("leisure to consider"))
        let (prepared, _) = try model.prepare(write("mr john Dashwood\n"), cachedIn: folder.file("cache"))
        #expect(try !transcribe(speech, with: prepared, by: narrow).contains("leisure to consider"))
    }

    @Test("words that are not spoken are not recognized")
    func unspokenWords() throws {
        let speech = try samples("librivox/sense_and_sensibility_01_austen_64kb-0930.wav")
        let (prepared, _) = try model.prepare(
            write("balafon\nzai pits\nBintou Sawadogo\n"), cachedIn: folder.file("cache"))
        let words = Set(try transcribe(speech, with: prepared).split(separator: " ").map(String.init))
        #expect(
            words.count > 5 && words.isDisjoint(with: ["balafon", "zai", "pits", "Bintou", "Sawadogo"]), "\(words)")
    }

    @Test("with a grammar, only its sentences are recognized")
    func grammar() throws {
        let path = try write(
            "#JSGF V1.0;\ngrammar move;\npublic <move> = GO (forward | backward) <n> (meters | degrees);\n<n> = one | two | ten;\n",
            named: "move.gram")
        let (prepared, report) = try model.prepare(path, cachedIn: folder.file("cache"))
        #expect(report?.isGrammar == true && report?.problems == [])
        #expect(try transcribe(samples("goforward.raw"), with: prepared) == "go forward ten meters")
        let broken = try write("#JSGF V1.0;\ngrammar x;\npublic <x> = go <nowhere>;\n", named: "broken.gram")
        let problems = try model.preparation(of: broken, cachedIn: folder.path).check().problems
        #expect(problems.map(\.line) == [3] && problems[0].reason.contains("<nowhere>"))
    }
}
