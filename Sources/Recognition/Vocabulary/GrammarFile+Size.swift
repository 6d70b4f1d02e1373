import Core

// How large a grammar becomes: the recogniser puts each rule in wherever it is named, so that a few lines can come to any size.
extension GrammarFile {
    /// A recogniser holds all places of a grammar in memory; more than these fit into no small board.
    static let mostPlaces = 50_000
    static let deepest = 200

    /// Why it is too large to be put together; nil where it is not.
    package var excess: String? {
        if imports { return "imports rules from other files, which are not read; copy them into this one" }
        let rules = rules
        // Also what is named nowhere has words to be looked up.
        let written = rules.values.reduce(0) { $0 + $1.places }
        var known: [String: Extent] = [:]
        var largest = written
        for name in rules.keys.sorted() {
            guard let extent = Self.extent(of: name, in: rules, at: 0, &known) else {
                return "nests rules or brackets more than \(Self.deepest) deep; nest fewer"
            }
            largest = max(largest, extent.places)
        }
        guard largest <= Self.mostPlaces else {
            return "expands to more than \(Self.mostPlaces) words; use fewer words, or fewer rules within rules"
        }
        return nil
    }

    /// What a rule comes to, with all that it names.
    private struct Extent {
        var places: Int
        var depth: Int
    }

    /// Nil where it is deeper than allowed. A rule within itself is one place: the recogniser goes back to it.
    private static func extent(
        of name: String, in rules: [String: Rule], at depth: Int, _ known: inout [String: Extent]
    ) -> Extent? {
        if let extent = known[name] { return depth + extent.depth <= deepest ? extent : nil }
        guard let rule = rules[name] else { return Extent(places: 1, depth: 0) }
        guard depth + rule.depth <= deepest else { return nil }
        // While it is being counted.
        known[name] = Extent(places: 1, depth: 0)
        var sum = Extent(places: rule.places, depth: rule.depth)
        for (other, inside) in rule.names {
            guard let extent = extent(of: other, in: rules, at: depth + inside + 1, &known) else { return nil }
            // Beyond any limit the number no longer matters, only that it stays one.
            sum.places = min(sum.places + extent.places, Int(Int32.max))
            sum.depth = max(sum.depth, inside + 1 + extent.depth)
        }
        known[name] = sum
        return sum
    }
}
