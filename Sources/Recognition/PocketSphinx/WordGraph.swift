/// The words of a piece as a graph: each path contains all words in order, each in one of its spoken forms.
struct WordGraph {
    /// The spoken forms of each written word; empty for a silent word.
    let ways: [[[String]]]
    private(set) var states = 1
    private(set) var from: [Int32] = []
    private(set) var to: [Int32] = []
    /// The words on the graph's edges.
    private(set) var words: [String] = []

    init(_ ways: [[[String]]]) {
        self.ways = ways
        var here = 0
        for ways in ways where !ways.isEmpty {
            // First the states within forms, then the states where forms meet.
            let inner = ways.reduce(0) { $0 + $1.count - 1 }
            var next = here + 1
            let meeting = here + 1 + inner
            for way in ways {
                var place = here
                for (index, word) in way.enumerated() {
                    let target = index + 1 == way.count ? meeting : next
                    if index + 1 < way.count { next += 1 }
                    from.append(Int32(place))
                    to.append(Int32(target))
                    words.append(word)
                    place = target
                }
            }
            here = meeting
        }
        states = here + 1
    }

    /// Returns the range of spoken words that belongs to each written word; nil if the spoken words are not a path
    /// through the graph.
    func places(of spoken: [String]) -> [Range<Int>]? {
        // The possible ends of each word, with the corresponding starts.
        var reached: [[Int: Int]] = [[0: 0]]
        for ways in ways {
            var ends: [Int: Int] = [:]
            for start in reached[reached.count - 1].keys {
                if ways.isEmpty { ends[start] = start }
                for way in ways where spoken[start...].starts(with: way) { ends[start + way.count] = start }
            }
            guard !ends.isEmpty else { return nil }
            reached.append(ends)
        }
        var (places, end) = ([Range<Int>](), spoken.count)
        for ends in reached.dropFirst().reversed() {
            guard let start = ends[end] else { return nil }
            places.append(start..<end)
            end = start
        }
        return places.reversed()
    }
}
