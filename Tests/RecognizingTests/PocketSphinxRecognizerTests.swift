import Glibc
import Testing
import TestKit

@testable import Core
@testable import Recognition

/// Tests with Debian's en-us model, on a person reading a novel aloud.
@Suite("PocketSphinxRecognizer") struct PocketSphinxRecognizerTests {
    private func open() throws -> PocketSphinxRecognizer {
        try PocketSphinxRecognizer(model: PocketSphinxModel(folder: PocketSphinxModel.debian))
    }

    private func speech() throws -> [Int16] { try Speech.samples(Speech.amiable) }

    private func recognize(_ samples: [Int16], by recognizer: any Adaptation) throws -> Hypothesis {
        try samples.withUnsafeBufferPointer { samples in
            try recognizer.recognize(samples, from: nil, alternatives: 3) { _ throws(DeviceError) in }
        }
    }

    @Test("audio without speech yields no words and does not affect later utterances")
    func silence() throws {
        let recognizer = try open()
        let speech = try speech()
        let before = try recognize(speech, by: recognizer)
        // The last count is half an hour.
        for count in [0, 1, 159, 400, 1_600, 16_000, 320_000, 28_800_000] {
            let words = try recognize([Int16](repeating: 0, count: count), by: recognizer).words
            #expect(words.isEmpty, "\(count) samples: \(words)")
        }
        #expect(!before.words.isEmpty)
        #expect(try recognize(speech, by: recognizer) == before)
    }

    @Test("words are in order and within the utterance; alternatives have different words")
    func words() throws {
        let recognizer = try open()
        let speech = try speech()
        var adaptations: [AdaptationState] = []
        let hypothesis = try speech.withUnsafeBufferPointer { samples in
            try recognizer.recognize(samples, from: nil, alternatives: 3) { adaptation throws(DeviceError) in
                adaptations.append(adaptation)
            }
        }
        let words = hypothesis.words
        #expect(words.map(\.text).joined(separator: " ").contains("might even"), "\(words.map(\.text))")
        #expect(zip(words, words.dropFirst()).allSatisfy { $0.range.end <= $1.range.start })
        #expect(words.allSatisfy { !$0.range.isEmpty && (0...1).contains($0.confidence) })
        let (first, last) = (try #require(words.first), try #require(words.last))
        #expect(first.range.start >= .zero && last.range.end <= SamplePosition(Int64(speech.count)))
        let texts = hypothesis.alternatives.map(\.text)
        #expect((1...3).contains(texts.count) && Set(texts).count == texts.count)
        #expect(!texts.contains(words.map(\.text).joined(separator: " ")))
        #expect(adaptations.count == 1)
    }

    @Test("partial results grow with the utterance, and do not affect the final result")
    func partials() throws {
        let recognizer = try open()
        let speech = try speech()
        let alone = try recognize(speech, by: recognizer)
        try recognizer.beginPartials(from: nil)
        var texts: [String] = []
        for start in stride(from: 0, to: speech.count, by: 8_000) {
            texts.append(
                try speech[start..<min(speech.count, start + 8_000)].withUnsafeBufferPointer {
                    try recognizer.partial(after: $0)
                })
        }
        try recognizer.endPartials()
        #expect(texts.last?.split(separator: " ").count ?? 0 >= 4, "\(texts)")
        #expect(Set(texts).count > 1, "\(texts)")
        #expect(try recognize(speech, by: recognizer) == alone)
    }

    @Test("a missing model file is named")
    func missingFile() throws {
        var model = PocketSphinxModel(folder: PocketSphinxModel.debian)
        model.dictionary = "/nowhere/words.dict"
        do {
            _ = try PocketSphinxRecognizer(model: model)
            Issue.record("a model without its dictionary was loaded")
        } catch {
            #expect(error.code == .missing && error.message.contains("/nowhere/words.dict"), "\(error)")
        }
    }

    @Test(
        "a dictionary that does not match the acoustic model is refused and named",
        arguments: ["hello QQ XX\nworld YY ZZ\n", ""])
    func mismatchedDictionary(text: String) throws {
        let folder = TemporaryFolder()
        var model = PocketSphinxModel(folder: PocketSphinxModel.debian)
        model.dictionary = folder.file("words.dict")
        let file = try #require(fopen(model.dictionary, "w"))
        fputs(text, file)
        fclose(file)
        let error = thrown { _ = try PocketSphinxRecognizer(model: model) }
        #expect(
            error?.code == .damaged && error?.message.contains("words.dict") == true, "\(String(describing: error))")
    }

