import Core

/// A subtitle, with times in milliseconds. Its lines are bookmarks, followed by up to two spoken lines or by a gap.
struct Cue: Equatable {
    var start: Int64
    var end: Int64
    var lines: [String]
    /// The speaker's name; nil if unknown or if there is only one speaker.
    var speaker: String?
    /// The number of spoken lines, which come last; 0 for a gap.
    var spokenCount = 0
}

/// Limits of readable subtitles.
enum CueLimits {
    /// In characters. Only a longer word or a speaker's name can exceed it.
    static let lineLength = 42
    static let maxMilliseconds: Int64 = 7_000
    /// The minimum display time, if the next cue leaves enough time.
    static let minMilliseconds: Int64 = 1_000
}

/// Returns the transcript as non-empty cues in chronological order, without overlaps.
func cues(of timeline: Timeline) -> [Cue] {
    let gaps = timeline.gaps.sorted { $0.range.start < $1.range.start }
    var spoken: [Cue] = []
    for segment in timeline.segments {
        for turn in timeline.readableTurns(of: segment) {
            for words in groups(of: turn.words, in: segment.range, brokenBy: gaps) {
                guard let first = words.first, let last = words.last else { continue }
                let lines = lines(words.map(\.text))
                spoken.append(
                    Cue(
                        start: milliseconds(first.range.start), end: milliseconds(last.range.end), lines: lines,
                        speaker: turn.speaker.map { timeline.name(ofSpeaker: $0) }, spokenCount: lines.count))
            }
        }
    }
    let gapCues = gaps.map {
        Cue(start: milliseconds($0.range.start), end: milliseconds($0.range.end), lines: [description(of: $0)])
    }
    let length = milliseconds(timeline.length)
    return marked(spaced(merged(spoken, gapCues), length: length), marksWithText(of: timeline), length: length)
}

/// Puts each mark above the cue at its time or up to a second later. If there is no such cue, the mark gets its own.
/// So cues never overlap; some players do not support overlapping cues.
private func marked(_ cues: [Cue], _ marks: [(time: SamplePosition, line: String)], length: Int64) -> [Cue] {
    var cues = cues
    // Backwards, so that the earliest of several marks above one cue is on top.
    for mark in marks.reversed() {
        let time = milliseconds(mark.time)
        let lines = markLines(mark.line)
        let low = cues.indices.partitionPoint { cues[$0].end > time }
        if low < cues.count, cues[low].start < time + CueLimits.minMilliseconds {
            cues[low].lines = lines + cues[low].lines
        } else {
            let next = low < cues.count ? cues[low].start : max(length, time + CueLimits.minMilliseconds)
            cues.insert(Cue(start: time, end: min(time + 2 * CueLimits.minMilliseconds, next), lines: lines), at: low)
        }
    }
    return cues
}

/// Returns a mark in at most two lines, truncated if necessary; formats other than subtitles have its full text.
func markLines(_ line: String) -> [String] {
    let words = line.split(separator: " ").map(String.init)
    if fitsTwoLines(words.map(\.count)) { return lines(words) }
    var keptWords: [String] = []
    for word in words {
        guard fitsTwoLines((keptWords + [word, "…]"]).map(\.count)) else { break }
        keptWords.append(word)
    }
    return lines(keptWords + ["…]"])
}

/// Splits a turn's words into cues: when two lines are full, at the maximum duration, and at gaps.
private func groups(of words: [Word], in range: SampleRange, brokenBy gaps: [Gap]) -> [[Word]] {
    let breaks = gaps.map(\.range.start).filter { range.start <= $0 && $0 < range.end }
    var groups: [[Word]] = []
    var (group, lengths): ([Word], [Int]) = ([], [])
    for var word in words {
        word.text = oneLine(word.text)
        if word.text.isEmpty { continue }
        if let first = group.first, let last = group.last {
            let isCut = breaks.contains { last.range.start < $0 && $0 <= word.range.start }
            let length = milliseconds(word.range.end) - milliseconds(first.range.start)
            if isCut || length > CueLimits.maxMilliseconds || !fitsTwoLines(lengths + [word.text.count]) {
                groups.append(group)
                (group, lengths) = ([], [])
            }
        }
        group.append(word)
        lengths.append(word.text.count)
    }
    return group.isEmpty ? groups : groups + [group]
}

/// - Parameter lengths: The words' lengths in characters.
private func fitsTwoLines(_ lengths: [Int]) -> Bool {
    let total = lengths.reduce(lengths.count - 1, +)
    var upper = -1
    for length in lengths {
        upper += length + 1
        if upper > CueLimits.lineLength { return false }
        if total - upper - 1 <= CueLimits.lineLength { return true }
    }
    return false
}

/// Returns one line if the words fit, otherwise two lines of similar length.
private func lines(_ words: [String]) -> [String] {
    let line = words.joined(separator: " ")
    if line.count <= CueLimits.lineLength || words.count < 2 { return [line] }
    let total = words.reduce(words.count - 1) { $0 + $1.count }
    var (upper, best) = (-1, (count: 1, longer: Int.max))
    for (index, word) in words.dropLast().enumerated() {
        upper += word.count + 1
        let longer = max(upper, total - upper - 1)
        if longer < best.longer { best = (index + 1, longer) }
    }
    return [words.prefix(best.count).joined(separator: " "), words.dropFirst(best.count).joined(separator: " ")]
}

/// Merges cues and gaps in chronological order; a gap comes before a cue with the same start.
private func merged(_ spoken: [Cue], _ gapCues: [Cue]) -> [Cue] {
    var merged: [Cue] = []
    var rest = gapCues[...]
    for cue in spoken {
        while let gap = rest.first, gap.start <= cue.start {
            merged.append(gap)
            rest = rest.dropFirst()
        }
        merged.append(cue)
    }
    return merged + rest
}

/// Removes overlaps, even if an engine's times are out of order. Extends short cues if there is time, and shortens long
/// cues to the maximum.
private func spaced(_ cues: [Cue], length: Int64) -> [Cue] {
    var spaced: [Cue] = []
    for (index, cue) in cues.enumerated() {
        let start = max(cue.start, spaced.last?.end ?? 0)
        let next = index + 1 < cues.count ? cues[index + 1].start : max(length, cue.end)
        let preferredEnd = max(cue.end, min(start + CueLimits.minMilliseconds, next))
        let end = min(preferredEnd, next, start + CueLimits.maxMilliseconds)
        spaced.append(
            Cue(
                start: start, end: max(end, start + 1), lines: cue.lines, speaker: cue.speaker,
                spokenCount: cue.spokenCount))
    }
    return spaced
}

/// Rounds a position to the nearest millisecond.
func milliseconds(_ position: SamplePosition) -> Int64 {
    (position.samples * 1_000 + Int64(SamplePosition.rate) / 2) / Int64(SamplePosition.rate)
}

/// Returns a gap's length and cause: `[gap 1.0 s: struck]`.
func description(of gap: Gap) -> String {
    let milliseconds = milliseconds(SamplePosition(gap.range.count))
    if milliseconds < 100 { return "[gap \(milliseconds) ms: \(gap.cause.rawValue)]" }
    let tenths = (milliseconds + 50) / 100
    return "[gap \(tenths / 10).\(tenths % 10) s: \(gap.cause.rawValue)]"
}
