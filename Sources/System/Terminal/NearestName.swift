/// Returns the candidate that is most similar to a mistyped name; nil if none is similar.
///
/// - Parameter names: Variants of the mistyped name. The one that is most similar to a candidate counts.
package func nearestName(to names: [String], among candidates: [String]) -> String? {
    let matches = candidates.compactMap { candidate in
        let maximum = max(2, candidate.count / 3)
        let distances = names.filter { abs($0.count - candidate.count) <= maximum }.map { distance($0, candidate) }
        return distances.min().flatMap { $0 <= maximum ? (name: candidate, distance: $0) : nil }
    }
    return matches.min { $0.distance < $1.distance }?.name
}

/// Returns the Levenshtein distance between two words.
private func distance(_ word: String, _ other: String) -> Int {
    let other = Array(other)
    var row = Array(0...other.count)
    for (index, letter) in word.enumerated() {
        var diagonal = row[0]
        row[0] = index + 1
        for column in other.indices {
            let replaced = diagonal + (letter == other[column] ? 0 : 1)
            diagonal = row[column + 1]
            row[column + 1] = min(replaced, diagonal + 1, row[column] + 1)
        }
    }
    return row[other.count]
}
