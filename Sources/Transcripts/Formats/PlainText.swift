import Core

extension TranscriptFormat {
    /// Plain text.
    package static let text = TranscriptFormat("text", fileExtension: "txt") { timeline, _ in plainText(timeline) }
}

/// Returns the words with a line per segment or, with several speakers, a paragraph per turn: `A: WORDS`. A spoken "new
/// line" starts another line. A bookmark with text has a line before the next segment; a gap has one before the next
/// word. If the transcript is incomplete, the last line says so.
func plainText(_ timeline: Timeline) -> String {
    var notes = linesBetweenWords(of: timeline)[...]
    var gaps = timeline.gaps.map(\.range.start).sorted()[...]
    var text = ""
    var followsNote = false
    func addNotes(upTo end: SamplePosition) {
        while let note = notes.first, note.time <= end {
            text += "\(escapingTimeStamps(note.line))\n"
            followsNote = true
            if note.isGap { gaps = gaps.dropFirst() }
            notes = notes.dropFirst()
        }
    }
    var lastSpeaker: Int?
    func add(_ words: ArraySlice<Word>, _ speaker: Int?) {
        let spoken = spokenLines(words.map(\.text).joined(separator: " "))
        guard !spoken.isEmpty else { return }
        if let speaker {
            let isNew = speaker != lastSpeaker || followsNote
            if isNew, lastSpeaker != nil { text += "\n" }
            if isNew || timeline.startsLikeName(spoken) { text += "\(oneLine(timeline.name(ofSpeaker: speaker))): " }
            lastSpeaker = speaker
        }
        text += spoken
        followsNote = false
    }
    for segment in timeline.segments {
        addNotes(upTo: segment.range.start)
        for turn in timeline.readableTurns(of: segment) {
            var words = turn.words[...]
            while let first = words.first {
                if let gap = gaps.first, gap <= first.range.start { addNotes(upTo: first.range.start) }
                let beforeGap = words.prefix { word in gaps.first.map { word.range.start < $0 } ?? true }
                add(beforeGap, turn.speaker)
                words = words.dropFirst(beforeGap.count)
            }
        }
    }
    addNotes(upTo: SamplePosition(.max))
    return text + (transcriptionProgress(timeline).map { "[\($0)]\n" } ?? "")
}

/// Returns a text as one line, or as several if somebody said "new line".
private func spokenLines(_ text: String) -> String {
    if text.utf8.allSatisfy({ $0 < 0x80 }) {
        let line = escapingTimeStamps(oneLine(text))
        return line.isEmpty ? "" : line + "\n"
    }
    var spoken = text.split(separator: Punctuator.newLine, omittingEmptySubsequences: false)
        .map { escapingTimeStamps(oneLine(String($0))) }
    if spoken.last == "" { spoken.removeLast() }
    return spoken.map { $0 + "\n" }.joined()
}

/// Returns the bookmarks with text as lines in chronological order: `[bookmark 0:12: WORDS]`.
func marksWithText(of timeline: Timeline) -> [(time: SamplePosition, line: String)] {
    timeline.marks.sorted { $0.position < $1.position }.compactMap { mark in
        let text = oneLine(mark.text)
        return text.isEmpty ? nil : (mark.position, "[bookmark \(clockTime(mark.position)): \(text)]")
    }
}

/// Returns the gaps and the bookmarks with text as lines in chronological order.
func linesBetweenWords(of timeline: Timeline) -> [(time: SamplePosition, line: String, isGap: Bool)] {
    let gaps = timeline.gaps.map { (time: $0.range.start, line: description(of: $0), isGap: true) }
    return (marksWithText(of: timeline).map { (time: $0.time, line: $0.line, isGap: false) } + gaps)
        .stablySorted(by: \.time)
}

/// Describes how much of the recording is transcribed; nil if the transcript is complete.
package func transcriptionProgress(_ timeline: Timeline) -> String? {
    timeline.untranscribed.map { range in
        range.start == .zero
            ? "not transcribed yet: \(clockTime(timeline.length))"
            : "transcribed up to \(clockTime(range.start)) of \(clockTime(timeline.length))"
    }
}

/// Returns a text as a single line: every run of control characters and spaces becomes one space, except at the ends,
/// where it is removed.
///
/// Works on scalars: a space with a combining mark is not a space as a `Character`.
package func oneLine(_ text: String) -> String {
    if isOneLine(text) { return text }
    var line = String.UnicodeScalarView()
    var followsSpace = false
    for scalar in text.unicodeScalars {
        if isSpace(scalar) {
            followsSpace = !line.isEmpty
            continue
        }
        if followsSpace { line.append(" ") }
        followsSpace = false
        line.append(scalar)
    }
    return String(line)
}

func words(in text: String) -> [String] {
    oneLine(text).utf8.split(separator: UInt8(ascii: " ")).map { String(Substring($0)) }
}

/// A quick test: true only if `oneLine` would not change the text. False for any text that is not ASCII.
private func isOneLine(_ text: String) -> Bool {
    var followsSpace = true
    for byte in text.utf8 {
        guard (0x20..<0x7F).contains(byte), byte > 0x20 || !followsSpace else { return false }
        followsSpace = byte == 0x20
    }
    return !followsSpace || text.isEmpty
}

private func isSpace(_ scalar: Unicode.Scalar) -> Bool {
    if scalar.value < 0x7F { return scalar.value <= 0x20 }
    switch scalar.properties.generalCategory {
    case .control, .lineSeparator, .paragraphSeparator, .spaceSeparator: return true
    default: return false
    }
}
