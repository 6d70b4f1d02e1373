import Core

/// A paragraph of a document for people; each text is a single line.
enum DocumentParagraph {
    case title(String)
    /// A line of metadata.
    case fact(String)
    /// A turn, or a segment if there is one speaker.
    case turn(speaker: String?, start: SamplePosition, text: String)
    /// A bookmark, a gap, or the end of an incomplete text.
    case note(String)
}

/// Returns title, metadata, the speakers with their times, and a paragraph per turn or, with one speaker, per segment.
func documentParagraphs(_ timeline: Timeline, _ details: RecordingDetails) -> [DocumentParagraph] {
    var body = [DocumentParagraph.title(oneLine(details.title))]
    let facts = [details.started.map(oneLine), clockTime(timeline.length), details.device.map(oneLine)]
    body.append(.fact(facts.compactMap { $0 }.joined(separator: ", ")))
    if timeline.hasSeveralSpeakers, let seconds = timeline.speakers?.seconds {
        let people = seconds.enumerated().map { speaker, seconds in
            "\(oneLine(timeline.name(ofSpeaker: speaker))) (\(clockTime(SamplePosition(seconds: seconds))))"
        }
        body.append(.fact("Speakers: \(people.joined(separator: ", "))"))
    }

    var left = linesBetweenWords(of: timeline)[...]
    var open: (speaker: Int?, start: SamplePosition, words: [String])?
    func close() {
        guard let turn = open else { return }
        open = nil
        let name = turn.speaker.map { oneLine(timeline.name(ofSpeaker: $0)) }
        body.append(.turn(speaker: name, start: turn.start, text: turn.words.joined(separator: " ")))
    }
    for segment in timeline.segments {
        for turn in timeline.readableTurns(of: segment) {
            for word in turn.words {
                let text = oneLine(word.text)
                guard !text.isEmpty else { continue }
                while let note = left.first, note.time <= word.range.start {
                    close()
                    body.append(.note(note.line))
                    left = left.dropFirst()
                }
                let isNew = turn.speaker == nil ? word == segment.words.first : turn.speaker != open?.speaker
                if isNew { close() }
                open = open ?? (turn.speaker, word.range.start, [])
                open?.words.append(text)
            }
        }
    }
    close()
    for rest in left { body.append(.note(rest.line)) }
    if let rest = unwrittenText(timeline) { body.append(.note("[\(rest)]")) }
    return body
}
