import Core

/// Aligns two texts of any length word by word.
///
/// Runs of three words that are unique in both texts are anchors. Words between anchors are aligned by a shortest edit
/// script.
enum TextAlignment {
    /// The maximum product of two passages' lengths. Words in longer passages have no counterparts.
    private static let maxCompared = 4_000_000

    /// Returns, for each word in `new`, the index of the word in `old` that it equals or replaces; nil if inserted.
    static func counterparts(of new: [String], in old: [String]) -> [Int?] {
        let (new, old) = WordErrors.numbered(new, old)
        var found = [Int?](repeating: nil, count: new.count)
        var (from, to) = (0, 0)
        for (newAnchor, oldAnchor) in anchors(new, old) + [(new.count, old.count)] {
            align(new, from..<newAnchor, old, to..<oldAnchor, &found)
            if newAnchor < new.count { found[newAnchor] = oldAnchor }
            (from, to) = (newAnchor + 1, oldAnchor + 1)
        }
        return found
    }

    private static func align(
        _ new: [Int32], _ newRange: Range<Int>, _ old: [Int32], _ oldRange: Range<Int>, _ found: inout [Int?]
    ) {
        var (newRange, oldRange) = (newRange, oldRange)
        // Common prefixes and suffixes need no alignment.
        while let first = newRange.first, let second = oldRange.first, new[first] == old[second] {
            found[first] = second
            (newRange, oldRange) = (newRange.dropFirst(), oldRange.dropFirst())
        }
        while let last = newRange.last, let second = oldRange.last, new[last] == old[second] {
            found[last] = second
            (newRange, oldRange) = (newRange.dropLast(), oldRange.dropLast())
        }
        guard !newRange.isEmpty, !oldRange.isEmpty, newRange.count <= maxCompared / oldRange.count else { return }
        let counterparts = WordErrors.counterparts(of: Array(new[newRange]), in: Array(old[oldRange]))
        for (index, counterpart) in zip(newRange, counterparts) {
            found[index] = counterpart.map { oldRange.lowerBound + $0 }
        }
    }

    /// Returns, in order, the indices in both texts at which runs that are unique in both texts start.
    private static func anchors(_ new: [Int32], _ old: [Int32]) -> [(Int, Int)] {
        let oldIndices = indicesOfUnique(runs(old))
        return rising(indicesOfUnique(runs(new)).compactMap { key, index in oldIndices[key].map { (index, $0) } })
    }

    /// Returns the longest sequence of pairs in which both numbers increase.
    static func rising(_ unordered: [(Int, Int)]) -> [(Int, Int)] {
        let pairs = unordered.sorted { $0.0 < $1.0 }
        // For each length, the last pair of the rising sequence with the smallest end.
        var ends: [Int] = []
        var predecessors = [Int?](repeating: nil, count: pairs.count)
        for index in pairs.indices {
            let low = ends.indices.partitionPoint { pairs[ends[$0]].1 >= pairs[index].1 }
            predecessors[index] = low > 0 ? ends[low - 1] : nil
            if low == ends.count { ends.append(index) } else { ends[low] = index }
        }
        var sequence: [(Int, Int)] = []
        var next = ends.last
        while let index = next {
            sequence.append(pairs[index])
            next = predecessors[index]
        }
        return sequence.reversed()
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
        var indices: [Element: Int?] = [:]
        for (index, element) in elements.enumerated() {
            indices[element] = indices[element] == nil ? .some(index) : .some(nil)
        }
        return indices.compactMapValues { $0 }
    }
}
