import Core

/// A paragraph of a document that people read and edit; each text is part of one line.
enum DocumentParagraph {
    case title(String)
    /// What is known of the recording, and who speaks.
    case fact(String)
    /// What one person says, or a segment where several people are not told apart.
    case turn(speaker: String?, start: SamplePosition, text: String)
    /// A bookmark, what was lost or left out, and how far the text goes.
    case note(String)
}

/// Title, what is known of the recording, who speaks and for how long, and then a paragraph a turn, or a segment where several
/// people are not told apart.
func documentParagraphs(_ timeline: Timeline, _ details: RecordingDetails) -> [DocumentParagraph] {
    var body = [DocumentParagraph.title(oneLine(details.title))]
    let facts = [details.started.map(oneLine), clockTime(timeline.length), details.device.map(oneLine)]
    body.append(.fact(facts.compactMap { $0 }.joined(separator: ", ")))
    if timeline.tellsSpeakers, let seconds = timeline.speakers?.seconds {
        let people = seconds.enumerated().map { speaker, seconds in
            "\(oneLine(timeline.name(ofSpeaker: speaker))) (\(clockTime(SamplePosition(seconds: seconds))))"
        }
        body.append(.fact("Speakers: \(people.joined(separator: ", "))"))
    }

    var notes = tellingMarks(of: timeline)
    notes += timeline.gaps.map { ($0.range.start, description(of: $0)) }
    notes.sort { $0.time < $1.time }
    var left = notes[...]
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
