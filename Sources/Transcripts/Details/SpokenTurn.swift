import Core

/// Words in a row that one person says, within a segment.
struct SpokenTurn {
    /// Nil where it is not told who spoke, or there is nobody else.
    var speaker: Int?
    var words: [Word]
}

extension Timeline {
    /// A segment's words by who says them. Where nobody is to be told apart, and in a segment without words, that is one turn.
    func turns(of segment: Segment) -> [SpokenTurn] {
        guard tellsSpeakers, let speakers else { return [SpokenTurn(speaker: nil, words: segment.words)] }
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

    /// The same as people read it: what is said while somebody else speaks stands between two slashes and two more, `//WORDS//`.
    func readableTurns(of segment: Segment) -> [SpokenTurn] {
        turns(of: segment).map { turn in
            var turn = turn
            for run in overlaps(in: turn.words) {
                let (first, last) = (run.lowerBound, run.upperBound - 1)
                turn.words[first].text = overlapSign + turn.words[first].text
                // What asks for a new line stays at the end.
                let text = turn.words[last].text
                let end = text.lastIndex { String($0) != Punctuator.newLine }.map(text.index(after:)) ?? text.startIndex
                turn.words[last].text = text[..<end] + overlapSign + text[end...]
            }
            return turn
        }
    }

    /// Whether a line begins like one that has a speaker's name in front: then it needs the real name there.
    func seemsNamed(_ line: String) -> Bool {
        guard tellsSpeakers, line.utf8.contains(UInt8(ascii: ":")) else { return false }
        return (0..<(speakers?.count ?? 0)).contains { speaker in
            [oneLine(name(ofSpeaker: speaker)), Speakers.label(speaker)].contains {
                line.utf8.starts(with: "\($0): ".utf8)
            }
        }
    }

    /// Which of a turn's words are said while somebody else speaks, as far as that can be told.
    func overlaps(in words: [Word]) -> [Range<Int>] {
        guard tellsSpeakers, let speakers, !speakers.alongside.isEmpty else { return [] }
        var runs: [Range<Int>] = []
        for (index, word) in words.enumerated() where speakers.isOverlapped(word.range) && !oneLine(word.text).isEmpty {
            if let last = runs.last, last.upperBound == index {
                runs[runs.count - 1] = last.lowerBound..<index + 1
            } else {
                runs.append(index..<index + 1)
            }
        }
        return runs
    }
}

/// What stands on both sides of words that are said while somebody else speaks, as transcripts of interviews have it.
let overlapSign = "//"

/// A word without the sign of speech at the same time.
func withoutOverlapSign(_ word: String) -> String {
    // Byte by byte: a combining mark behind it makes another Character of it.
    let sign = overlapSign.utf8
    var bytes = word.utf8[...]
    if bytes.starts(with: sign) { bytes = bytes.dropFirst(sign.count) }
    if bytes.suffix(sign.count).elementsEqual(sign) { bytes = bytes.dropLast(sign.count) }
    return String(Substring(bytes))
}
