/// Agglomerative clustering of voice vectors.
struct VoiceClusters {
    /// The sum of the vectors in a cluster, and their number.
    struct Cluster {
        var sum: [Float]
        var size: Float
        /// The windows' indices.
        var members: [Int]

        mutating func absorb(_ other: Cluster) {
            for index in sum.indices { sum[index] += other.sum[index] }
            size += other.size
            members += other.members
        }
    }

    /// Windows that are clustered at once: ten minutes of speech.
    private static let piece = 1_200

    var clusters: [Cluster]

    /// Merges the most similar clusters (mean cosine of all pairs) until no two reach `stop`.
    ///
    /// Long recordings are clustered in pieces first, so that memory does not grow with the square of the length.
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
            // Keeps the next step small if there are many small clusters.
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
            clusters[left]?.absorb(second)
            clusters[right] = nil
            let all = first.size + second.size
            for other in 0..<count {
                if other != left, clusters[other] != nil {
                    let sum = first.size * similar[left * count + other] + second.size * similar[right * count + other]
                    similar[left * count + other] = sum / all
                    similar[other * count + left] = sum / all
                }
                similar[right * count + other] = -2
                similar[other * count + right] = -2
            }
            best[right] = (right, -2)
            best[left] = nearest(left)
            // A merged cluster is never more similar to another than both its parts were.
            for other in 0..<count
            where clusters[other] != nil && other != left && (best[other].place == left || best[other].place == right) {
                best[other] = nearest(other)
            }
        }
        return clusters.compactMap(\.self)
    }

    /// Merges each cluster with fewer than `least` windows into the most similar larger one. If all are smaller, the largest stays.
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
            if let nearest { large[nearest].absorb(cluster) }
        }
        clusters = large
    }

    /// Merges the clusters with the most similar centers while they reach `least` and there are more than `wanted`.
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
            clusters[best.left].absorb(clusters[best.right])
            clusters.remove(at: best.right)
        }
    }
}
