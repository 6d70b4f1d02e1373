// The size of a grammar. The decoder expands each rule at each use, so a few lines can grow to any size.
extension GrammarFile {
    /// The maximum number of places. The decoder keeps them in memory; more do not fit on a small board.
    static let maxPlaces = 50_000
    static let deepest = 200

    /// Why the grammar is too large; nil if it is not.
    package var excess: String? {
        if imports { return "imports rules from other files, which are not read; copy them into this one" }
        let rules = rules
        // Unused rules also have words to look up.
        var largest = rules.values.reduce(0) { $0 + $1.places }
        var known: [String: Extent] = [:]
        for name in rules.keys.sorted() {
            guard let extent = Self.extent(of: name, in: rules, at: 0, &known) else {
                return "nests rules or brackets more than \(Self.deepest) deep; nest fewer"
            }
            largest = max(largest, extent.places)
        }
        guard largest <= Self.maxPlaces else {
            return "expands to more than \(Self.maxPlaces) words; use fewer words, or fewer rules within rules"
        }
        return nil
    }

    /// The size of a rule with all rules that it uses.
    private struct Extent {
        var places: Int
        var depth: Int
    }

    /// Returns nil beyond the maximum depth. A recursive rule counts as one place: the decoder jumps back to it.
    private static func extent(
        of name: String, in rules: [String: Rule], at depth: Int, _ known: inout [String: Extent]
    ) -> Extent? {
        if let extent = known[name] { return depth + extent.depth <= deepest ? extent : nil }
        guard let rule = rules[name] else { return Extent(places: 1, depth: 0) }
        guard depth + rule.depth <= deepest else { return nil }
        // Ends the recursion if the rule uses itself.
        known[name] = Extent(places: 1, depth: 0)
        var sum = Extent(places: rule.places, depth: rule.depth)
        for (other, inside) in rule.names {
            guard let extent = extent(of: other, in: rules, at: depth + inside + 1, &known) else { return nil }
            // Avoid overflow; beyond the limit the value does not matter.
            sum.places = min(sum.places + extent.places, Int(Int32.max))
            sum.depth = max(sum.depth, inside + 1 + extent.depth)
        }
        known[name] = sum
        return sum
    }
}
