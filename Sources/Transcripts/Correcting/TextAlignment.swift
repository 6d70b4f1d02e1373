import Core

/// Aligns two texts of any length word by word.
///
/// Runs of three words that are unique in both are anchors; between them it finds a shortest edit script.
enum TextAlignment {
    /// The largest product of lengths to align; a longer passage counts as replaced.
    private static let maxCompared = 4_000_000

    /// Returns for each word of `new` the index of the equal or replaced word of `old`; nil for an insertion.
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
        // Common prefixes and suffixes need no alignment.
        while let first = place.first, let second = other.first, new[first] == old[second] {
            found[first] = second
            (place, other) = (place.dropFirst(), other.dropFirst())
        }
        while let last = place.last, let second = other.last, new[last] == old[second] {
            found[last] = second
            (place, other) = (place.dropLast(), other.dropLast())
        }
        guard !place.isEmpty, !other.isEmpty, place.count <= maxCompared / other.count else { return }
        let counterparts = WordErrors.counterparts(of: Array(new[place]), in: Array(old[other]))
        for (index, counterpart) in zip(place, counterparts) {
            found[index] = counterpart.map { other.lowerBound + $0 }
        }
    }

    /// Returns pairs of the first words of runs that are unique in both texts, in order.
    private static func anchors(_ new: [Int32], _ old: [Int32]) -> [(Int, Int)] {
        let places = indicesOfUnique(runs(old))
        return rising(indicesOfUnique(runs(new)).compactMap { key, place in places[key].map { (place, $0) } })
    }

    /// Returns the longest chain of pairs in which both numbers increase.
    static func rising(_ unordered: [(Int, Int)]) -> [(Int, Int)] {
        let pairs = unordered.sorted { $0.0 < $1.0 }
        // For each chain length, the pair with the smallest end.
        var ends: [Int] = []
        var before = [Int?](repeating: nil, count: pairs.count)
        for index in pairs.indices {
            let low = ends.indices.partitionPoint { pairs[ends[$0]].1 >= pairs[index].1 }
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

    private static func runs(_ words: [Int32]) -> [Run] {
        words.indices.dropLast(2).map { Run(first: words[$0], second: words[$0 + 1], third: words[$0 + 2]) }
    }

    /// Returns the index of each element that occurs once.
    static func indicesOfUnique<Element: Hashable>(_ elements: [Element]) -> [Element: Int] {
        var places: [Element: Int?] = [:]
        for (index, element) in elements.enumerated() {
            places[element] = places[element] == nil ? .some(index) : .some(nil)
        }
        return places.compactMapValues { $0 }
    }
}
