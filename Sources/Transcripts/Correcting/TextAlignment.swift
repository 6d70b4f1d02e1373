import Core

/// Two texts, word by word, however long they are. Pure.
///
/// Runs of three words that both have once hold the texts together; between these, the way with the fewest words that differ.
enum TextAlignment {
    /// Words that are compared each with each: the product of both lengths, above which a stretch counts as replaced.
    private static let mostCompared = 4_000_000

    /// For each word of `new` the index of the word of `old` in whose place it stands, the same or another; nil where `old` has none.
    static func counterparts(of new: [String], in old: [String]) -> [Int?] {
        let (new, old) = WordErrors.numbered(new, old)
        var found = [Int?](repeating: nil, count: new.count)
        var (from, to) = (0, 0)
        for (place, anchor) in anchors(new, old) + [(new.count, old.count)] {
            align(new, from..<place, old, to..<anchor, &found)
            if place < new.count { found[place] = anchor }
            (from, to) = (place + 1, anchor + 1)
        }
        return found
    }

    private static func align(
        _ new: [Int32], _ place: Range<Int>, _ old: [Int32], _ other: Range<Int>, _ found: inout [Int?]
    ) {
        var (place, other) = (place, other)
        // What is the same at both ends needs no comparing, and of two equal runs the first stays.
        while let first = place.first, let second = other.first, new[first] == old[second] {
            found[first] = second
            (place, other) = (place.dropFirst(), other.dropFirst())
        }
        while let last = place.last, let second = other.last, new[last] == old[second] {
            found[last] = second
            (place, other) = (place.dropLast(), other.dropLast())
        }
        guard !place.isEmpty, !other.isEmpty, place.count <= mostCompared / other.count else { return }
        for step in WordErrors.align(numbered: Array(old[other]), Array(new[place])) {
            switch step {
            case .same(let reference, let hypothesis), .substituted(let reference, let hypothesis):
                found[place.lowerBound + hypothesis] = other.lowerBound + reference
            case .deleted, .inserted: break
            }
        }
    }

    /// Pairs of words, both in order: the first of each run that both texts have exactly once.
    private static func anchors(_ new: [Int32], _ old: [Int32]) -> [(Int, Int)] {
        let places = once(old)
        return rising(once(new).compactMap { key, place in places[key].map { (place, $0) } })
    }

    /// The longest chain of pairs of which both numbers rise.
    static func rising(_ unordered: [(Int, Int)]) -> [(Int, Int)] {
        let pairs = unordered.sorted { $0.0 < $1.0 }
        // For each length the pair with the least end.
        var ends: [Int] = []
        var before = [Int?](repeating: nil, count: pairs.count)
        for index in pairs.indices {
            var (low, high) = (0, ends.count)
            while low < high {
                let middle = (low + high) / 2
                if pairs[ends[middle]].1 < pairs[index].1 { low = middle + 1 } else { high = middle }
            }
            before[index] = low > 0 ? ends[low - 1] : nil
            if low == ends.count { ends.append(index) } else { ends[low] = index }
        }
        var chain: [(Int, Int)] = []
        var next = ends.last
        while let index = next {
            chain.append(pairs[index])
            next = before[index]
        }
        return chain.reversed()
    }

    private struct Run: Hashable {
        var first: Int32
        var second: Int32
        var third: Int32
    }

    private static func once(_ words: [Int32]) -> [Run: Int] {
        var places: [Run: Int?] = [:]
        for start in words.indices.dropLast(2) {
            let key = Run(first: words[start], second: words[start + 1], third: words[start + 2])
            places[key] = places[key] == nil ? .some(start) : .some(nil)
        }
        return places.compactMapValues { $0 }
    }
}
