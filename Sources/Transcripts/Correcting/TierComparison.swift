import Core

/// Compares a file's tier (see `EditedTranscript.tiers`) with the same tier in our export of the original transcript.
/// Finds corresponding words and moved entries.
struct TierComparison {
    /// A word in the file, or several that are one word in the transcript.
    struct FileWord {
        var text: String
        /// The word that this word equals or replaces, as a number in `NumberedWords`; nil if there is none.
        var originalWord: Int?
        /// Nil unless a person moved the word.
        var range: SampleRange?
    }

    /// A line that a person moved or added.
    struct Line {
        var range: SampleRange
        var fileWords: [FileWord]
        /// The numbers of the transcript's words in the line; empty if the line was added.
        var originalWords: [Int] = []
        /// The range in our export; nil unless the line has all remaining words of one exported entry, and no others.
        var originalRange: SampleRange?
    }

    /// The file's words for each segment of the transcript.
    private(set) var fileWords: [[FileWord]]
    private(set) var lines: [Line] = []
    /// The new ranges of moved words, by word number.
    private(set) var times: [Int: SampleRange] = [:]
    /// The number of words in the file that are also in the transcript.
    private(set) var sharedCount = 0
    private(set) var wordCount = 0

    private struct Token {
        var text: String
        var key: String
        var entry: Int
    }

    private let text: NumberedWords
    private let isWordTier: Bool
    private let fileTokens: [Token]
    private let fileEntries: [EditedTranscript.Entry]
    private let exportedTokens: [Token]
    private let exportedEntries: [EditedTranscript.Entry]
    /// The range of each entry's tokens.
    private let fileTokenRanges: [Range<Int>]
    private let exportedTokenRanges: [Range<Int>]
    /// For each token of the file, the corresponding token of our export.
    private var counterparts: [Int?]
    /// For each token of our export, the transcript's token; nil if our export inserts it.
    private let originalTokens: [Int?]
    /// The indices of entries whose times are not in our export.
    private var movedEntries: Set<Int> = []
    /// The tolerance for rounded times: 10 ms, in samples.
    private static let tolerance: Int64 = 160

    /// - Parameters:
    ///   - entries: The file's tier.
    ///   - exported: The same tier of our export.
    ///   - text: The transcript's words.
    ///   - isWordTier: Whether each entry is one word.
    init(
        _ entries: [EditedTranscript.Entry], with exported: [EditedTranscript.Entry], of text: NumberedWords,
        _ spoken: SpokenWords, isWordTier: Bool
    ) {
        self.text = text
        self.isWordTier = isWordTier
        let isTimed = entries.allSatisfy { $0.range != nil }
        fileEntries = isTimed ? entries.stablySorted { $0.range?.start ?? .zero } : entries
        exportedEntries = exported
        fileTokens = Self.tokens(fileEntries, spoken)
        exportedTokens = Self.tokens(exported, spoken)
        fileTokenRanges = Self.tokenRanges(fileTokens, fileEntries.count)
        exportedTokenRanges = Self.tokenRanges(exportedTokens, exported.count)
        wordCount = fileTokens.count
        let keys = exportedTokens.map(\.key)
        let found =
            keys == text.tokenKeys
            ? Array(keys.indices) : TextAlignment.counterparts(of: keys, in: text.tokenKeys)
        originalTokens = zip(keys, found).map { key, index in index.flatMap { text.tokenKeys[$0] == key ? $0 : nil } }
        counterparts = [Int?](repeating: nil, count: fileTokens.count)
        fileWords = [[FileWord]](repeating: [], count: text.segments.count)
        align()
        assignTokens()
    }

    private static func tokens(_ entries: [EditedTranscript.Entry], _ spoken: SpokenWords) -> [Token] {
        var tokens: [Token] = []
        for (index, entry) in entries.enumerated() {
            for text in spoken.tokens(of: entry.text) {
                tokens.append(Token(text: text, key: NumberedWords.key(of: text), entry: index))
            }
        }
        return tokens
    }