    @Test("another utterance's adaptation changes the result; the utterance's own does not")
    func adaptation() throws {
        let recognizer = try open()
        let speech = try speech()
        let surveyed = try #require(try speech.withUnsafeBufferPointer { try recognizer.survey($0, into: nil) })
        func run(from adaptation: AdaptationState?) throws -> (Hypothesis, AdaptationState?) {
            var after: AdaptationState?
            let hypothesis = try speech.withUnsafeBufferPointer { samples in
                try recognizer.recognize(samples, from: adaptation, alternatives: 0) {
                    adaptation throws(DeviceError) in after = adaptation
                }
            }
            return (hypothesis, after)
        }
        let alone = try run(from: nil)
        #expect(mean(alone.1) == mean(surveyed))
        #expect(try run(from: surveyed).0.words.map(\.text) == alone.0.words.map(\.text))
        let other = CepstralAdaptation(mean: mean(surveyed).map { $0 + 20 }).state
        #expect(try run(from: other).0 != alone.0)
        // The recognizer ignores a state with the wrong number of values.
        let short = AdaptationState(.object(["cepstralMean": .array([.number(1), .number(2)])]))
        #expect(try run(from: short).0 == alone.0)
        // It also ignores another engine's state.
        for value: JSONValue in [
            .null, .number(7), .array([.number(1), .array([.number(2)])]),
            .object(["cepstralMean": .object(["a": .number(1)])]), .object(["speaker": .string("Awa")]),
        ] {
            #expect(try run(from: AdaptationState(value)).0 == alone.0)
        }
    }

    private func mean(_ state: AdaptationState?) -> [Float] { CepstralAdaptation(state)?.floats ?? [] }

    @Test("a survey is the mean of its utterances, weighted by length, and keeps the warp")
    func survey() throws {
        let recognizer = try open()
        let speech = try speech()
        let (head, tail) = (Array(speech[..<20_000]), Array(speech[20_000...]))
        let warped = try #require(recognizer.candidates.first?.first)
        for first in [nil, warped] {
            func survey(_ samples: [Int16], into state: AdaptationState?) throws -> AdaptationState? {
                try samples.withUnsafeBufferPointer { try recognizer.survey($0, into: state) }
            }
            let both = try #require(try survey(tail, into: survey(head, into: first)))
            let alone = try [head, tail].map { mean(try survey($0, into: first)) }
            let (combined, weights) = (mean(both), [head, tail].map { Float($0.count) })
            #expect(combined.count > 1 && alone.allSatisfy { $0.count == combined.count })
            for index in combined.indices {
                let expected = (alone[0][index] * weights[0] + alone[1][index] * weights[1]) / (weights[0] + weights[1])
                #expect(abs(combined[index] - expected) < 1e-3)
            }
            #expect(CepstralAdaptation(both)?.warp == CepstralAdaptation(first)?.warp)
            // Empty audio changes nothing.
            #expect(try survey([], into: both) == nil)
        }
    }

    @Test(
        "neither the chunk size nor intermediate searches change the result",
        arguments: [DecoderProfile.live, .final])
    func chunkSize(profile: DecoderProfile) throws {
        var random = SeededGenerator()
        let seed = random.seed
        let recognizer = try PocketSphinxRecognizer(
            model: PocketSphinxModel(folder: PocketSphinxModel.debian), profile: profile)
        let sentence = try speech()
        // The audio is longer than the head start, so that the search begins before the end.
        let speech = sentence + sentence + sentence + sentence
        let whole = try recognize(speech, by: recognizer)
        try recognizer.begin(from: nil)
        var rest = speech[...]
        var searchCount = 0
        while !rest.isEmpty {
            let piece = rest.prefix(Int.random(in: 1...8_000, using: &random))
            try piece.withUnsafeBufferPointer { try recognizer.append($0) }
            rest = rest.dropFirst(piece.count)
            while try recognizer.search() { searchCount += 1 }
        }
        let adaptation = try recognizer.close()
        #expect(try recognizer.finish(alternatives: 3) == whole, "seed \(seed)")
        let surveyed = try speech.withUnsafeBufferPointer { try recognizer.survey($0, into: nil) }
        #expect(mean(adaptation) == mean(surveyed) && !mean(adaptation).isEmpty)
        #expect(searchCount > 0 && !whole.words.isEmpty)
    }

    @Test(
        "only a profile with a head start searches before the end, and only after its head start",
        arguments: [DecoderProfile.live, .final], [2, 10])
    func headStart(profile: DecoderProfile, seconds: Int) throws {
        let decoder = try DecoderHandle(
            model: PocketSphinxModel(folder: PocketSphinxModel.debian), profile: profile)
        let sentence = try speech()
        let speech = (sentence + sentence + sentence + sentence).prefix(seconds * SamplePosition.rate)
        let frontEnd = FrontEnd(decoder: decoder, warp: 1)
        var utterance = OpenUtterance(adaptation: nil, headStart: profile.headStart)
        try decoder.start()
        frontEnd.begin()
        try speech.withUnsafeBufferPointer {
            utterance.append($0)
            try frontEnd.append($0)
        }
        let searches = try utterance.search(frontEnd, by: decoder)
        #expect(searches == (profile.headStart != nil && seconds == 10))
    }

    @Test("an abandoned utterance does not affect the next one")
    func abandonedUtterance() throws {
        let recognizer = try open()
        let speech = try speech()
        let before = try recognize(speech, by: recognizer)
        try recognizer.begin(from: nil)
        try (speech + speech).withUnsafeBufferPointer { try recognizer.append($0) }
        while try recognizer.search() {}
        #expect(try recognize(speech, by: recognizer) == before)
    }
}
