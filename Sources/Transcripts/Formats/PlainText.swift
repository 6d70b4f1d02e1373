import Core

extension TranscriptFormat {
    /// Only the words.
    package static let text = TranscriptFormat("text", fileExtension: "txt") { timeline, _ in plainText(timeline) }
}

/// Returns the words, one line per segment, or with several speakers one paragraph per turn: `A: WORDS`; more lines
/// where somebody said "new line". A bookmark with text is a line before the next segment, a gap one before the next
/// word. A last line marks an incomplete text.
func plainText(_ timeline: Timeline) -> String {
    var notes = linesBetweenWords(of: timeline)[...]
    var gaps = timeline.gaps.map(\.range.start).sorted()[...]
    var text = ""
    var isBehindNote = false
    func addNotes(upTo end: SamplePosition) {
        while let note = notes.first, note.time <= end {
            text += "\(escapingSigns(note.line))\n"
            isBehindNote = true
            if note.isGap { gaps = gaps.dropFirst() }
            notes = notes.dropFirst()
        }
    }
    var last: Int?
    func add(_ words: ArraySlice<Word>, _ speaker: Int?) {
        let spoken = spokenLines(words.map(\.text).joined(separator: " "))
        guard !spoken.isEmpty else { return }
        if let speaker {
            let isNew = speaker != last || isBehindNote
            if isNew, last != nil { text += "\n" }
            if isNew || timeline.startsLikeName(spoken) { text += "\(oneLine(timeline.name(ofSpeaker: speaker))): " }
            last = speaker
        }
        text += spoken
        isBehindNote = false
    }
    for segment in timeline.segments {
        addNotes(upTo: segment.range.start)
        for turn in timeline.readableTurns(of: segment) {
            var words = turn.words[...]
            while let first = words.first {
                if let gap = gaps.first, gap <= first.range.start { addNotes(upTo: first.range.start) }
                let piece = words.prefix { word in gaps.first.map { word.range.start < $0 } ?? true }
                add(piece, turn.speaker)
                words = words.dropFirst(piece.count)
            }
        }
    }
    addNotes(upTo: SamplePosition(.max))
    return text + (unwrittenText(timeline).map { "[\($0)]\n" } ?? "")
}

/// Returns a segment's words as one line, or more if somebody said "new line".
private func spokenLines(_ text: String) -> String {
    if text.utf8.allSatisfy({ $0 < 0x80 }) {
        let line = escapingSigns(oneLine(text))
        return line.isEmpty ? "" : line + "\n"
    }
    var spoken = text.split(separator: Punctuator.newLine, omittingEmptySubsequences: false)
        .map { escapingSigns(oneLine(String($0))) }
    if spoken.last == "" { spoken.removeLast() }
    return spoken.map { $0 + "\n" }.joined()
}

/// Returns bookmarks with text, in chronological order, as lines: `[bookmark 0:12: WORDS]`.
func marksWithText(of timeline: Timeline) -> [(time: SamplePosition, line: String)] {
    timeline.marks.sorted { $0.position < $1.position }.compactMap { mark in
        let text = oneLine(mark.text)
        return text.isEmpty ? nil : (mark.position, "[bookmark \(clockTime(mark.position)): \(text)]")
    }
}

/// Returns bookmarks with text and gaps, in chronological order.
func linesBetweenWords(of timeline: Timeline) -> [(time: SamplePosition, line: String, isGap: Bool)] {
    let gaps = timeline.gaps.map { (time: $0.range.start, line: description(of: $0), isGap: true) }
    return (marksWithText(of: timeline).map { (time: $0.time, line: $0.line, isGap: false) } + gaps)
        .stablySorted(by: \.time)
}

/// Describes how far the text is transcribed; nil if complete.
package func unwrittenText(_ timeline: Timeline) -> String? {
    timeline.unwritten.map { rest in
        rest.start == .zero
            ? "not transcribed yet: \(clockTime(timeline.length))"
            : "transcribed up to \(clockTime(rest.start)) of \(clockTime(timeline.length))"
    }
}

/// Returns a text as a part of one line: every run of control and space characters becomes one space.
///
/// Works on scalars: as a `Character`, a space with a combining mark is not a space.
package func oneLine(_ text: String) -> String {
    if isOneLine(text) { return text }
    var line = String.UnicodeScalarView()
    var isBehindSpace = false
    for scalar in text.unicodeScalars {
        if isSpace(scalar) {
            isBehindSpace = !line.isEmpty
            continue
        }
        if isBehindSpace { line.append(" ") }
        isBehindSpace = false
        line.append(scalar)
    }
    return String(line)
}

func words(in text: String) -> [String] {
    oneLine(text).utf8.split(separator: UInt8(ascii: " ")).map { String(Substring($0)) }
}

/// Whether `oneLine` would not change a text, judged by its bytes; may be false for others.
private func isOneLine(_ text: String) -> Bool {
    var isBehindSpace = true
    for byte in text.utf8 {
        guard (0x20..<0x7F).contains(byte), byte > 0x20 || !isBehindSpace else { return false }
        isBehindSpace = byte == 0x20
    }
    return !isBehindSpace || text.isEmpty
}

private func isSpace(_ scalar: Unicode.Scalar) -> Bool {
    if scalar.value < 0x7F { return scalar.value <= 0x20 }
    switch scalar.properties.generalCategory {
    case .control, .lineSeparator, .paragraphSeparator, .spaceSeparator: return true
    default: return false
    }
}
