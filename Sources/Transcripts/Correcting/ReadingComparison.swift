import Core

/// Compares a tier of a file with our export of a text: finds which words correspond, and which pieces were moved.
struct ReadingComparison {
    /// A word of the file, or several that are one word of the text.
    struct Said {
        var text: String
        /// The number of the text's word that it equals or replaces; nil without one.
        var old: Int?
        /// Its range if a person moved it.
        var range: SampleRange?
    }

    /// A line that a person moved or added.
    struct Line {
        var range: SampleRange
        var said: [Said]
        /// The numbers of the text's words in it; empty if added.
        var old: [Int] = []
        /// The original range of these words.
        var span: SampleRange?
    }

    /// The file's words in each segment of the text.
    private(set) var said: [[Said]]
    /// Moved or added lines.
    private(set) var lines: [Line] = []
    /// Moved words, by number.
    private(set) var times: [Int: SampleRange] = [:]
    /// Unchanged words.
    private(set) var same = 0
    /// The file's words.
    private(set) var count = 0

    private struct Token {
        var text: String
        var key: String
        var piece: Int
    }

    private let text: NumberedWords
    private let isOfWords: Bool
    private let new: [Token]
    private let newPieces: [WrittenText.Piece]
    private let shown: [Token]
    private let shownPieces: [WrittenText.Piece]
    /// The tokens of each piece.
    private let newParts: [Range<Int>]
    private let shownParts: [Range<Int>]
    /// For each token of the file, the token of our export.
    private var counterparts: [Int?]
    /// For each token of our export, the text's token.
    private let origins: [Int?]
    /// Pieces at times that our export does not have.
    private var movedPieces: Set<Int> = []
    /// The tolerance for rounded times: 10 ms, in samples.
    private static let tolerance: Int64 = 160

    /// - Parameters:
    ///   - shown: Our export of the text.
    ///   - isOfWords: Whether each piece is one word.
    init(
        _ pieces: [WrittenText.Piece], with shown: [WrittenText.Piece], of text: NumberedWords, _ spoken: SpokenWords,
        isOfWords: Bool
    ) {
        self.text = text
        self.isOfWords = isOfWords
        let isTimed = pieces.allSatisfy { $0.range != nil }
        newPieces = isTimed ? pieces.stablySorted { $0.range?.start ?? .zero } : pieces
        shownPieces = shown
        new = Self.tokens(newPieces, spoken)
        self.shown = Self.tokens(shown, spoken)
        (newParts, shownParts) = (Self.parts(new, newPieces.count), Self.parts(self.shown, shown.count))
        count = new.count
        let keys = self.shown.map(\.key)
        let found =
            keys == text.keys ? Array(keys.indices) : TextAlignment.counterparts(of: keys, in: text.keys)
        origins = zip(keys, found).map { key, place in place.flatMap { text.keys[$0] == key ? $0 : nil } }
        counterparts = [Int?](repeating: nil, count: new.count)
        said = [[Said]](repeating: [], count: text.segments.count)
        align()
        place()
    }

    private static func tokens(_ pieces: [WrittenText.Piece], _ spoken: SpokenWords) -> [Token] {
        var tokens: [Token] = []
        for (index, piece) in pieces.enumerated() {
            for text in spoken.tokens(of: piece.text) {
                tokens.append(Token(text: text, key: NumberedWords.key(of: text), piece: index))
            }
        }
        return tokens
    }

