extension Range<Int> {
    /// Returns the first integer that satisfies the predicate, by binary search; the upper bound if there is none.
    ///
    /// - Parameter predicate: Must not be true for one integer and false for a later one.
    package func partitionPoint(where predicate: (Int) -> Bool) -> Int {
        var (low, high) = (lowerBound, upperBound)
        while low < high {
            let middle = (low + high) / 2
            if predicate(middle) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}

extension Sequence {
    /// Returns the elements sorted by a key. Elements with equal keys keep their order, which `sorted` does not
    /// guarantee.
    package func stablySorted<Key: Comparable>(by key: (Element) -> Key) -> [Element] {
        enumerated().map { (offset: $0.offset, element: $0.element, key: key($0.element)) }
            .sorted { ($0.key, $0.offset) < ($1.key, $1.offset) }.map(\.element)
    }
}