    /// Aligns unchanged entries first, then aligns word by word between them.
    private mutating func align() {
        let exportedIndices = TextAlignment.indicesOfUnique(exportedEntries)
        let unchanged = TextAlignment.rising(
            TextAlignment.indicesOfUnique(fileEntries).compactMap { entry, index in
                exportedIndices[entry].map { (index, $0) }
            })
        var (fileStart, exportStart) = (0, 0)
        for (fileIndex, exportIndex) in unchanged + [(fileEntries.count, exportedEntries.count)] {
            let isEnd = fileIndex == fileEntries.count
            let fileEnd = isEnd ? fileTokens.count : fileTokenRanges[fileIndex].lowerBound
            let exportEnd = isEnd ? exportedTokens.count : exportedTokenRanges[exportIndex].lowerBound
            if fileStart < fileEnd, exportStart < exportEnd {
                let found = TextAlignment.counterparts(
                    of: fileTokens[fileStart..<fileEnd].map(\.key),
                    in: exportedTokens[exportStart..<exportEnd].map(\.key))
                for (index, counterpart) in found.enumerated() {
                    counterparts[fileStart + index] = counterpart.map { exportStart + $0 }
                }
            }
            guard !isEnd else { continue }
            for (token, counterpart) in zip(fileTokenRanges[fileIndex], exportedTokenRanges[exportIndex]) {
                counterparts[token] = counterpart
            }
            fileStart = fileTokenRanges[fileIndex].upperBound
            exportStart = exportedTokenRanges[exportIndex].upperBound
        }
    }

    private static func tokenRanges(_ tokens: [Token], _ count: Int) -> [Range<Int>] {
        var tokenRanges: [Range<Int>] = []
        var start = 0
        for entry in 0..<count {
            var end = start
            while end < tokens.count, tokens[end].entry == entry { end += 1 }
            tokenRanges.append(start..<end)
            start = end
        }
        return tokenRanges
    }

    /// Returns the transcript's token that equals a token of the file, ignoring case and punctuation; nil if none does.
    private func originalToken(_ token: Int) -> Int? {
        counterparts[token].flatMap { exportedTokens[$0].key == fileTokens[token].key ? originalTokens[$0] : nil }
    }

    /// Whether our export inserts this token between words.
    private func isInserted(_ token: Int) -> Bool {
        guard let counterpart = counterparts[token] else { return false }
        return exportedTokens[counterpart].key == fileTokens[token].key && originalTokens[counterpart] == nil
    }

    /// Assigns each token to its segment or to a moved line.
    private mutating func assignTokens() {
        var remainingCounts = [Int](repeating: 0, count: exportedEntries.count)
        for token in fileTokens.indices where originalToken(token) != nil {
            sharedCount += 1
            if let counterpart = counterparts[token] { remainingCounts[exportedTokens[counterpart].entry] += 1 }
        }
        var segmentIndices = fileTokens.indices.map { token in
            counterparts[token].flatMap { originalTokens[$0] }.map { text.words[text.wordNumbers[$0]].segment }
        }
        var isInMovedLine = [Bool](repeating: false, count: fileTokens.count)
        for (index, entry) in fileEntries.enumerated() {
            let indices = fileTokenRanges[index]
            guard let range = entry.range, !indices.isEmpty,
                exportedEntries.first?.range != nil || text.words.isEmpty
            else { continue }
            if let unmoved = exportedEntry(at: range),
                let segment = segmentIndex(exportedTokenRanges[unmoved], range)
            {
                for token in indices where originalToken(token) == nil { segmentIndices[token] = segment }
                continue
            }
            movedEntries.insert(index)
            let found = indices.compactMap { originalToken($0) }
            guard !found.isEmpty else {
                if isWordTier, let segment = text.segment(at: range) {
                    for token in indices { segmentIndices[token] = segment }
                    continue
                }
                for token in indices { isInMovedLine[token] = true }
                lines.append(Line(range: range, fileWords: fileWords(indices)))
                continue
            }
            if isWordTier {
                for number in Set(found.map { text.wordNumbers[$0] }) { times[number] = range }
                continue
            }
            guard let line = movedLine(indices, to: range, remainingCounts) else { continue }
            for token in indices { isInMovedLine[token] = true }
            lines.append(line)
        }
        assignMissingSegments(&segmentIndices, isInMovedLine)
        var start = 0
        while start < fileTokens.count {
            guard !isInMovedLine[start], let segment = segmentIndices[start] else {
                start += 1
                continue
            }
            var end = start + 1
            while end < fileTokens.count, !isInMovedLine[end], segmentIndices[end] == segment { end += 1 }
            fileWords[segment] += fileWords(start..<end)
            start = end
        }
        restoreHiddenWords()
    }

    /// Restores the words that exports do not show: nobody can have removed them from the file.
    private mutating func restoreHiddenWords() {
        var isShown = [Bool](repeating: false, count: text.words.count)
        for case let token? in originalTokens { isShown[text.wordNumbers[token]] = true }
        for (number, word) in text.words.enumerated() where !isShown[number] {
            let next = fileWords[word.segment].firstIndex { $0.originalWord ?? -1 > number }
            let previous = fileWords[word.segment].lastIndex { $0.originalWord ?? .max < number }
            let isHiddenSegment = !text.numbers(ofSegment: word.segment).contains { isShown[$0] }
            let end = isHiddenSegment ? fileWords[word.segment].count : nil
            guard let index = previous.map({ $0 + 1 }) ?? next ?? end else { continue }
            fileWords[word.segment].insert(FileWord(text: word.text, originalWord: number), at: index)
        }
    }

