/// The known name that was probably meant, in words; all of them where none is near.
func suggestion(for name: String, among known: [String]) -> String {
    // The second is a name whose `=` was forgotten, so that its value is a part of it.
    let given = [name.lowercased(), name.prefix { $0 != " " }.lowercased()]
    let near = known.compactMap { known in
        let allowed = max(2, known.count / 3)
        let distances = given.filter { abs($0.count - known.count) <= allowed }.map { distance($0, known) }
        return distances.min().flatMap { $0 <= allowed ? (name: known, distance: $0) : nil }
    }
    if let nearest = near.min(by: { $0.distance < $1.distance }) { return "did you mean \(nearest.name)?" }
    return "known: \(known.joined(separator: ", "))"
}

/// How many letters have to be put in, left out or replaced to turn one word into the other.
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
