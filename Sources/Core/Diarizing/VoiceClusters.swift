/// Voices that are alike, put together.
struct VoiceClusters {
    /// Windows that were put together: the sum of their vectors, each of length 1, and how many there are.
    struct Cluster {
        var sum: [Float]
        var size: Float
        /// The windows, by their numbers.
        var members: [Int]

        mutating func take(_ other: Cluster) {
            for index in sum.indices { sum[index] += other.sum[index] }
            size += other.size
            members += other.members
        }
    }

    /// Windows that are compared each with each: ten minutes of speech.
    private static let piece = 1_200

    var clusters: [Cluster]

    /// Puts together what is most alike, by the mean similarity (cosine) of all pairs, until no two are so alike.
    ///
    /// Long recordings in pieces first, so that memory does not grow with the square of their length.
    init(_ vectors: VoiceVectors, stop: Float) {
        func single(_ range: Range<Int>) -> [Cluster] {
            range.map { Cluster(sum: vectors[$0], size: 1, members: [$0]) }
        }
        guard vectors.count > Self.piece else {
            clusters = Self.agglomerated(single(0..<vectors.count), stop: stop)
            return
        }
        clusters = []
        let pieces = (vectors.count + Self.piece - 1) / Self.piece
        for piece in 0..<pieces {
            let part = vectors.count * piece / pieces..<vectors.count * (piece + 1) / pieces
            clusters += Self.agglomerated(single(part), stop: stop)
            // Of many small ones a further piece would be too many.
            if clusters.count > Self.piece { clusters = Self.agglomerated(clusters, stop: stop) }
        }
        clusters = Self.agglomerated(clusters, stop: stop)
    }

    private static func agglomerated(_ start: [Cluster], stop: Float) -> [Cluster] {
        let count = start.count
        guard count > 1 else { return start }
        var clusters: [Cluster?] = start
        var similar = [Float](repeating: -2, count: count * count)
        for left in 0..<count {
            for right in 0..<left {
                let mean = dot(start[left].sum, start[right].sum) / (start[left].size * start[right].size)
                similar[left * count + right] = mean
                similar[right * count + left] = mean
            }
        }
        func nearest(_ row: Int) -> (place: Int, value: Float) {
            var best = (place: row, value: Float(-2))
            for column in 0..<count where similar[row * count + column] > best.value {
                best = (column, similar[row * count + column])
            }
            return best
        }
        var best = (0..<count).map(nearest)
        while true {
            var left = 0
            for row in 1..<count where best[row].value > best[left].value { left = row }
            guard best[left].value >= stop else { break }
            let right = best[left].place
            guard let first = clusters[left], let second = clusters[right] else { break }
            clusters[left]?.take(second)
            clusters[right] = nil
            let all = first.size + second.size
            for other in 0..<count {
                guard other != left, clusters[other] != nil else {
                    similar[right * count + other] = -2
                    similar[other * count + right] = -2
                    continue
                }
                let mean =
                    (first.size * similar[left * count + other] + second.size * similar[right * count + other]) / all
                similar[left * count + other] = mean
                similar[other * count + left] = mean
                similar[right * count + other] = -2
                similar[other * count + right] = -2
            }
            best[right] = (right, -2)
            best[left] = nearest(left)
            // Nobody has come nearer than it was to one of both.
            for other in 0..<count
            where clusters[other] != nil && other != left && (best[other].place == left || best[other].place == right) {
                best[other] = nearest(other)
            }
        }
        return clusters.compactMap(\.self)
    }

    /// Gives those with fewer windows to whichever of the others is most alike. Where all are so small, the largest one stays.
    mutating func dissolve(smallerThan least: Float) {
        var large = clusters.filter { $0.size >= least }
        var small = clusters.filter { $0.size < least }
        if large.isEmpty, let largest = small.indices.max(by: { small[$0].size < small[$1].size }) {
            large.append(small.remove(at: largest))
        }
        let centers = large.map { normalized($0.sum) ?? $0.sum }
        for cluster in small {
            let own = normalized(cluster.sum) ?? cluster.sum
            let nearest = centers.indices.max { dot(own, centers[$0]) < dot(own, centers[$1]) }
            if let nearest { large[nearest].take(cluster) }
        }
        clusters = large
    }

    /// Puts together the two whose centers are most alike, as long as they are at least so alike, or there are more than so many.
    mutating func merge(from least: Float, downTo wanted: Int = 1) {
        while clusters.count > max(1, wanted) {
            let centers = clusters.map { normalized($0.sum) ?? $0.sum }
            var best = (left: 0, right: 1, value: Float(-2))
            for right in 1..<clusters.count {
                for left in 0..<right {
                    let value = dot(centers[left], centers[right])
                    if value > best.value { best = (left, right, value) }
                }
            }
            guard best.value >= least else { return }
            clusters[best.left].take(clusters[best.right])
            clusters.remove(at: best.right)
        }
    }
}