    /// Aligns unchanged pieces first, then word by word between them.
    private mutating func align() {
        let places = TextAlignment.indicesOfUnique(shownPieces)
        let same = TextAlignment.rising(
            TextAlignment.indicesOfUnique(newPieces).compactMap { piece, place in places[piece].map { (place, $0) } })
        var (from, to) = (0, 0)
        for (place, other) in same + [(newPieces.count, shownPieces.count)] {
            let isEnd = place == newPieces.count
            let (a, b) = (
                isEnd ? new.count : newParts[place].lowerBound, isEnd ? shown.count : shownParts[other].lowerBound
            )
            if from < a, to < b {
                let found = TextAlignment.counterparts(of: new[from..<a].map(\.key), in: shown[to..<b].map(\.key))
                for (index, counterpart) in found.enumerated() {
                    counterparts[from + index] = counterpart.map { to + $0 }
                }
            }
            guard !isEnd else { continue }
            for (index, counterpart) in zip(newParts[place], shownParts[other]) { counterparts[index] = counterpart }
            (from, to) = (newParts[place].upperBound, shownParts[other].upperBound)
        }
    }

    private static func parts(_ tokens: [Token], _ count: Int) -> [Range<Int>] {
        var parts: [Range<Int>] = []
        var start = 0
        for piece in 0..<count {
            var end = start
            while end < tokens.count, tokens[end].piece == piece { end += 1 }
            parts.append(start..<end)
            start = end
        }
        return parts
    }

    /// Returns the text's token that a token of the file equals, ignoring case and punctuation; nil if none.
    private func origin(_ token: Int) -> Int? {
        counterparts[token].flatMap { shown[$0].key == new[token].key ? origins[$0] : nil }
    }

    /// Whether our export inserts this token between words.
    private func isInserted(_ token: Int) -> Bool {
        counterparts[token].map { shown[$0].key == new[token].key && origins[$0] == nil } ?? false
    }

    /// Assigns each token to its segment, or to a moved line.
    private mutating func place() {
        var left = [Int](repeating: 0, count: shownPieces.count)
        for token in new.indices where origin(token) != nil {
            same += 1
            if let counterpart = counterparts[token] { left[shown[counterpart].piece] += 1 }
        }
        var owners = new.indices.map { token in
            counterparts[token].flatMap { origins[$0] }.map { text.words[text.tokens[$0]].segment }
        }
        var isElsewhere = [Bool](repeating: false, count: new.count)
        for (index, piece) in newPieces.enumerated() {
            let part = newParts[index]
            guard let range = piece.range, !part.isEmpty, shownPieces.first?.range != nil || text.words.isEmpty else {
                continue
            }
            if let place = shownPiece(at: range), let owner = owner(shownParts[place], range) {
                for token in part where origin(token) == nil { owners[token] = owner }
                continue
            }
            movedPieces.insert(index)
            let origins = part.compactMap { origin($0) }
            guard !origins.isEmpty else {
                if isOfWords, let owner = text.segment(at: range) {
                    for token in part { owners[token] = owner }
                    continue
                }
                for token in part { isElsewhere[token] = true }
                lines.append(Line(range: range, said: said(part)))
                continue
            }
            if isOfWords {
                for origin in Set(origins.map { text.tokens[$0] }) { times[origin] = range }
                continue
            }
            guard let moved = moved(part, to: range, left) else { continue }
            for token in part { isElsewhere[token] = true }
            lines.append(moved)
        }
        own(&owners, isElsewhere)
        var start = 0
        while start < new.count {
            guard !isElsewhere[start], let owner = owners[start] else {
                start += 1
                continue
            }
            var end = start + 1
            while end < new.count, !isElsewhere[end], owners[end] == owner { end += 1 }
            said[owner] += said(start..<end)
            start = end
        }
        keepHiddenWords()
    }

    /// Keeps words that exports do not show.
    private mutating func keepHiddenWords() {
        var isShown = [Bool](repeating: false, count: text.words.count)
        for case let place? in origins { isShown[text.tokens[place]] = true }
        for (number, word) in text.words.enumerated() where !isShown[number] {
            let place = said[word.segment].firstIndex { $0.old ?? -1 > number }
            let previous = said[word.segment].lastIndex { $0.old ?? .max < number }
            // If none of a segment's words are shown, nobody can have removed them.
            let isWhole = !text.numbers(ofSegment: word.segment).contains { isShown[$0] }
            guard let index = previous.map({ $0 + 1 }) ?? place ?? (isWhole ? said[word.segment].count : nil) else {
                continue
            }
            said[word.segment].insert(Said(text: word.text, old: number), at: index)
        }
    }

