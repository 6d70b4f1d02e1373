import Core

/// What a player shows at once: one or two lines, from `start` up to `end` in milliseconds.
struct Cue: Equatable {
    var start: Int64
    var end: Int64
    var lines: [String]
}

/// Measures of readable subtitles.
enum CueLimits {
    /// Characters a line; only a word that is longer alone has more.
    static let lineLength = 42
    static let longest: Int64 = 7_000

    /// A cue that has room after it is shown for this long.
    static let shortest: Int64 = 1_000
}

/// The whole transcript as cues: in order, never overlapping, none of them empty in time.
func cues(of timeline: Timeline) -> [Cue] {
    let gaps = timeline.gaps.sorted { $0.range.start < $1.range.start }
    var spoken: [Cue] = []
    for segment in timeline.segments {
        for words in groups(of: segment, brokenBy: gaps) {
            guard let first = words.first, let last = words.last else { continue }
            spoken.append(
                Cue(
                    start: milliseconds(first.range.start), end: milliseconds(last.range.end),
                    lines: lines(words.map(\.text))))
        }
    }
    let silent = gaps.map {
        Cue(start: milliseconds($0.range.start), end: milliseconds($0.range.end), lines: [description(of: $0)])
    }
    return spaced(merged(spoken, silent), length: milliseconds(timeline.length))
}

/// Cuts a segment's words where two lines are full, where time is up, and where audio is missing.
private func groups(of segment: Segment, brokenBy gaps: [Gap]) -> [[Word]] {
    let breaks = gaps.map(\.range.start).filter { segment.range.start <= $0 && $0 < segment.range.end }
    var groups: [[Word]] = []
    var group: [Word] = []
    for var word in segment.words {
        word.text = oneLine(word.text)
        if word.text.isEmpty { continue }
        if let first = group.first, let last = group.last {
            let isCut = breaks.contains { last.range.start < $0 && $0 <= word.range.start }
            let lasts = milliseconds(word.range.end) - milliseconds(first.range.start)
            if isCut || lasts > CueLimits.longest || !fitsTwoLines((group + [word]).map(\.text)) {
                groups.append(group)
                group = []
            }
        }
        group.append(word)
    }
    return group.isEmpty ? groups : groups + [group]
}

private func fitsTwoLines(_ words: [String]) -> Bool {
    lineBreaks(words).contains { $0.upper <= CueLimits.lineLength && $0.lower <= CueLimits.lineLength }
}

/// One line where they fit, else two of about the same length.
private func lines(_ words: [String]) -> [String] {
    let line = words.joined(separator: " ")
    if line.count <= CueLimits.lineLength || words.count < 2 { return [line] }
    let best = lineBreaks(words).dropLast().min { max($0.upper, $0.lower) < max($1.upper, $1.lower) }
    let count = best?.count ?? words.count
    return [words.prefix(count).joined(separator: " "), words.dropFirst(count).joined(separator: " ")]
}

/// The lengths of both lines for each number of words in the upper one, from one to all.
private func lineBreaks(_ words: [String]) -> [(count: Int, upper: Int, lower: Int)] {
    let total = words.reduce(words.count - 1) { $0 + $1.count }
    var upper = -1
    return words.enumerated().map { index, word in
        upper += word.count + 1
        return (index + 1, upper, max(0, total - upper - 1))
    }
}

/// Both in one order of time; where they start together, the gap comes first.
private func merged(_ spoken: [Cue], _ silent: [Cue]) -> [Cue] {
    var merged: [Cue] = []
    var rest = silent[...]
    for cue in spoken {
        while let gap = rest.first, gap.start <= cue.start {
            merged.append(gap)
            rest = rest.dropFirst()
        }
        merged.append(cue)
    }
    return merged + rest
}

/// Ends each cue before the next starts, or starts the next later where that would leave nothing of it; so the order
/// stays also where an engine's times are out of order.
private func spaced(_ cues: [Cue], length: Int64) -> [Cue] {
    var spaced: [Cue] = []
    for (index, cue) in cues.enumerated() {
        let start = max(cue.start, spaced.last?.end ?? 0)
        let next = index + 1 < cues.count ? cues[index + 1].start : max(length, cue.end)
        let wanted = max(cue.end, min(start + CueLimits.shortest, next))
        let end = min(wanted, next, start + CueLimits.longest)
        spaced.append(Cue(start: start, end: max(end, start + 1), lines: cue.lines))
    }
    return spaced
}

/// The nearest millisecond.
func milliseconds(_ position: SamplePosition) -> Int64 {
    (position.samples * 1_000 + Int64(SamplePosition.rate) / 2) / Int64(SamplePosition.rate)
}

/// A gap in words that tell its length and its cause.
func description(of gap: Gap) -> String {
    let milliseconds = milliseconds(SamplePosition(gap.range.count))
    if milliseconds < 100 { return "[gap \(milliseconds) ms: \(gap.cause.rawValue)]" }
    let tenths = (milliseconds + 50) / 100
    return "[gap \(tenths / 10).\(tenths % 10) s: \(gap.cause.rawValue)]"
}
