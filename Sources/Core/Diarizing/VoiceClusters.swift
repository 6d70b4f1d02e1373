/// Agglomerative clustering of voice vectors.
struct VoiceClusters {
    struct Cluster {
        /// The sum of the windows' vectors.
        var sum: [Float]
        var size: Float
        /// The indices of the windows.
        var members: [Int]

        mutating func absorb(_ other: Cluster) {
            for index in sum.indices { sum[index] += other.sum[index] }
            size += other.size
            members += other.members
        }
    }

    /// The maximum number of windows to cluster at once: ten minutes of speech.
    private static let maximumWindows = 1_200

    var clusters: [Cluster]

    /// Starts with a cluster for each vector, and merges the most similar clusters while their similarity is at least
    /// `stop`. The similarity is the mean cosine over all pairs.
    ///
    /// Long recordings are first clustered in pieces, so that memory does not grow with the square of the length.
    init(_ vectors: VoiceVectors, stop: Float) {
        func singletons(_ range: Range<Int>) -> [Cluster] {
            range.map { Cluster(sum: vectors[$0], size: 1, members: [$0]) }
        }
        guard vectors.count > Self.maximumWindows else {
            clusters = Self.agglomerated(singletons(0..<vectors.count), stop: stop)
            return
        }
        clusters = []
        let pieces = (vectors.count + Self.maximumWindows - 1) / Self.maximumWindows
        for piece in 0..<pieces {
            let indices = vectors.count * piece / pieces..<vectors.count * (piece + 1) / pieces
            clusters += Self.agglomerated(singletons(indices), stop: stop)
            // Limits the size of the final step if there are many small clusters.
            if clusters.count > Self.maximumWindows { clusters = Self.agglomerated(clusters, stop: stop) }
        }
        clusters = Self.agglomerated(clusters, stop: stop)
    }

    private static func agglomerated(_ start: [Cluster], stop: Float) -> [Cluster] {
        let count = start.count
        guard count > 1 else { return start }
        var clusters: [Cluster?] = start
        var similarities = [Float](repeating: -2, count: count * count)
        for left in 0..<count {
            for right in 0..<left {
                let mean = dot(start[left].sum, start[right].sum) / (start[left].size * start[right].size)
                similarities[left * count + right] = mean
                similarities[right * count + left] = mean
            }
        }
        func nearest(_ row: Int) -> (index: Int, value: Float) {
            var best = (index: row, value: Float(-2))
            for column in 0..<count where similarities[row * count + column] > best.value {
                best = (column, similarities[row * count + column])
            }
            return best
        }
        var best = (0..<count).map(nearest)
        while true {
            var left = 0
            for row in 1..<count where best[row].value > best[left].value { left = row }
            guard best[left].value >= stop else { break }
            let right = best[left].index
            guard let first = clusters[left], let second = clusters[right] else { break }
            clusters[left]?.absorb(second)
            clusters[right] = nil
            let size = first.size + second.size
            for other in 0..<count {
                if other != left, clusters[other] != nil {
                    let sum =
                        first.size * similarities[left * count + other] + second.size
                        * similarities[right * count + other]
                    similarities[left * count + other] = sum / size
                    similarities[other * count + left] = sum / size
                }
                similarities[right * count + other] = -2
                similarities[other * count + right] = -2
            }
            best[right] = (right, -2)
            best[left] = nearest(left)
            // Other rows keep their nearest cluster: a merged cluster is never more similar to a third cluster than the
            // more similar of its two parts was.
            for other in 0..<count
            where clusters[other] != nil && other != left && (best[other].index == left || best[other].index == right) {
                best[other] = nearest(other)
            }
        }
        return clusters.compactMap(\.self)
    }

    /// Merges each cluster with fewer than `minimum` windows into the most similar larger one. If all are smaller,
    /// merges them into the largest.
    mutating func dissolve(smallerThan minimum: Float) {
        var large = clusters.filter { $0.size >= minimum }
        var small = clusters.filter { $0.size < minimum }
        if large.isEmpty, let largest = small.indices.max(by: { small[$0].size < small[$1].size }) {
            large.append(small.remove(at: largest))
        }
        let centers = large.map { normalized($0.sum) ?? $0.sum }
        for cluster in small {
            let center = normalized(cluster.sum) ?? cluster.sum
            let nearest = centers.indices.max { dot(center, centers[$0]) < dot(center, centers[$1]) }
            if let nearest { large[nearest].absorb(cluster) }
        }
        clusters = large
    }

    /// Repeatedly merges the two clusters with the most similar centers, while the similarity is at least `minimum` and
    /// there are more than `count` clusters.
    mutating func merge(from minimum: Float, downTo count: Int = 1) {
        while clusters.count > max(1, count) {
            let centers = clusters.map { normalized($0.sum) ?? $0.sum }
            var best = (left: 0, right: 1, value: Float(-2))
            for right in 1..<clusters.count {
                for left in 0..<right {
                    let value = dot(centers[left], centers[right])
                    if value > best.value { best = (left, right, value) }
                }
            }
            guard best.value >= minimum else { return }
            clusters[best.left].absorb(clusters[best.right])
            clusters.remove(at: best.right)
        }
    }
}
