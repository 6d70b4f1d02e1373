import Core

/// The diarization error rate as defined by NIST's md-eval and pyannote.metrics: missed speech, false alarms and
/// confusion, divided by the duration of speech, with the best mapping of speakers. All durations are in samples.
struct DiarizationErrors {
    /// Who speaks when.
    typealias Annotation = [(speaker: Int, range: SampleRange)]

    var missed: Int64 = 0
    var falseAlarm: Int64 = 0
    var confused: Int64 = 0
    /// The speech in the reference; if two people speak at once, both count.
    var total: Int64 = 0

    var percent: Double { total == 0 ? 0 : 100 * Double(missed + falseAlarm + confused) / Double(total) }

    init() {}

    static func + (left: Self, right: Self) -> Self {
        var sum = left
        sum.missed += right.missed
        sum.falseAlarm += right.falseAlarm
        sum.confused += right.confused
        sum.total += right.total
        return sum
    }

    /// - Parameters:
    ///   - collar: the seconds before and after each boundary of the reference that are not scored.
    ///   - scoresOverlap: whether to score ranges in which several people speak in the reference.
    init(_ reference: Annotation, _ hypothesis: Annotation, collar: Double = 0.25, scoresOverlap: Bool) {
        let margin = Int64(collar * Double(SamplePosition.rate))
        let reference = Self.united(reference)
        let hypothesis = Self.united(hypothesis)
        var excluded = reference.flatMap { [$0.range.start, $0.range.end] }.map {
            (speaker: 0, range: SampleRange($0 + -margin, $0 + margin))
        }
        excluded = margin > 0 ? Self.united(excluded) : []
        let edges = Set(
            (reference + hypothesis + excluded).flatMap { [$0.range.start.samples, $0.range.end.samples] }
        ).sorted()
        var intervals: [(length: Int64, reference: Set<Int>, hypothesis: Set<Int>)] = []
        var pending = [reference[...], hypothesis[...], excluded[...]]
        pending = pending.map { $0.sorted { $0.range.start < $1.range.start }[...] }
        var active: [Annotation] = [[], [], []]
        for (start, end) in zip(edges, edges.dropFirst()) {
            for index in pending.indices {
                active[index].removeAll { $0.range.end.samples <= start }
                while let first = pending[index].first, first.range.start.samples <= start {
                    if first.range.end.samples > start { active[index].append(first) }
                    pending[index].removeFirst()
                }
            }
            guard active[2].isEmpty else { continue }
            let actual = Set(active[0].map(\.speaker))
            if !scoresOverlap, actual.count > 1 { continue }
            intervals.append((end - start, actual, Set(active[1].map(\.speaker))))
        }
        var shared: [Int: [Int: Int64]] = [:]
        for interval in intervals {
            for actual in interval.reference {
                for found in interval.hypothesis { shared[actual, default: [:]][found, default: 0] += interval.length }
            }
        }
        let mapping = Self.mapping(shared)
        for interval in intervals {
            let (actual, found) = (Int64(interval.reference.count), Int64(interval.hypothesis.count))
            let right = Int64(interval.reference.count { mapping[$0].map(interval.hypothesis.contains) ?? false })
            total += actual * interval.length
            missed += max(0, actual - found) * interval.length
            falseAlarm += max(0, found - actual) * interval.length
            confused += (min(actual, found) - right) * interval.length
        }
    }

    /// Returns the one-to-one mapping of actual to found speakers that maximizes their common time.
    static func mapping(_ shared: [Int: [Int: Int64]]) -> [Int: Int] {
        let actual = shared.keys.sorted()
        var best: (sum: Int64, pairs: [Int: Int]) = (-1, [:])
        func search(_ index: Int, _ sum: Int64, _ pairs: [Int: Int], _ taken: Set<Int>) {
            guard index < actual.count else {
                if sum > best.sum { best = (sum, pairs) }
                return
            }
            search(index + 1, sum, pairs, taken)
            for (found, length) in shared[actual[index]] ?? [:] where !taken.contains(found) {
                var (pairs, taken) = (pairs, taken)
                pairs[actual[index]] = found
                taken.insert(found)
                search(index + 1, sum + length, pairs, taken)
            }
        }
        search(0, 0, [:], [])
        return best.pairs
    }

    /// Returns the annotation with each speaker's ranges sorted, and overlapping or adjacent ranges merged.
    static func united(_ annotation: Annotation) -> Annotation {
        var united: Annotation = []
        for entry in annotation.sorted(by: { ($0.speaker, $0.range.start) < ($1.speaker, $1.range.start) })
        where !entry.range.isEmpty {
            if let last = united.last, last.speaker == entry.speaker, last.range.end >= entry.range.start {
                united[united.count - 1].range = SampleRange(last.range.start, max(last.range.end, entry.range.end))
            } else {
                united.append(entry)
            }
        }
        return united
    }
}
