import Core

/// Inserts phrases from a text decoded with a phrase list into a text decoded without it, so that the list
/// changes other words only if a phrase cannot be separated from them.
enum PhraseGraft {
    /// The text that a word comes from, and the word's index there.
    enum Source: Hashable {
        case plain(Int)
        case listed(Int)
    }

    /// Returns the sources of the merged text's words.
    ///
    /// Where the texts differ, their letters are aligned, and a phrase replaces the words aligned with it. If it begins
    /// or ends within such a word, the result takes all differing words from the `listed` text.
    ///
    /// - Parameters:
    ///   - plain: the words decoded without the list.
    ///   - listed: the words decoded with the list.
    ///   - isPhrase: for each of the `listed` words, whether it belongs to a phrase in the list.
    static func sources(plain: [String], listed: [String], isPhrase: [Bool]) -> [Source] {
        let (plain, listed) = (plain.map(Word.key), listed.map(Word.key))
        var sources: [Source] = []
        var range = (plain: 0..<0, listed: 0..<0)
        func mergeRange() {
            sources += self.sources(plain, range.plain, listed, range.listed, isPhrase)
            range = (range.plain.upperBound..<range.plain.upperBound, range.listed.upperBound..<range.listed.upperBound)
        }
        for step in WordErrors.align(plain, listed) {
            switch step {
            case .same(let word, let listedWord):
                mergeRange()
                sources.append(isPhrase[listedWord] ? .listed(listedWord) : .plain(word))
                range = (word + 1..<word + 1, listedWord + 1..<listedWord + 1)
            case .substituted(let word, let listedWord):
                range = (range.plain.lowerBound..<word + 1, range.listed.lowerBound..<listedWord + 1)
            case .deleted(let word): range.plain = range.plain.lowerBound..<word + 1
            case .inserted(let listedWord): range.listed = range.listed.lowerBound..<listedWord + 1
            }
        }
        mergeRange()
        return sources
    }

    /// Merges a range in which the texts have no words in common.
    private static func sources(
        _ plain: [String], _ words: Range<Int>, _ listed: [String], _ listedWords: Range<Int>, _ isPhrase: [Bool]
    ) -> [Source] {
        guard listedWords.contains(where: { isPhrase[$0] }) else { return words.map(Source.plain) }
        let cuts = listedWords.dropFirst().filter { isPhrase[$0] != isPhrase[$0 - 1] }
        guard let boundaries = self.boundaries(matching: cuts, plain, words, listed, listedWords) else {
            return listedWords.map(Source.listed)
        }
        let ends = zip(cuts + [listedWords.upperBound], boundaries + [words.upperBound])
        var (word, listedWord) = (words.lowerBound, listedWords.lowerBound)
        return ends.flatMap { cut, boundary in
            defer { (word, listedWord) = (boundary, cut) }
            return isPhrase[listedWord] ? (listedWord..<cut).map(Source.listed) : (word..<boundary).map(Source.plain)
        }
    }

    /// Returns the word boundaries of `plain` that correspond to `cuts`; nil if a cut falls within a word of `plain`.
    ///
    /// - Parameter cuts: the indices in `listed` between words of a phrase and other words.
    private static func boundaries(
        matching cuts: [Int], _ plain: [String], _ words: Range<Int>, _ listed: [String], _ listedWords: Range<Int>
    ) -> [Int]? {
        guard !cuts.isEmpty else { return [] }
        let letters = { (words: ArraySlice<String>) in words.joined().map(String.init) }
        // For each prefix length of `listed`, in letters, the possible prefix lengths of `plain`.
        var plainPrefixes: [Int: ClosedRange<Int>] = [0: 0...0]
        var (plainCount, listedCount) = (0, 0)
        for step in WordErrors.align(letters(plain[words]), letters(listed[listedWords])) {
            switch step {
            case .same, .substituted: (plainCount, listedCount) = (plainCount + 1, listedCount + 1)
            case .deleted: plainCount += 1
            case .inserted: listedCount += 1
            }
            plainPrefixes[listedCount] = (plainPrefixes[listedCount]?.lowerBound ?? plainCount)...plainCount
        }
        var wordStarts: [Int: Int] = [:]
        for word in words.lowerBound...words.upperBound {
            wordStarts[plain[words.lowerBound..<word].reduce(0) { $0 + $1.count }] = word
        }
        var boundaries: [Int] = []
        for cut in cuts {
            let count = listed[listedWords.lowerBound..<cut].reduce(0) { $0 + $1.count }
            guard let boundary = plainPrefixes[count]?.lazy.compactMap({ wordStarts[$0] }).first else { return nil }
            boundaries.append(max(boundary, boundaries.last ?? boundary))
        }
        return boundaries
    }
}
