import Core

/// A paragraph in a document for people. Each text is a single line.
package enum DocumentParagraph: Sendable {
    case title(String)
    case fact(String)
    /// A turn, or a segment if there is only one speaker.
    case turn(speaker: String?, start: SamplePosition, text: String)
    /// A bookmark, a note, a gap, or how much of the recording is transcribed.
    case note(String)
}

/// Returns the title, the metadata, the speakers with their speaking times, a person's remarks on the recording, and
/// the transcript. The transcript has a paragraph per turn or, with only one speaker, per segment, and one per note.
package func documentParagraphs(_ timeline: Timeline, _ details: RecordingDetails) -> [DocumentParagraph] {
    var body = [DocumentParagraph.title(oneLine(details.title(of: timeline)))]
    let started = details.started.map { oneLine($0) + (details.clock == .unverified ? " (clock unverified)" : "") }
    let facts = [started, clockTime(timeline.length), details.device.map { "recorder \(oneLine($0))" }]
    body.append(.fact(facts.compactMap { $0 }.joined(separator: ", ")))
    if timeline.hasSeveralSpeakers, let seconds = timeline.speakers?.seconds {
        let people = seconds.enumerated().filter { $1 > 0 }.map { speaker, seconds in
            "\(oneLine(timeline.name(ofSpeaker: speaker))) (\(clockTime(SamplePosition(seconds: seconds))))"
        }
        body.append(.fact("Speakers: \(people.joined(separator: ", "))"))
    }
    let annotations = timeline.annotations ?? Annotations()
    body += annotations.remarks.map { .fact("\($0.name): \($0.text)") }

    let notes = annotations.notes.map { ($0, oneLine($0.text)) }.filter { !$1.isEmpty }
        .map { (time: $0.position, line: "[note \(clockTime($0.position)): \($1)]", isGap: false) }
    var remainingNotes = (linesBetweenWords(of: timeline) + notes).stablySorted(by: \.time)[...]
    var openTurn: (speaker: Int?, start: SamplePosition, words: [String])?
    func closeTurn() {
        guard let turn = openTurn else { return }
        openTurn = nil
        let name = turn.speaker.map { oneLine(timeline.name(ofSpeaker: $0)) }
        body.append(.turn(speaker: name, start: turn.start, text: turn.words.joined(separator: " ")))
    }
    for segment in timeline.segments {
        for turn in timeline.readableTurns(of: segment) {
            for word in turn.words {
                let text = oneLine(word.text)
                guard !text.isEmpty else { continue }
                while let note = remainingNotes.first, note.time <= word.range.start {
                    closeTurn()
                    body.append(.note(note.line))
                    remainingNotes = remainingNotes.dropFirst()
                }
                let isNew = turn.speaker == nil ? word == segment.shownWords.first : turn.speaker != openTurn?.speaker
                if isNew { closeTurn() }
                openTurn = openTurn ?? (turn.speaker, word.range.start, [])
                openTurn?.words.append(text)
            }
        }
    }
    closeTurn()
    for note in remainingNotes { body.append(.note(note.line)) }
    if let progress = transcriptionProgress(timeline) { body.append(.note("[\(progress)]")) }
    return body
}

extension Annotations {
    /// What a person entered about the whole recording, except its title. Each text is a single, non-empty line.
    var remarks: [(name: String, text: String)] {
        [("People", people), ("Place", place), ("Note", note), ("Consent", consent)]
            .map { ($0, oneLine($1)) }.filter { !$1.isEmpty }
    }
}
