import Core

/// Words and names that were misrecognized and corrected.
package struct MissedPhrases: Hashable, Sendable {
    /// One word, or consecutive names.
    package struct Phrase: Hashable, Sendable {
        /// The text as first written, without surrounding punctuation: `Awa Ouedraogo`.
        package var text: String
        /// How often a person inserted the phrase or replaced other words with it.
        package var times = 1
        /// How often the word was recognized correctly; 0 for consecutive names.
        var recognizedTimes = 0
        /// Whether the phrase is several names, an acronym, or a word that was capitalized within a sentence.
        var isName = false
    }

    /// The phrases by key. A phrase's key consists of its words' keys, separated by spaces.
    package private(set) var phrases: [String: Phrase] = [:]
    /// The maximum number of names in a phrase.
    private static let maxNames = 4

    /// Creates an empty set.
    package init() {}

    /// - Parameters:
    ///   - recognized: The engine's transcript.
    ///   - corrected: The corrected transcript. Segments whose range is not in `recognized` do not count.
    package init(recognized: [Segment], corrected: [Segment]) {
        // Segments are found by range: their ids change when a person adds lines.
        let recognizedByRange = Dictionary(recognized.map { ($0.range, $0) }) { first, _ in first }
        var recognizedTimes: [String: Int] = [:]
        for segment in corrected {
            guard let old = recognizedByRange[segment.range] else { continue }
            let words = segment.words.map { WrittenWord($0.text) }
            let isMissed = Self.missed(words, old.words.map { WrittenWord($0.text).key })
            for (word, isMissed) in zip(words, isMissed) where !isMissed { recognizedTimes[word.key, default: 0] += 1 }
            add(words, isMissed)
        }
        for key in phrases.keys { phrases[key]?.recognizedTimes = recognizedTimes[key] ?? 0 }
    }

    /// Adds counts.
    package static func + (left: Self, right: Self) -> Self {
        var sum = left
        for (key, phrase) in right.phrases {
            guard var total = sum.phrases[key] else {
                sum.phrases[key] = phrase
                continue
            }
            total.times += phrase.times
            total.recognizedTimes += phrase.recognizedTimes
            total.isName = total.isName || phrase.isName
            sum.phrases[key] = total
        }
        return sum
    }

    /// How often each phrase was missed, by key.
    package var times: [String: Int] { phrases.mapValues(\.times) }

    /// Returns the phrases worth learning, the most frequent first.
    ///
    /// These are names, words that are not in the dictionary, and other words that were corrected at least twice and at
    /// least as often as they were recognized. Function words are excluded.
    ///
    /// - Parameter dictionary: Returns the given lower-case words that are in the recognizer's dictionary.
    package func worthLearning(
        dictionary: (Set<String>) throws(DeviceError) -> Set<String>
    ) throws(DeviceError) -> [(key: String, phrase: Phrase)] {
        let dictionaryWords = try dictionary(Set(phrases.values.flatMap { Self.parts(of: $0.text) }))
        let worth = phrases.filter { _, phrase in
            let isCommon = !phrase.isName && Self.parts(of: phrase.text).allSatisfy { dictionaryWords.contains($0) }
            return !isCommon || phrase.times >= 2 && phrase.times >= phrase.recognizedTimes
        }
        return worth.map { (key: $0.key, phrase: $0.value) }.sorted { left, right in
            (right.phrase.times, left.key) < (left.phrase.times, right.key)
        }
    }

    /// Returns the words that a dictionary may have: two for `sought-after`.
    private static func parts(of text: String) -> [String] {
        text.lowercased().split { $0 == " " || $0 == "-" }.map { String($0).replacing("’", with: "'") }
    }

    /// Returns, for each word, whether it was inserted or replaces others. Words that were only split, such as
    /// `shop boy` from `shop-boy`, do not count.
    private static func missed(_ words: [WrittenWord], _ old: [String]) -> [Bool] {
        let counterparts = TextAlignment.counterparts(of: words.map(\.key), in: old)
        let isSame = zip(words, counterparts).map { word, index in index.map { old[$0] == word.key } ?? false }
        var missed = isSame.map { !$0 }
        var index = 0
        while index < words.count {
            let end = words.indices[index...].first { isSame[$0] } ?? words.count
            let from = index > 0 ? (counterparts[index - 1] ?? -1) + 1 : 0
            let to = end < words.count ? counterparts[end] ?? old.count : old.count
            let replaced = old[from..<max(from, to)]
            if replaced.count < end - index, words[index..<end].map(\.key).joined() == replaced.joined() {
                for position in index..<end { missed[position] = false }
            }
            index = end + 1
        }
        return missed
    }

    private mutating func add(_ words: [WrittenWord], _ isMissed: [Bool]) {
        var index = 0
        while index < words.count {
            guard isMissed[index], words[index].canBeLearned else {
                index += 1
                continue
            }
            var end = index + 1
            while end < words.count, end - index < Self.maxNames, isMissed[end], words[end].canBeLearned,
                words[end].isCapital, words[end - 1].isCapital, !words[end - 1].endsPhrase
            {
                end += 1
            }
            let run = words[index..<end]
            let key = run.map(\.key).joined(separator: " ")
            let beginsSentence = index == 0 || words[index - 1].endsSentence
            var phrase = Phrase(text: run.map(\.bare).joined(separator: " "))
            phrase.isName = run.count > 1 || words[index].isAcronym || words[index].isCapital && !beginsSentence
            if let earlier = phrases[key] {
                phrase.text = earlier.text
                phrase.times = earlier.times + 1
                phrase.isName = phrase.isName || earlier.isName
            }
            phrases[key] = phrase
            index = end
        }
    }
}

private struct WrittenWord {
    let key: String
    /// The word without surrounding punctuation or a final `'s`.
    let bare: String
    /// Whether punctuation follows the word.
    let endsPhrase: Bool
    let endsSentence: Bool

    init(_ text: String) {
        var bare = text.drop { !$0.isLetter && !$0.isNumber }
        let last = bare.lastIndex { $0.isLetter || $0.isNumber }
        let marks = last.map { bare[bare.index(after: $0)...] } ?? ""
        endsPhrase = !marks.isEmpty
        endsSentence = marks.contains { ".?!:…".contains($0) }
        if let last { bare = bare[...last] }
        let possessives = ["'s", "’s", "'S", "’S"]
        if possessives.contains(where: { bare.hasSuffix($0) }), bare.count > 3 { bare = bare.dropLast(2) }
        self.bare = String(bare)
        key = Word.key(of: self.bare)
    }

    var isCapital: Bool { bare.first?.isUppercase ?? false }

    /// Whether the word is all capitals, such as `UNICEF`. It then counts as a name anywhere in a sentence.
    var isAcronym: Bool { bare.count > 1 && bare.allSatisfy(\.isUppercase) }

    /// Whether the word can be in a vocabulary: at least two letters, at most 64 bytes, no digits, not a function word.
    var canBeLearned: Bool {
        bare.utf8.count <= 64 && key.count > 1 && bare.allSatisfy { $0.isLetter || "'’-".contains($0) }
            && !FunctionWords.keys.contains(key)
    }
}
