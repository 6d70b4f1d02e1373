import Core

/// Inserts phrases from a reading with a phrase list into one without, so that the list changes only its own words.
enum PhraseGraft {
    /// A word, by its index in the reading that it comes from.
    enum Source: Hashable {
        case plain(Int)
        case listed(Int)
    }

    /// Returns the words of both readings that make up the text.
    ///
    /// Where the readings differ, a phrase replaces the words with the same letters. If these letters begin or end
    /// within a word, the result has all differing words from the reading with phrases.
    ///
    /// - Parameters:
    ///   - plain: the words read without the list.
    ///   - listed: the words read with it.
    ///   - isPhrase: which of `listed` belong to a phrase of the list.
    static func sources(plain: [String], listed: [String], isPhrase: [Bool]) -> [Source] {
        let (plain, listed) = (plain.map(Word.key), listed.map(Word.key))
        var sources: [Source] = []
        var place = (plain: 0..<0, listed: 0..<0)
        func close() {
            sources += self.sources(plain, place.plain, listed, place.listed, isPhrase)
            place = (place.plain.upperBound..<place.plain.upperBound, place.listed.upperBound..<place.listed.upperBound)
        }
        for step in WordErrors.align(plain, listed) {
            switch step {
            case .same(let word, let other):
                close()
                sources.append(isPhrase[other] ? .listed(other) : .plain(word))
                place = (word + 1..<word + 1, other + 1..<other + 1)
            case .substituted(let word, let other):
                place = (place.plain.lowerBound..<word + 1, place.listed.lowerBound..<other + 1)
            case .deleted(let word): place.plain = place.plain.lowerBound..<word + 1
            case .inserted(let other): place.listed = place.listed.lowerBound..<other + 1
            }
        }
        close()
        return sources
    }

    /// Merges a stretch without common words.
    private static func sources(
        _ plain: [String], _ words: Range<Int>, _ listed: [String], _ others: Range<Int>, _ isPhrase: [Bool]
    ) -> [Source] {
        guard others.contains(where: { isPhrase[$0] }) else { return words.map(Source.plain) }
        let cuts = others.dropFirst().filter { isPhrase[$0] != isPhrase[$0 - 1] }
        guard let places = self.places(of: cuts, plain, words, listed, others) else {
            return others.map(Source.listed)
        }
        let ends = zip(cuts + [others.upperBound], places + [words.upperBound])
        var (word, other) = (words.lowerBound, others.lowerBound)
        return ends.flatMap { cut, place in
            defer { (word, other) = (place, cut) }
            return isPhrase[other] ? (other..<cut).map(Source.listed) : (word..<place).map(Source.plain)
        }
    }

    /// Returns the word boundaries of `plain` that correspond to the cuts; nil for a cut within a word.
    private static func places(
        of cuts: [Int], _ plain: [String], _ words: Range<Int>, _ listed: [String], _ others: Range<Int>
    ) -> [Int]? {
        guard !cuts.isEmpty else { return [] }
        let letters = { (words: ArraySlice<String>) in words.joined().map(String.init) }
        // For each prefix length of `listed`, in letters, the possible prefix lengths of `plain`.
        var reached: [Int: ClosedRange<Int>] = [0: 0...0]
        var (row, column) = (0, 0)
        for step in WordErrors.align(letters(plain[words]), letters(listed[others])) {
            switch step {
            case .same, .substituted: (row, column) = (row + 1, column + 1)
            case .deleted: row += 1
            case .inserted: column += 1
            }
            reached[column] = (reached[column]?.lowerBound ?? row)...row
        }
        var starts: [Int: Int] = [:]
        for word in words.lowerBound...words.upperBound {
            starts[plain[words.lowerBound..<word].reduce(0) { $0 + $1.count }] = word
        }
        var places: [Int] = []
        for cut in cuts {
            let count = listed[others.lowerBound..<cut].reduce(0) { $0 + $1.count }
            guard let place = reached[count]?.lazy.compactMap({ starts[$0] }).first else { return nil }
            places.append(max(place, places.last ?? place))
        }
        return places
    }
}
