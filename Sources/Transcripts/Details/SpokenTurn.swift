import Core

/// Consecutive words by one speaker within a segment.
struct SpokenTurn {
    /// The speaker's index; nil if fewer than two people speak, or if the segment is unclear or has no words.
    var speaker: Int?
    var words: [Word]
}

extension Timeline {
    /// Splits a segment's words by speaker. Returns one turn if there is only one speaker, or if there are no words.
    func turns(of segment: Segment) -> [SpokenTurn] {
        guard hasSeveralSpeakers, let speakers else { return [SpokenTurn(speaker: nil, words: segment.words)] }
        var turns: [SpokenTurn] = []
        for word in segment.words {
            let speaker = speakers.speaker(of: word.range)
            if turns.last?.speaker == speaker, !turns.isEmpty {
                turns[turns.count - 1].words.append(word)
            } else {
                turns.append(SpokenTurn(speaker: speaker, words: [word]))
            }
        }
        return turns.isEmpty ? [SpokenTurn(speaker: nil, words: [])] : turns
    }

    /// Returns the turns with simultaneous speech between double slashes: `//WORDS//`. An unclear segment is one turn
    /// with the word `[unclear]`.
    func readableTurns(of segment: Segment) -> [SpokenTurn] {
        if segment.heldBack != nil { return [SpokenTurn(speaker: nil, words: segment.shownWords)] }
        return turns(of: segment).map { turn in
            var turn = turn
            for run in overlaps(in: turn.words) {
                let (first, last) = (run.lowerBound, run.upperBound - 1)
                turn.words[first].text = overlapSign + turn.words[first].text
                // A dictated line break stays at the end.
                let text = turn.words[last].text
                let end = text.lastIndex { String($0) != Punctuator.newLine }.map(text.index(after:)) ?? text.startIndex
                turn.words[last].text = text[..<end] + overlapSign + text[end...]
            }
            return turn
        }
    }

    /// Whether a line starts with words that look like a speaker's name. It then needs the actual speaker's name first.
    func startsLikeName(_ line: String) -> Bool {
        guard hasSeveralSpeakers, line.utf8.contains(UInt8(ascii: ":")) else { return false }
        return (0..<(speakers?.count ?? 0)).contains { speaker in
            [oneLine(name(ofSpeaker: speaker)), Speakers.label(speaker)].contains {
                line.utf8.starts(with: "\($0): ".utf8)
            }
        }
    }

    /// Returns the index ranges of a turn's words that overlap another speaker.
    func overlaps(in words: [Word]) -> [Range<Int>] {
        guard hasSeveralSpeakers, let speakers, !speakers.alongside.isEmpty else { return [] }
        return Array(words.indices { speakers.isOverlapped($0.range) && !oneLine($0.text).isEmpty }.ranges)
    }
}

/// Marks the start and the end of simultaneous speech, as in interview transcripts.
let overlapSign = "//"

/// Returns a word without overlap marks.
func withoutOverlapSign(_ word: String) -> String {
    // Compares bytes: with a combining mark after it, the last slash would be a different `Character`.
    let sign = overlapSign.utf8
    var bytes = word.utf8[...]
    if bytes.starts(with: sign) { bytes = bytes.dropFirst(sign.count) }
    if bytes.suffix(sign.count).elementsEqual(sign) { bytes = bytes.dropLast(sign.count) }
    return String(Substring(bytes))
}
