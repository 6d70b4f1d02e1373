import Core

/// Words and names that were misrecognized and corrected.
package struct MissedPhrases: Hashable, Sendable {
    /// One word, or consecutive names.
    package struct Phrase: Hashable, Sendable {
        /// As first written, without surrounding punctuation: `Awa Ouedraogo`.
        package var text: String
        /// How often it replaced other words.
        package var times = 1
        /// How often it was recognized correctly; only for single words.
        var timesHeard = 0
        /// Whether it was capitalized within a sentence.
        var isName = false
    }

    /// By the keys of their words, separated by spaces.
    package private(set) var phrases: [String: Phrase] = [:]
    /// The maximum number of names in a phrase.
    private static let longest = 4

    /// Creates an empty set.
    package init() {}

    /// - Parameters:
    ///   - heard: The engine's text.
    ///   - corrected: The corrected text, with the same segments.
    package init(heard: [Segment], corrected: [Segment]) {
        // By range: added lines change the numbers.
        let known = Dictionary(heard.map { ($0.range, $0) }) { first, _ in first }
        var right: [String: Int] = [:]
        for segment in corrected {
            guard let old = known[segment.range] else { continue }
            let words = segment.words.map { WrittenWord($0.text) }
            let isMissed = Self.missed(words, old.words.map { WrittenWord($0.text).key })
            for (word, isMissed) in zip(words, isMissed) where !isMissed { right[word.key, default: 0] += 1 }
            add(words, isMissed)
        }
        for key in phrases.keys { phrases[key]?.timesHeard = right[key] ?? 0 }
    }

    /// Adds counts.
    package static func + (left: Self, right: Self) -> Self {
        var sum = left
        for (key, phrase) in right.phrases {
            guard var known = sum.phrases[key] else {
                sum.phrases[key] = phrase
                continue
            }
            known.times += phrase.times
            known.timesHeard += phrase.timesHeard
            known.isName = known.isName || phrase.isName
            sum.phrases[key] = known
        }
        return sum
    }

    /// How often each phrase was missed, by key.
    package var times: [String: Int] { phrases.mapValues(\.times) }

    /// Returns phrases worth learning, the most frequent first.
    ///
    /// These are names, words that the dictionary lacks, and other words that were corrected at least twice and at
    /// least as often as recognized. Function words are excluded.
    /// - Parameter dictionary: Returns which of these lower-case words the recognizer's dictionary has.
    package func worthLearning(
        dictionary: (Set<String>) throws(DeviceError) -> Set<String>
    ) throws(DeviceError) -> [(key: String, phrase: Phrase)] {
        let known = try dictionary(Set(phrases.values.flatMap { Self.parts(of: $0.text) }))
        let worth = phrases.filter { _, phrase in
            let isCommon = !phrase.isName && Self.parts(of: phrase.text).allSatisfy { known.contains($0) }
            return !isCommon || phrase.times >= 2 && phrase.times >= phrase.timesHeard
        }
        return worth.map { (key: $0.key, phrase: $0.value) }.sorted { left, right in
            (right.phrase.times, left.key) < (left.phrase.times, right.key)
        }
    }

    /// The dictionary words in a phrase: `sought-after` has two.
    private static func parts(of text: String) -> [String] {
        text.lowercased().split { $0 == " " || $0 == "-" }.map { String($0).replacing("’", with: "'") }
    }

    /// Returns which words replaced others or were inserted; except words that were only joined: `shop-boy`.
    private static func missed(_ words: [WrittenWord], _ old: [String]) -> [Bool] {
        let counterparts = TextAlignment.counterparts(of: words.map(\.key), in: old)
        let same = zip(words, counterparts).map { word, place in place.map { old[$0] == word.key } ?? false }
        var missed = same.map { !$0 }
        var index = 0
        while index < words.count {
            let end = words.indices[index...].first { same[$0] } ?? words.count
            let from = index > 0 ? (counterparts[index - 1] ?? -1) + 1 : 0
            let to = end < words.count ? counterparts[end] ?? old.count : old.count
            let heard = old[from..<max(from, to)]
            if heard.count < end - index, words[index..<end].map(\.key).joined() == heard.joined() {
                for place in index..<end { missed[place] = false }
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
            while end < words.count, end - index < Self.longest, isMissed[end], words[end].canBeLearned,
                words[end].isCapital, words[end - 1].isCapital, !words[end - 1].endsPart
            {
                end += 1
            }
            let run = words[index..<end]
            let key = run.map(\.key).joined(separator: " ")
            let beginsSentence = index == 0 || words[index - 1].endsSentence
            var phrase = Phrase(text: run.map(\.bare).joined(separator: " "))
            phrase.isName = run.count > 1 || words[index].isAcronym || words[index].isCapital && !beginsSentence
            if let known = phrases[key] {
                phrase.text = known.text
                phrase.times = known.times + 1
                phrase.isName = phrase.isName || known.isName
            }
            phrases[key] = phrase
            index = end
        }
    }
}

/// A written word, with and without punctuation.
private struct WrittenWord {
    let key: String
    /// Without surrounding punctuation and a final 's.
    let bare: String
    let endsPart: Bool
    let endsSentence: Bool

    init(_ text: String) {
        var bare = text.drop { !$0.isLetter && !$0.isNumber }
        let last = bare.lastIndex { $0.isLetter || $0.isNumber }
        let marks = last.map { bare[bare.index(after: $0)...] } ?? ""
        endsPart = !marks.isEmpty
        endsSentence = marks.contains { ".?!:…".contains($0) }
        if let last { bare = bare[...last] }
        let endings = ["'s", "’s", "'S", "’S"]
        if endings.contains(where: { bare.hasSuffix($0) }), bare.count > 3 { bare = bare.dropLast(2) }
        self.bare = String(bare)
        key = Word.key(of: self.bare)
    }

    var isCapital: Bool { bare.first?.isUppercase ?? false }

    /// `UNICEF`, anywhere in a sentence.
    var isAcronym: Bool { bare.count > 1 && bare.allSatisfy(\.isUppercase) }

    /// Whether it has at least two letters, no digits, and a form that a vocabulary permits.
    var canBeLearned: Bool {
        bare.utf8.count <= 64 && key.count > 1 && bare.allSatisfy { $0.isLetter || "'’-".contains($0) }
            && !FunctionWords.keys.contains(key)
    }
}
