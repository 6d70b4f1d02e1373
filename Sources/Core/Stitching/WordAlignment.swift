/// Two readings of the same audio, word by word: the way from one to the other with the fewest words that differ. Pure.
enum WordAlignment {
    /// For each word of a reading the index of the word of the best one in whose place it stands, the same or another; nil
    /// where the best one has none.
    static func counterparts(of words: [String], in best: [String]) -> [Int?] {
        let width = words.count + 1
        var costs = [Int32](repeating: 0, count: (best.count + 1) * width)
        for column in 0..<width { costs[column] = Int32(column) }
        for row in best.indices {
            let above = row * width
            costs[above + width] = Int32(row + 1)
            for column in words.indices {
                let here = above + column
                let other: Int32 = best[row] == words[column] ? 0 : 1
                costs[here + width + 1] = min(costs[here] + other, costs[here + 1] + 1, costs[here + width] + 1)
            }
        }
        var found = [Int?](repeating: nil, count: words.count)
        var (row, column) = (best.count, words.count)
        while column > 0 {
            let here = costs[row * width + column]
            if row > 0 {
                let other: Int32 = best[row - 1] == words[column - 1] ? 0 : 1
                if here == costs[(row - 1) * width + column - 1] + other {
                    (row, column) = (row - 1, column - 1)
                    found[column] = row
                    continue
                }
                if here == costs[(row - 1) * width + column] + 1 {
                    row -= 1
                    continue
                }
            }
            column -= 1
        }
        return found
    }
}