    /// Assigns new words to the previous word's segment in the same piece, else to the next one's.
    private func own(_ owners: inout [Int?], _ isElsewhere: [Bool]) {
        let here = new.indices.filter { !isElsewhere[$0] }
        for (before, index) in zip(here, here.dropFirst())
        where owners[index] == nil && new[index].piece == new[before].piece {
            owners[index] = owners[before]
        }
        for (behind, index) in zip(here.reversed(), here.reversed().dropFirst()) where owners[index] == nil {
            owners[index] = owners[behind]
        }
        let last = here.last.flatMap { owners[$0] } ?? text.words.last?.segment
        for index in here where owners[index] == nil { owners[index] = last }
    }

    /// Returns the tokens in a range as words.
    private func said(_ part: Range<Int>) -> [Said] {
        var words: [Said] = []
        var index = part.lowerBound
        while index < part.upperBound {
            if isInserted(index) {
                index += 1
                continue
            }
            let range = isOfWords && movedPieces.contains(new[index].piece) ? newPieces[new[index].piece].range : nil
            guard let place = origin(index) else {
                let instead = counterparts[index].flatMap { origins[$0] }.map { text.tokens[$0] }
                words.append(Said(text: new[index].text, old: instead, range: range))
                index += 1
                continue
            }
            let number = text.tokens[place]
            let word = text.words[number]
            // Several tokens of one word stay one word if none is missing.
            let rest = index..<min(part.upperBound, index + word.tokens.count)
            let isWhole =
                rest.count == word.tokens.count
                && zip(rest, word.tokens).allSatisfy { origin($0) == $1 && new[$0].text == text.texts[$1] }
            words.append(Said(text: isWhole ? word.text : new[index].text, old: number))
            index += isWhole ? rest.count : 1
        }
        return words
    }

    /// Returns the piece of our export at these times.
    private func shownPiece(at range: SampleRange) -> Int? {
        let earliest = range.start - Self.tolerance
        var low = shownPieces.indices.partitionPoint { (shownPieces[$0].range?.start ?? .zero) >= earliest }
        while low < shownPieces.count, let other = shownPieces[low].range, other.start <= range.start + Self.tolerance {
            if abs(other.end - range.end) <= Self.tolerance { return low }
            low += 1
        }
        return nil
    }

    private func owner(_ part: Range<Int>, _ range: SampleRange) -> Int? {
        part.lazy.compactMap { origins[$0] }.first.map { text.words[text.tokens[$0]].segment }
            ?? text.segment(at: range)
    }

    /// Returns the piece as a moved line; nil if its words were said at that time anyway.
    ///
    /// - Parameter left: The number of words that the file still has of each piece.
    private func moved(_ part: Range<Int>, to range: SampleRange, _ left: [Int]) -> Line? {
        var shares: [Int: Int] = [:]
        for token in part where origin(token) != nil {
            if let counterpart = counterparts[token] { shares[shown[counterpart].piece, default: 0] += 1 }
        }
        let numbers = part.compactMap { origin($0) }.map { text.tokens[$0] }
        // All remaining words of one piece, and none of another.
        if shares.count == 1, let (place, share) = shares.first, share == left[place] {
            let old = shownParts[place].compactMap { origins[$0] }.map { text.tokens[$0] } + numbers
            return Line(range: range, said: said(part), old: Self.unique(old), span: shownPieces[place].range)
        }
        let words = numbers.map { text.words[$0].range }
        let isThere = words.allSatisfy {
            $0.start >= range.start - Self.tolerance && $0.end <= range.end + Self.tolerance
        }
        return isThere ? nil : Line(range: range, said: said(part), old: Self.unique(numbers))
    }

    private static func unique(_ numbers: [Int]) -> [Int] { Set(numbers).sorted() }
}
