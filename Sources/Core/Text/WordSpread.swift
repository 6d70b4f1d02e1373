/// Estimates the times of words by distributing them over the speech in proportion to their numbers of letters and
/// digits. Sets `hasEstimatedTime`.
///
/// - Parameters:
///   - words: The words in order. Their ranges are ignored.
///   - speech: The ranges of speech, in order. A word that would extend over two ranges is placed in the one that
///     contains its midpoint. If there are no ranges, all words are placed at the recording's start.
package func spread(_ words: [Word], over speech: [SampleRange]) -> [Word] {
    let letters = words.map { max(1, Int64($0.text.count(where: { $0.isLetter || $0.isNumber }))) }
    let total = max(1, letters.reduce(0, +))
    // In a damaged database row, ranges may overlap, and their total may exceed the maximum length of a recording.
    let samples = speech.reduce(0) { min(SamplePosition.maximumSamples, $0 + $1.count) }
    var before: Int64 = 0
    return zip(words, letters).map { word, count in
        let share = samples.share(before, of: total)..<samples.share(before + count, of: total)
        before += count
        return Word(
            word.text, recordingRange(of: share, in: speech), confidence: word.confidence, hasEstimatedTime: true)
    }
}

/// Maps a range of the speech, in samples without the pauses, to a range of the recording.
private func recordingRange(of share: Range<Int64>, in speech: [SampleRange]) -> SampleRange {
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
