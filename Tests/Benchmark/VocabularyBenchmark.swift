import Core
import System
import TestKit

/// Measures the effect of a vocabulary on its words, on the words around them, and on speech without these words.
struct VocabularyBenchmark {
    /// A vocabulary for field work in a village in Burkina Faso.
    static let vocabulary = """
        <person> = Awa Ouedraogo | Bintou Sawadogo | Hamidou Zongo
        <person>
        ask <person>
        Ouagadougou
        Koudougou = K UW D UW G UW
        Yatenga
        harmattan
        fonio
        sorghum
        shea butter
        griot
        zai pits
        balafon
        Dioula
        marabout
        baobab leaves
        baobab

        """

    private static let vocabularyWords: Set = [
        "awa", "ouedraogo", "bintou", "sawadogo", "hamidou", "zongo", "ouagadougou", "koudougou", "yatenga",
        "harmattan", "fonio", "sorghum", "shea", "griot", "zai", "balafon", "dioula", "marabout", "baobab",
    ]

    private static let sentences = [
        "we walked from Ouagadougou to the village before the harmattan began", "the harmattan blows hard in january",
        "ask Awa Ouedraogo about the fonio harvest", "Bintou Sawadogo keeps the seed in a granary",
        "the sorghum was planted after the first rain", "Bintou Sawadogo sold her fonio at the market",
        "the shea butter is made by the women of Koudougou", "a griot from Yatenga told us three stories",
        "zai pits hold the water near the roots", "ask Hamidou Zongo where the balafon was made",
        "he plays the balafon at every wedding", "my grandmother spoke Dioula with the traders",
        "the marabout lives beside the mosque", "baobab leaves are dried in the sun",
        "we recorded Hamidou Zongo under the baobab",
    ]

    let harness: Harness
    let corpus: Corpus

    func run() throws {
        let list = "\(harness.folder)/vocabulary.txt"
        try durableReplace(path: list, with: Self.vocabulary)
        let items = try Self.sentences.enumerated().map { index, text in
            Corpus.Item(path: try harness.speak(text, voice: "en-us", as: "said\(index)"), text: text)
        }
        var table = Table("word errors, %", "without the vocabulary", "with it")
        let plain = try harness.transcribe(items.map(\.path), profile: "live", into: "said-plain").transcripts
        let boosted = try harness.transcribe(
            items.map(\.path), profile: "live", into: "said-raised", options: ["--vocabulary", list]
        ).transcripts
        let (errorsWithout, errorsWith) = (errors(of: items, plain), errors(of: items, boosted))
        table.add([
            "words of the vocabulary, spoken by espeak-ng", formatted(errorsWithout.listed.percent, 1),
            formatted(errorsWith.listed.percent, 1),
        ])
        table.add([
            "words around them", formatted(errorsWithout.others.percent, 1), formatted(errorsWith.others.percent, 1),
        ])
        let paths = corpus.items.map(\.path)
        let open = try harness.transcribe(paths, profile: "live", into: "open-plain").transcripts
        let openBoosted = try harness.transcribe(
            paths, profile: "live", into: "open-raised", options: ["--vocabulary", list]
        ).transcripts
        func percent(_ transcripts: [String: TranscriptFile]) -> Double {
            corpus.errors(of: transcripts.mapValues(\.text))[""]?.percent ?? 0
        }
        table.add([
            "speech without words of the vocabulary", formatted(percent(open), 1), formatted(percent(openBoosted), 1),
        ])
        print("\n\(table.markdown)")
    }

    /// Returns the errors on words of the vocabulary, and on other words.
    private func errors(of items: [Corpus.Item], _ transcripts: [String: TranscriptFile]) -> ListedErrors {
        var errors = ListedErrors()
        for item in items {
            errors.add(
                WordErrorRate.normalized(item.text), WordErrorRate.normalized(transcripts[item.name]?.text ?? ""),
                list: Self.vocabularyWords)
        }
        return errors
    }
}
