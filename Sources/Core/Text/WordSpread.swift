/// Words without times, spread over what was spoken: each gets a share by its letters, and is marked so.
///
/// It is what is left where nobody can tell when they were said.
///
/// - Parameters:
///   - words: in their order; what ranges they have does not count.
///   - speech: where there was speech, in order. A word lies in one of these, the one that its middle falls into; without
///     any, all words lie at the first sample.
package func spread(_ words: [Word], over speech: [SampleRange]) -> [Word] {
    let letters = words.map { max(1, Int64($0.text.count(where: { $0.isLetter || $0.isNumber }))) }
    let all = max(1, letters.reduce(0, +))
    // Overlapping ranges of a damaged row may be longer than any recording.
    let samples = speech.reduce(0) { min(SamplePosition.furthest, $0 + $1.count) }
    var before: Int64 = 0
    return zip(words, letters).map { word, count in
        let share = samples.share(before, of: all)..<samples.share(before + count, of: all)
        before += count
        return Word(word.text, place(share, in: speech), confidence: word.confidence, isSpread: true)
    }
}

/// Where a stretch of the speech, counted without its pauses, lies with them.
private func place(_ share: Range<Int64>, in speech: [SampleRange]) -> SampleRange {
    let middle = (share.lowerBound + share.upperBound) / 2
    var before: Int64 = 0
    for part in speech {
        if middle < before + part.count {
            let start = max(0, share.lowerBound - before)
            return SampleRange(part.start + start, part.start + min(part.count, share.upperBound - before))
        }
        before += part.count
    }
    let end = speech.last?.end ?? .zero
    return SampleRange(end, end)
}
