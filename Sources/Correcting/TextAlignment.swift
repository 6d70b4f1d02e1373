import Core

/// Two texts, word by word, however long they are. Pure.
///
/// Runs of three words that both have once hold the texts together; between these, the way with the fewest words that differ.
package enum TextAlignment {
    /// Words that are compared each with each: the product of both lengths, above which a stretch counts as replaced.
    private static let mostCompared = 4_000_000
    private static let run = 3

    /// For each word of `new` the index of the word of `old` in whose place it stands, the same or another; nil where `old` has none.
    package static func counterparts(of new: [String], in old: [String]) -> [Int?] {
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
        _ new: [String], _ place: Range<Int>, _ old: [String], _ other: Range<Int>, _ found: inout [Int?]
    ) {
        guard !place.isEmpty, !other.isEmpty, place.count <= mostCompared / other.count else { return }
        for step in WordErrors.align(Array(old[other]), Array(new[place])) {
            switch step {
            case .same(let reference, let hypothesis), .substituted(let reference, let hypothesis):
                found[place.lowerBound + hypothesis] = other.lowerBound + reference
            case .deleted, .inserted: break
            }
        }
    }

    /// Pairs of words, both in order: the first of each run that both texts have exactly once.
    private static func anchors(_ new: [String], _ old: [String]) -> [(Int, Int)] {
        let places = once(old)
        let pairs = once(new).compactMap { key, place in places[key].map { (place, $0) } }.sorted { $0.0 < $1.0 }
        // The longest of them that rises: for each length the pair with the least end.
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

    private static func once(_ words: [String]) -> [ArraySlice<String>: Int] {
        var places: [ArraySlice<String>: Int?] = [:]
        guard words.count >= run else { return [:] }
        for start in 0...(words.count - run) {
            let key = words[start..<(start + run)]
            places[key] = places[key] == nil ? .some(start) : .some(nil)
        }
        return places.compactMapValues { $0 }
    }
}