    /// Assigns new words to the segment of the previous word in the same entry or, if there is none, of the next word.
    private func assignMissingSegments(_ segmentIndices: inout [Int?], _ isInMovedLine: [Bool]) {
        let unmoved = fileTokens.indices.filter { !isInMovedLine[$0] }
        for (previous, index) in zip(unmoved, unmoved.dropFirst())
        where segmentIndices[index] == nil && fileTokens[index].entry == fileTokens[previous].entry {
            segmentIndices[index] = segmentIndices[previous]
        }
        for (next, index) in zip(unmoved.reversed(), unmoved.reversed().dropFirst())
        where segmentIndices[index] == nil {
            segmentIndices[index] = segmentIndices[next]
        }
        let last = unmoved.last.flatMap { segmentIndices[$0] } ?? text.words.last?.segment
        for index in unmoved where segmentIndices[index] == nil { segmentIndices[index] = last }
    }

    /// Returns the tokens in a range as words.
    private func fileWords(_ indices: Range<Int>) -> [FileWord] {
        var words: [FileWord] = []
        var index = indices.lowerBound
        while index < indices.upperBound {
            if isInserted(index) {
                index += 1
                continue
            }
            let entry = fileTokens[index].entry
            let range = isWordTier && movedEntries.contains(entry) ? fileEntries[entry].range : nil
            guard let token = originalToken(index) else {
                let replaced = counterparts[index].flatMap { originalTokens[$0] }.map { text.wordNumbers[$0] }
                words.append(FileWord(text: fileTokens[index].text, originalWord: replaced, range: range))
                index += 1
                continue
            }
            let number = text.wordNumbers[token]
            let word = text.words[number]
            // A word whose tokens are all unchanged stays one word.
            let candidates = index..<min(indices.upperBound, index + word.tokens.count)
            let isWhole =
                candidates.count == word.tokens.count
                && zip(candidates, word.tokens).allSatisfy {
                    originalToken($0) == $1 && fileTokens[$0].text == text.tokenTexts[$1]
                }
            words.append(FileWord(text: isWhole ? word.text : fileTokens[index].text, originalWord: number))
            index += isWhole ? candidates.count : 1
        }
        return words
    }

    /// Returns the index of the entry with these times in our export, within the tolerance; nil if there is none.
    private func exportedEntry(at range: SampleRange) -> Int? {
        let earliest = range.start - Self.tolerance
        var low = exportedEntries.indices.partitionPoint { (exportedEntries[$0].range?.start ?? .zero) >= earliest }
        let latest = range.start + Self.tolerance
        while low < exportedEntries.count, let other = exportedEntries[low].range, other.start <= latest {
            if abs(other.end - range.end) <= Self.tolerance { return low }
            low += 1
        }
        return nil
    }

    private func segmentIndex(_ indices: Range<Int>, _ range: SampleRange) -> Int? {
        indices.lazy.compactMap { originalTokens[$0] }.first.map { text.words[text.wordNumbers[$0]].segment }
            ?? text.segment(at: range)
    }

    /// Returns an entry as a moved line; nil if its words were spoken at that time anyway.
    ///
    /// - Parameter remainingCounts: For each entry of our export, the number of its words that are still in the file.
    private func movedLine(_ indices: Range<Int>, to range: SampleRange, _ remainingCounts: [Int]) -> Line? {
        var shares: [Int: Int] = [:]
        for token in indices where originalToken(token) != nil {
            if let counterpart = counterparts[token] { shares[exportedTokens[counterpart].entry, default: 0] += 1 }
        }
        let numbers = indices.compactMap { originalToken($0) }.map { text.wordNumbers[$0] }
        // All remaining words of one exported entry, and no words of another.
        if shares.count == 1, let (entry, share) = shares.first, share == remainingCounts[entry] {
            let whole = exportedTokenRanges[entry].compactMap { originalTokens[$0] }.map { text.wordNumbers[$0] }
            return Line(
                range: range, fileWords: fileWords(indices), originalWords: Self.unique(whole + numbers),
                originalRange: exportedEntries[entry].range)
        }
        let words = numbers.map { text.words[$0].range }
        let isUnmoved = words.allSatisfy {
            $0.start >= range.start - Self.tolerance && $0.end <= range.end + Self.tolerance
        }
        if isUnmoved { return nil }
        return Line(range: range, fileWords: fileWords(indices), originalWords: Self.unique(numbers))
    }

    private static func unique(_ numbers: [Int]) -> [Int] { Set(numbers).sorted() }
}
