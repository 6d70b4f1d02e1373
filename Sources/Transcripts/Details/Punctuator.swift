import Core

/// Adds punctuation and capitals to a transcript for export, or removes them. Words keep their times and segments.
package struct Punctuator: Sendable {
    /// Returns the log odds (natural logarithm) that a sentence ends between `before` and `after`. Each array starts
    /// with the word next to the boundary.
    package typealias SentenceLogOdds = @Sendable (_ before: [String], _ after: [String]) -> Double

    /// Returns the function for the log odds; nil if no sentence should end automatically.
    package typealias LogOddsSource = @Sendable () throws(DeviceError) -> SentenceLogOdds?

    /// A boundary between two words where a sentence may end.
    package struct Boundary: Sendable {
        /// The index of the word before the boundary, in the whole transcript.
        package var word: Int
        package var pauseSeconds: Double
        /// The log odds from `SentenceLogOdds`.
        package var logOdds: Double
        /// How far the voice fell before the boundary, in semitones; nil within a segment or if unknown.
        var finalLowering: Double?

        package init(word: Int, pauseSeconds: Double, logOdds: Double, finalLowering: Double? = nil) {
            self.word = word
            self.pauseSeconds = pauseSeconds
            self.logOdds = logOdds
            self.finalLowering = finalLowering
        }

        /// A sentence ends here if the score is above 0. The weights come from `benchmark punctuation`.
        package var score: Double {
            let lowering = finalLowering ?? Self.neutralLowering
            return Self.weights[0] + Self.weights[1] * min(pauseSeconds, Self.maxPauseSeconds)
                + Self.weights[2] * max(-Self.maxLogOdds, min(Self.maxLogOdds, logOdds))
                + Self.weights[3] * (max(0, min(Self.maxLowering, lowering)) - Self.neutralLowering)
        }

        private static let weights = [-1.8, 4.8, 0.5, 0.25]
        /// A longer pause counts as this one.
        private static let maxPauseSeconds = 1.0
        private static let maxLogOdds = 10.0
        /// The fall in semitones that changes the score in neither direction.
        private static let neutralLowering = 3.0
        /// In semitones; a deeper fall counts as this one.
        private static let maxLowering = 8.0
    }

    /// A word with the punctuation after it.
    private struct PunctuatedWord {
        var segment: Int
        var word: Word
        /// See `Boundary.finalLowering`; only for the last word in a segment.
        var finalLowering: Double?
        var mark = ""
    }

    private static let names: [(words: [String], mark: String)] = [
        (["comma"], ","), (["period"], "."), (["full", "stop"], "."), (["question", "mark"], "?"),
        (["new", "line"], newLine), (["new", "paragraph"], newParagraph),
    ]
    static let newLine = "\u{2028}"
    private static let newParagraph = newLine + newLine
    /// The number of words on each side of a boundary that the language model gets.
    private static let contextWords = 2

    private let punctuation: Punctuation
    private let logOddsSource: LogOddsSource
    private let engines: Set<String>

    /// - Parameters:
    ///   - engines: The names of the engines that write punctuation and capitals themselves.
    ///   - logOdds: Nil if no sentence should end automatically.
    init(_ punctuation: Punctuation, writtenBy engines: Set<String> = [], logOdds: SentenceLogOdds? = nil) {
        self.init(punctuation, writtenBy: engines, logOddsSource: { () throws(DeviceError) in logOdds })
    }

    /// - Parameters:
    ///   - engines: The names of the engines that write punctuation and capitals themselves.
    ///   - logOddsSource: Called for each transcript that needs the log odds.
    package init(
        _ punctuation: Punctuation, writtenBy engines: Set<String> = [], logOddsSource: @escaping LogOddsSource
    ) {
        self.punctuation = punctuation
        self.engines = engines
        self.logOddsSource = logOddsSource
    }

    /// Returns the transcript with punctuation added or removed. Drops segments that consist only of punctuation or its
    /// spoken names.
    ///
    /// - Throws: The error of the `LogOddsSource`.
    package func punctuated(_ timeline: Timeline) throws(DeviceError) -> Timeline {
        let hasPunctuation = engines.contains(timeline.engine.name)
        switch punctuation {
        case .engine: return timeline
        case .none: return hasPunctuation ? Self.withoutPunctuation(timeline) : timeline
        case .automatic, .both: if hasPunctuation { return timeline }
        case .spoken: break
        }
        var entries = Self.entries(of: timeline)
        if punctuation.isSpoken { entries = Self.withSpokenMarks(entries, hasPunctuation: hasPunctuation) }
        if punctuation.isAutomatic, let logOdds = try logOddsSource() {
            for boundary in Self.boundaries(entries, logOdds) where boundary.score > 0 {
                entries[boundary.word].mark = "." + entries[boundary.word].mark
            }
            if let last = entries.indices.last, entries[last].mark.isEmpty { entries[last].mark = "." }
        }
        Self.capitalize(&entries, isEnglish: timeline.engine.model.hasPrefix("en"))
        var timeline = timeline
        for index in timeline.segments.indices.reversed() where !timeline.segments[index].words.isEmpty {
            let words = entries.filter { $0.segment == index }.map { entry in
                var word = entry.word
                word.text += entry.mark
                return word
            }
            timeline.segments[index].words = words
            if words.isEmpty { timeline.segments.remove(at: index) }
        }
        return timeline
    }

    private static func withoutPunctuation(_ timeline: Timeline) -> Timeline {
        var timeline = timeline
        for index in timeline.segments.indices.reversed() where !timeline.segments[index].words.isEmpty {
            let words = timeline.segments[index].words.map { word in
                var word = word
                word.text = bareWord(word.text)
                return word
            }.filter { !$0.text.isEmpty }
            timeline.segments[index].words = words
            timeline.segments[index].alternatives = timeline.segments[index].alternatives.map {
                let text = $0.text.split(separator: " ").map { bareWord(String($0)) }.filter { !$0.isEmpty }
                return Alternative(text: text.joined(separator: " "), confidence: $0.confidence)
            }
            if words.isEmpty { timeline.segments.remove(at: index) }
        }
        return timeline
    }

    /// Returns every boundary between words in a transcript without punctuation.
    package static func boundaries(of timeline: Timeline, logOdds: SentenceLogOdds) -> [Boundary] {
        boundaries(entries(of: timeline), logOdds)
    }

    private static func entries(of timeline: Timeline) -> [PunctuatedWord] {
        timeline.segments.enumerated().flatMap { index, segment in
            segment.words.enumerated().map { wordIndex, word in
                PunctuatedWord(
                    segment: index, word: word,
                    finalLowering: wordIndex == segment.words.count - 1 ? segment.voice?.finalLowering : nil)
            }
        }
    }

    private static func boundaries(_ entries: [PunctuatedWord], _ logOdds: SentenceLogOdds) -> [Boundary] {
        let words = entries.map { $0.word.text.lowercased() }
        return entries.indices.dropLast().compactMap { index in
            guard entries[index].mark.allSatisfy({ String($0) == newLine }) else {
                return nil
            }
            let after = Array(words[(index + 1)...].prefix(contextWords))
            let before = Array(words[...index].suffix(contextWords).reversed())
            let pause = entries[index + 1].word.range.start - entries[index].word.range.end
            return Boundary(
                word: index, pauseSeconds: Double(pause) / Double(SamplePosition.rate), logOdds: logOdds(before, after),
                finalLowering: entries[index].finalLowering)
        }
    }

    private static func withSpokenMarks(_ entries: [PunctuatedWord], hasPunctuation: Bool) -> [PunctuatedWord] {
        var result: [PunctuatedWord] = []
        var rest = entries[...]
        while let entry = rest.first {
            let name = names.first { name in
                rest.prefix(name.words.count).map { bareWord($0.word.text) } == name.words
            }
            if let name {
                rest = rest.dropFirst(name.words.count)
                guard let last = result.indices.last else { continue }
                // The engine may have written punctuation for the pause before the spoken name.
                if hasPunctuation, name.mark.first?.isPunctuation ?? false, result[last].word.text.count > 1,
                    let mark = result[last].word.text.last, ",.;:".contains(mark)
                {
                    result[last].word.text.removeLast()
                }
                result[last].mark += name.mark
            } else {
                rest = rest.dropFirst()
                result.append(entry)
            }
        }
        return result
    }

    private static func capitalize(_ entries: inout [PunctuatedWord], isEnglish: Bool) {
        var startsSentence = true
        for index in entries.indices {
            let text = entries[index].word.text
            if startsSentence || isEnglish && (text == "i" || text.hasPrefix("i'")) {
                entries[index].word.text = text.prefix(1).uppercased() + text.dropFirst()
            }
            startsSentence = entries[index].mark.contains { ".?\(newLine)".contains($0) }
        }
    }
}

/// Returns a word in lower case without surrounding punctuation; may be empty.
///
/// Keeps inner punctuation (apostrophes, hyphens, decimal points) and symbols that are spoken: `&`, `%`, `#`, `@`.
func bareWord(_ text: String) -> String {
    let isMark = { (character: Character) in character.isPunctuation && !"&%#@".contains(character) }
    var word = text[...].drop(while: isMark)
    while let last = word.last, isMark(last) { word.removeLast() }
    return word.lowercased()
}
