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
}
