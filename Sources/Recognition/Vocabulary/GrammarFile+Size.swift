// Limits the size of a grammar. The decoder expands each rule at every use, so a few lines can grow to any size.
extension GrammarFile {
    /// The maximum number of nodes. The decoder keeps them in memory, which is scarce on small boards.
    static let maxNodes = 50_000
    static let maxDepth = 200

    /// Why the grammar cannot be used, as the end of a sentence that begins with "this grammar"; nil if it can be used.
    package var sizeProblem: String? {
        if imports { return "imports rules from other files, which are not read; copy the rules into this file" }
        let rules = rules
        // The words of unused rules are looked up as well, so they also count.
        var largestCount = rules.values.reduce(0) { $0 + $1.nodes }
        var knownExtents: [String: Extent] = [:]
        for name in rules.keys.sorted() {
            guard let extent = Self.extent(of: name, in: rules, at: 0, &knownExtents) else {
                return "nests rules or brackets more than \(Self.maxDepth) levels deep; use fewer levels"
            }
            largestCount = max(largestCount, extent.nodes)
        }
        guard largestCount <= Self.maxNodes else {
            return "expands to more than \(Self.maxNodes) words; use fewer words, or fewer rules within rules"
        }
        return nil
    }

    /// The size of a rule, including all rules that it uses.
    private struct Extent {
        var nodes: Int
        var depth: Int
    }

    /// Returns the size of a rule; nil if it exceeds the maximum depth. A recursive use counts as one node, because the
    /// decoder jumps back to the rule.
    private static func extent(
        of name: String, in rules: [String: Rule], at depth: Int, _ knownExtents: inout [String: Extent]
    ) -> Extent? {
        if let extent = knownExtents[name] { return depth + extent.depth <= maxDepth ? extent : nil }
        guard let rule = rules[name] else { return Extent(nodes: 1, depth: 0) }
        guard depth + rule.depth <= maxDepth else { return nil }
        // Stops the recursion if the rule uses itself.
        knownExtents[name] = Extent(nodes: 1, depth: 0)
        var sum = Extent(nodes: rule.nodes, depth: rule.depth)
        for (usedRule, bracketDepth) in rule.names {
            guard let extent = extent(of: usedRule, in: rules, at: depth + bracketDepth + 1, &knownExtents) else {
                return nil
            }
            // Avoid overflow; above the limit, the exact value does not matter.
            sum.nodes = min(sum.nodes + extent.nodes, Int(Int32.max))
            sum.depth = max(sum.depth, bracketDepth + 1 + extent.depth)
        }
        knownExtents[name] = sum
        return sum
    }
}
