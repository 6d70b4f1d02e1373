/// Estimates the times of words by distributing them over the speech by their letters; marks them with `isSpread`.
///
/// - Parameters:
///   - words: In order; their ranges are ignored.
///   - speech: Ranges of speech, in order. Each word lies in the one that contains its middle. Without any, all words
///     are at the first sample.
package func spread(_ words: [Word], over speech: [SampleRange]) -> [Word] {
    let letters = words.map { max(1, Int64($0.text.count(where: { $0.isLetter || $0.isNumber }))) }
    let all = max(1, letters.reduce(0, +))
    // Overlapping ranges of a damaged row may exceed any recording.
    let samples = speech.reduce(0) { min(SamplePosition.furthest, $0 + $1.count) }
    var before: Int64 = 0
    return zip(words, letters).map { word, count in
        let share = samples.share(before, of: all)..<samples.share(before + count, of: all)
        before += count
        return Word(word.text, place(share, in: speech), confidence: word.confidence, isSpread: true)
    }
}

/// Maps a part of the speech without pauses to the recording.
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
