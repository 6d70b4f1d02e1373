import Core

/// Returns the transcript on the player page. Each segment is a line; with several speakers, each turn in a segment is
/// a line. Gaps and bookmarks are at their positions, even between words. Consecutive segments without words are
/// folded into one line.
func transcript(_ timeline: Timeline) -> String {
    var notes = (timeline.gaps.map(Note.gap) + timeline.marks.map(Note.mark)).stablySorted(by: \.position)[...]
    var lines = [#"<main id="text" class="shaded" tabindex="-1">"#]
    var quietLines: [(range: SampleRange, line: String)] = []
    func addQuietLines() {
        if quietLines.count > 1, let first = quietLines.first, let last = quietLines.last {
            lines.append(folded(quietLines.map(\.line), SampleRange(first.range.start, last.range.end)))
        } else {
            lines += quietLines.map(\.line)
        }
        quietLines = []
    }
    func addNotes(upTo end: SamplePosition) {
        while let note = notes.first, note.position < end {
            addQuietLines()
            lines.append(line(at: note.position, note.markup))
            notes = notes.dropFirst()
        }
    }
    var lastSpeaker: Int?
    for segment in timeline.segments {
        addNotes(upTo: segment.range.start)
        var words: [String] = []
        // The line's start, the index of its first word in the segment, the number of words so far, and the speaker.
        var (start, first, count, lineSpeaker): (SamplePosition, Int, Int, Int?) = (segment.range.start, 0, 0, nil)
        func currentLine(until end: SamplePosition) -> String {
            line(
                at: start, words.joined(separator: " "), tooltip: facts(of: [segment]),
                of: (segment: segment.id, firstWord: first, end: end), by: lineSpeaker)
        }
        let overlaps = timeline.turns(of: segment).flatMap { turn in
            timeline.overlaps(in: turn.words).map { run in
                (first: turn.words[run.lowerBound].range.start, last: turn.words[run.upperBound - 1].range.start)
            }
        }
        for word in segment.words {
            let speaker = timeline.hasSeveralSpeakers ? timeline.speakers?.speaker(of: word.range) : nil
            let text = oneLine(word.text)
            guard !text.isEmpty else { continue }
            if let speaker, speaker != lastSpeaker {
                if count > first {
                    addQuietLines()
                    lines.append(currentLine(until: word.range.start))
                    (words, start, first) = ([], word.range.start, count)
                }
                // Slightly before the word, so that the name stays before it when the script rebuilds the line.
                let time = max(0, milliseconds(word.range.start) - 1)
                words.append(chip(timeline, speaker, #" data-t="\#(time)""#))
                lastSpeaker = speaker
            }
            lineSpeaker = speaker
            count += 1
            while let note = notes.first, note.position <= word.range.start {
                words.append(note.markup)
                notes = notes.dropFirst()
            }
            let time = word.range.start
            // Slightly before the first word and after the last, so that the slashes stay there when the script
            // rebuilds the line.
            if overlaps.contains(where: { $0.first == time }) { words.append(overlap(milliseconds(time) - 1)) }
            words.append(span(word, text))
            if overlaps.contains(where: { $0.last == time }) { words.append(overlap(milliseconds(time) + 1)) }
        }
        while let note = notes.first, note.position < segment.range.end {
            words.append(note.markup)
            notes = notes.dropFirst()
        }
        if let heldBack = segment.heldBack { words.insert(unclear(heldBack, at: segment.range.start), at: 0) }
        let isQuiet = words.isEmpty && segment.endedBy != .error
        if words.isEmpty { words = [#"<span class="none">\#(markup(label(of: segment)))</span>"#] }
        if isQuiet {
            quietLines.append((segment.range, currentLine(until: segment.range.end)))
        } else {
            addQuietLines()
            lines.append(currentLine(until: segment.range.end))
        }
    }
    addNotes(upTo: SamplePosition(.max))
    addQuietLines()
    if let progress = transcriptionProgress(timeline) {
        lines.append(#"<p class="empty" role="note">This transcript is incomplete: \#(progress).</p>"#)
    } else if timeline.segments.isEmpty {
        lines.append(#"<p class="empty">Nobody said anything in this recording.</p>"#)
    }
    return (lines + ["</main>\n"]).joined(separator: "\n")
}

/// Returns a speaker's name as a coloured chip, with the label if it differs from the name.
func chip(_ timeline: Timeline, _ speaker: Int, _ attributes: String = "") -> String {
    let (label, name) = (Speakers.label(speaker), oneLine(timeline.name(ofSpeaker: speaker)))
    return #"<span class="who p\#(speaker % speakerColours)\#(name == label ? "" : " named")" data-who="\#(label)""#
        + "\(attributes) dir=\"auto\">\(markup(name))</span>"
}

/// The number of colours for speakers in player.css.
private let speakerColours = 12

/// Returns the sign for the start or end of simultaneous speech.
private func overlap(_ time: Int64) -> String {
    #"<span class="both" data-t="\#(max(0, time))" title="several people speak at once">\#(overlapSign)</span>"#
}

private enum Note {
    case gap(Gap)
    case mark(Bookmark)

    var position: SamplePosition {
        switch self {
        case .gap(let gap): gap.range.start
        case .mark(let mark): mark.position
        }
    }

    var markup: String {
        switch self {
        case .gap(let gap):
            let text = Transcripts.markup(String(description(of: gap).dropFirst().dropLast()))
            return #"<span class="gap" data-t="\#(milliseconds(position))">\#(text)</span>"#
        case .mark(let mark):
            let text = oneLine(mark.text)
            let label = text.isEmpty ? "bookmark" : Transcripts.markup(text)
            return #"<span class="mark" data-t="\#(milliseconds(position))" dir="auto">⚑ \#(label)</span>"#
        }
    }
}

/// Returns lines without words as one line that can be unfolded: `4 min without speech`.
private func folded(_ lines: [String], _ range: SampleRange) -> String {
    let seconds = max(1, Int(nearest: range.seconds))
    let length = seconds < 60 ? "\(seconds) s" : "\((seconds + 30) / 60) min"
    return
        #"<details class="quiet"><summary><span class="t">\#(clockTime(range.start))</span>\#(length) without speech"#
        + "</summary>\n\(lines.joined(separator: "\n"))\n</details>"
}

private func line(
    at position: SamplePosition, _ content: String, tooltip: String? = nil,
    of part: (segment: Int, firstWord: Int, end: SamplePosition)? = nil, by speaker: Int? = nil
) -> String {
    let time = milliseconds(position)
    let title = tooltip.map { #" title="\#($0)""# } ?? ""
    let partAttributes = part.map { part in
        #" data-n="\#(part.segment)"\#(part.firstWord == 0 ? "" : #" data-k="\#(part.firstWord)""#)"#
            + #" data-e="\#(milliseconds(part.end))""#
    }
    let speakerAttribute = speaker.map { #" data-p="\#(Speakers.label($0))""# } ?? ""
    return
        ##"<p class="s" data-t="\##(time)"\##(partAttributes ?? "")\##(speakerAttribute)><a class="t""##
        + ##" href="#t=\##(decimalSeconds(position))" data-t="\##(time)"\##(title)>\##(clockTime(position))</a>"##
        + #"<span class="x" dir="auto">\#(content)</span></p>"#
}

private func span(_ word: Word, _ text: String) -> String {
    let percent = Int(nearest: word.confidence * 100)
    let shade =
        switch percent {
        case 75...: ""
        case 50..<75: " c2"
        case 25..<50: " c1"
        default: " c0"
        }
    // The class `i` isolates the word's text direction.
    let isolated = text.unicodeScalars.contains { $0.properties.isBidiControl } ? " i" : ""
    return #"<span class="w\#(shade)\#(isolated)" data-t="\#(milliseconds(word.range.start))" data-c="\#(percent)">"#
        + "\(markup(text))</span>"
}

/// Returns the content of an unclear segment's line: `[unclear]`, which plays the segment, and the held-back text.
private func unclear(_ heldBack: String, at start: SamplePosition) -> String {
    #"<span class="unclear" data-t="\#(milliseconds(start))">\#(unclearText)</span> "#
        + #"<span class="held" data-t="\#(milliseconds(start))">\#(markup(oneLine(heldBack)))</span>"#
}

/// Describes the speaking rate and the voice; nil if there are no words.
func facts(of segments: [Segment]) -> String? {
    guard let metadata = SpeechMetadata(of: segments) else { return nil }
    var facts = ["\(Int(nearest: metadata.speakingRate)) words a minute"]
    if let voice = VoiceAnalytics(of: segments) {
        let percent = { (share: Double) in
            let tenths = Int(nearest: share * 1_000)
            return "\(tenths / 10).\(tenths % 10) %"
        }
        facts += [
            "pitch \(Int(nearest: voice.pitch)) Hz", "jitter \(percent(voice.jitter))",
            "shimmer \(percent(voice.shimmer))", "voiced \(percent(voice.voicing))",
        ]
    }
    return facts.joined(separator: ", ")
}

/// Returns a list of links to unclear segments and the least certain words, worst first; empty if all are certain.
func wordsToReview(_ timeline: Timeline) -> String {
    let words = UncertainWord.worst(20, of: timeline.segments, below: 0.5)
    if words.isEmpty { return "" }
    let items = words.map { uncertain in
        let start = uncertain.word.range.start
        let word =
            #"<button type="button" class="hear" data-from="\#(milliseconds(start))""#
            + #" data-to="\#(milliseconds(uncertain.word.range.end))">\#(markup(uncertain.word.text))</button>"#
        let context = [markup(uncertain.before), word, markup(uncertain.after)]
            .filter { !$0.isEmpty }.joined(separator: " ")
        return
            ##"<li><a href="#t=\##(decimalSeconds(start))" data-t="\##(milliseconds(start))">\##(clockTime(start))</a> <span dir="auto">\##(context)</span></li>"##
    }
    return "<details><summary>Words to review</summary>\n<ol>\n\(items.joined(separator: "\n"))\n</ol></details>\n"
}
