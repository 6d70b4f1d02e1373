import Core

/// The diarization error rate, as NIST's md-eval and pyannote.metrics define it: missed speech, false alarms and
/// confusion, divided by the length of speech, with the best mapping of people.
struct DiarizationErrors {
    /// Who speaks when.
    typealias Annotation = [(speaker: Int, range: SampleRange)]

    var missed: Int64 = 0
    var falseAlarm: Int64 = 0
    var confused: Int64 = 0
    /// Speech of the reference; if two speak at once, both count.
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
    ///   - collar: seconds on both sides of each boundary of the reference that do not count.
    ///   - scoresOverlap: whether ranges count in which the reference has several people.
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
        var stretches: [(length: Int64, reference: Set<Int>, hypothesis: Set<Int>)] = []
        var lists = [reference[...], hypothesis[...], excluded[...]]
        lists = lists.map { $0.sorted { $0.range.start < $1.range.start }[...] }
        var open: [Annotation] = [[], [], []]
        for (start, end) in zip(edges, edges.dropFirst()) {
            for index in lists.indices {
                open[index].removeAll { $0.range.end.samples <= start }
                while let first = lists[index].first, first.range.start.samples <= start {
                    if first.range.end.samples > start { open[index].append(first) }
                    lists[index].removeFirst()
                }
            }
            guard open[2].isEmpty else { continue }
            let told = Set(open[0].map(\.speaker))
            if !scoresOverlap, told.count > 1 { continue }
            stretches.append((end - start, told, Set(open[1].map(\.speaker))))
        }
        var shared: [Int: [Int: Int64]] = [:]
        for stretch in stretches {
            for told in stretch.reference {
                for heard in stretch.hypothesis { shared[told, default: [:]][heard, default: 0] += stretch.length }
            }
        }
        let mapping = Self.mapping(shared)
        for stretch in stretches {
            let (told, heard) = (Int64(stretch.reference.count), Int64(stretch.hypothesis.count))
            let right = Int64(stretch.reference.count { mapping[$0].map(stretch.hypothesis.contains) ?? false })
            total += told * stretch.length
            missed += max(0, told - heard) * stretch.length
            falseAlarm += max(0, heard - told) * stretch.length
            confused += (min(told, heard) - right) * stretch.length
        }
    }

    /// Returns the mapping of real to found people that maximizes their common time; nobody is used twice.
    static func mapping(_ shared: [Int: [Int: Int64]]) -> [Int: Int] {
        let told = shared.keys.sorted()
        var best: (sum: Int64, pairs: [Int: Int]) = (-1, [:])
        func go(_ index: Int, _ sum: Int64, _ pairs: [Int: Int], _ taken: Set<Int>) {
            guard index < told.count else {
                if sum > best.sum { best = (sum, pairs) }
                return
            }
            go(index + 1, sum, pairs, taken)
            for (heard, length) in shared[told[index]] ?? [:] where !taken.contains(heard) {
                var (pairs, taken) = (pairs, taken)
                pairs[told[index]] = heard
                taken.insert(heard)
                go(index + 1, sum + length, pairs, taken)
            }
        }
        go(0, 0, [:], [])
        return best.pairs
    }

    /// Returns the annotation with each person's ranges in order, and touching ones merged.
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
