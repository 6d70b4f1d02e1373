/// Returns the known name that is most similar to a mistyped one; nil if none is similar.
///
/// - Parameter names: variants of the typed word; the most similar one counts.
package func nearestName(to names: [String], among known: [String]) -> String? {
    let near = known.compactMap { known in
        let allowed = max(2, known.count / 3)
        let distances = names.filter { abs($0.count - known.count) <= allowed }.map { distance($0, known) }
        return distances.min().flatMap { $0 <= allowed ? (name: known, distance: $0) : nil }
    }
    return near.min { $0.distance < $1.distance }?.name
}

/// The Levenshtein distance of two words.
private func distance(_ one: String, _ other: String) -> Int {
    let other = Array(other)
    var row = Array(0...other.count)
    for (index, letter) in one.enumerated() {
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
