import Core

/// Adds punctuation and capitals to a transcript for export. Words keep their times and segments.
package struct Punctuator: Sendable {
    /// Returns the log odds (natural logarithm) that a sentence ends between these words, given in order of distance on
    /// either side.
    package typealias SentenceOdds = @Sendable (_ before: [String], _ after: [String]) -> Double

    /// Returns the odds when first needed; nil to end no sentence automatically.
    package typealias OddsSource = @Sendable () throws(DeviceError) -> SentenceOdds?

    /// A boundary between two words where a sentence may end.
    package struct Boundary: Sendable {
        /// The index of the word before it, in the whole transcript.
        package var word: Int
        package var pauseSeconds: Double
        /// `SentenceOdds`.
        package var odds: Double
        /// How far the voice fell before it, in semitones; only known at a segment's end.
        var lowering: Double?

        package init(word: Int, pauseSeconds: Double, odds: Double, lowering: Double? = nil) {
            self.word = word
            self.pauseSeconds = pauseSeconds
            self.odds = odds
            self.lowering = lowering
        }

        /// A sentence ends above 0. The weights come from `benchmark punctuation`.
        package var score: Double {
            let lowering = lowering ?? Self.middleLowering
            return Self.weights[0] + Self.weights[1] * min(pauseSeconds, Self.longestPause)
                + Self.weights[2] * max(-Self.maxOdds, min(Self.maxOdds, odds))
                + Self.weights[3] * (max(0, min(Self.maxLowering, lowering)) - Self.middleLowering)
        }

        private static let weights = [-1.8, 4.8, 0.5, 0.25]
        /// The longest pause that counts, in seconds.
        private static let longestPause = 1.0
        private static let maxOdds = 10.0
        /// In semitones: a neutral fall, and the largest that counts.
        private static let middleLowering = 3.0
        private static let maxLowering = 8.0
    }

    private struct Place {
        var segment: Int
        var word: Word
        /// For the last word of a segment, if known.
        var lowering: Double?
        /// The punctuation after the word.
        var sign = ""
    }

    private static let names: [(words: [String], sign: String)] = [
        (["comma"], ","), (["period"], "."), (["full", "stop"], "."), (["question", "mark"], "?"),
        (["new", "line"], newLine), (["new", "paragraph"], newParagraph),
    ]
    static let newLine = "\u{2028}"
    private static let newParagraph = newLine + newLine
    /// The words of context on either side for the language model.
    private static let context = 2

    private let punctuation: Punctuation
    private let odds: OddsSource
    private let engines: Set<String>

    /// - Parameters:
    ///   - engines: The names of engines that write punctuation and capitals.
    ///   - odds: Nil to end no sentence automatically.
    init(_ punctuation: Punctuation, writtenBy engines: Set<String> = [], odds: SentenceOdds? = nil) {
        self.init(punctuation, writtenBy: engines, asking: { () throws(DeviceError) in odds })
    }

    /// - Parameter source: Called for each transcript that needs it.
    package init(_ punctuation: Punctuation, writtenBy engines: Set<String> = [], asking source: @escaping OddsSource) {
        self.punctuation = punctuation
        self.engines = engines
        odds = source
    }

    /// Returns the transcript with punctuation added or removed. Leaves out segments with only punctuation or its
    /// names.
    ///
    /// - Throws: The error of the odds' source.
    package func punctuated(_ timeline: Timeline) throws(DeviceError) -> Timeline {
        let isWritten = engines.contains(timeline.engine.name)
        switch punctuation {
        case .engine: return timeline
        case .none: return isWritten ? Self.bare(timeline) : timeline
        case .automatic, .both: if isWritten { return timeline }
        case .spoken: break
        }
        var places = Self.places(of: timeline)
        if punctuation.isSpoken { places = Self.withSpokenMarks(places, isWritten: isWritten) }
        if punctuation.isAutomatic, let odds = try odds() {
            for boundary in Self.boundaries(places, odds) where boundary.score > 0 {
                places[boundary.word].sign = "." + places[boundary.word].sign
            }
            if let last = places.indices.last, places[last].sign.isEmpty { places[last].sign = "." }
        }
        Self.capitalize(&places, isEnglish: timeline.engine.model.hasPrefix("en"))
        var timeline = timeline
        for index in timeline.segments.indices.reversed() where !timeline.segments[index].words.isEmpty {
            let words = places.filter { $0.segment == index }.map { place in
                var word = place.word
                word.text += place.sign
                return word
            }
            timeline.segments[index].words = words
            if words.isEmpty { timeline.segments.remove(at: index) }
        }
        return timeline
    }

    private static func bare(_ timeline: Timeline) -> Timeline {
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

    /// Returns every boundary between words of a transcript without punctuation.
    package static func boundaries(of timeline: Timeline, odds: SentenceOdds) -> [Boundary] {
        boundaries(places(of: timeline), odds)
    }

    private static func places(of timeline: Timeline) -> [Place] {
        timeline.segments.enumerated().flatMap { index, segment in
            segment.words.enumerated().map { number, word in
                Place(
                    segment: index, word: word,
                    lowering: number == segment.words.count - 1 ? segment.voice?.finalLowering : nil)
            }
        }
    }

    private static func boundaries(_ places: [Place], _ odds: SentenceOdds) -> [Boundary] {
        let words = places.map { $0.word.text.lowercased() }
        return places.indices.dropLast().compactMap { index in
            guard places[index].sign.allSatisfy({ String($0) == newLine }) else {
                return nil
            }
            let after = Array(words[(index + 1)...].prefix(context))
            let before = Array(words[...index].suffix(context).reversed())
            let pause = places[index + 1].word.range.start - places[index].word.range.end
            return Boundary(
                word: index, pauseSeconds: Double(pause) / Double(SamplePosition.rate), odds: odds(before, after),
                lowering: places[index].lowering)
        }
    }

    private static func withSpokenMarks(_ places: [Place], isWritten: Bool) -> [Place] {
        var marked: [Place] = []
        var rest = places[...]
        while let place = rest.first {
            let name = names.first { name in
                rest.prefix(name.words.count).map { bareWord($0.word.text) } == name.words
            }
            if let name {
                rest = rest.dropFirst(name.words.count)
                guard let last = marked.indices.last else { continue }
                // Replaces the engine's punctuation for the pause before the name.
                if isWritten, name.sign.first?.isPunctuation ?? false, marked[last].word.text.count > 1,
                    let sign = marked[last].word.text.last, ",.;:".contains(sign)
                {
                    marked[last].word.text.removeLast()
                }
                marked[last].sign += name.sign
            } else {
                rest = rest.dropFirst()
                marked.append(place)
            }
        }
        return marked
    }

    private static func capitalize(_ places: inout [Place], isEnglish: Bool) {
        var begins = true
        for index in places.indices {
            let text = places[index].word.text
            if begins || isEnglish && (text == "i" || text.hasPrefix("i'")) {
                places[index].word.text = text.prefix(1).uppercased() + text.dropFirst()
            }
            begins = places[index].sign.contains { ".?\(newLine)".contains($0) }
        }
    }
}

/// Returns a word in lower case without surrounding punctuation; may be empty.
///
/// Keeps inner punctuation (apostrophes, hyphens, decimal points) and spoken signs: `&`, `%`, `#`, `@`.
func bareWord(_ text: String) -> String {
    let isMark = { (character: Character) in character.isPunctuation && !"&%#@".contains(character) }
    var word = text[...].drop(while: isMark)
    while let last = word.last, isMark(last) { word.removeLast() }
    return word.lowercased()
}
