import Core

extension TranscriptFormat {
    /// Programs for coding interviews: f4, MAXQDA, ATLAS.ti.
    package static let qda = TranscriptFormat(
        "qda", fileExtension: "qda.txt", isUsual: false
    ) { timeline, details in qualitativeText(timeline, leastPause: details.pauseSeconds) }
}

/// A paragraph a turn, with who speaks in front, where several people are told apart, and when it ends behind: `A: WORDS #00:01:23-4#`.
/// Pauses of so many seconds and more stand where they are, `(3 s)`, and what was lost or left out as in other formats. Without
/// people, a paragraph is a segment.
func qualitativeText(_ timeline: Timeline, leastPause: Int) -> String {
    struct Paragraph {
        var speaker: Int?
        var text: [String]
        var end: SamplePosition
    }
    var paragraphs: [Paragraph] = []
    var gaps = timeline.gaps.sorted { $0.range.start < $1.range.start }[...]
    for segment in timeline.segments {
        for turn in timeline.readableTurns(of: segment) {
            for word in turn.words {
                let text = oneLine(word.text)
                guard !text.isEmpty else { continue }
                var before: [String] = []
                let last = paragraphs.last?.end ?? .zero
                var lost = SamplePosition.zero
                while let gap = gaps.first, gap.range.start <= word.range.start {
                    before.append(description(of: gap))
                    lost = max(lost, gap.range.end)
                    gaps = gaps.dropFirst()
                }
                let pause = SampleRange(max(last, lost), word.range.start).seconds
                if !paragraphs.isEmpty, pause >= Double(leastPause) { before.append("(\(Int(pause.rounded())) s)") }
                let isNew = turn.speaker == nil ? word == segment.words.first : turn.speaker != paragraphs.last?.speaker
                if isNew || paragraphs.isEmpty {
                    paragraphs.append(Paragraph(speaker: turn.speaker, text: before + [text], end: word.range.end))
                } else {
                    paragraphs[paragraphs.count - 1].text += before + [text]
                    paragraphs[paragraphs.count - 1].end = word.range.end
                }
            }
        }
    }
    let rest = gaps.map { description(of: $0) + "\n" } + (unwrittenText(timeline).map { ["[\($0)]\n"] } ?? [])
    return
        (paragraphs.map { paragraph in
            let name = paragraph.speaker.map { "\(oneLine(timeline.name(ofSpeaker: $0))): " } ?? ""
            return name + paragraph.text.joined(separator: " ") + " " + timeStamp(paragraph.end) + "\n"
        } + rest).joined(separator: "\n")
}

/// `#00:01:23-4#`: hours, minutes, seconds, and tenths.
private func timeStamp(_ position: SamplePosition) -> String {
    let tenths = max(0, position.samples) * 10 / Int64(SamplePosition.rate)
    let clock = timecode(tenths * 100, decimal: ".").prefix { $0 != "." }
    return "#\(clock)-\(tenths % 10)#"
}

/// A line of such a text without its time stamps and pauses; as it is where it has no time stamp.
package func withoutTimeStamps(_ line: String) -> String {
    func isTimeStamp(_ word: Substring) -> Bool {
        let shape = word.map { $0.isASCII && $0.isNumber ? "0" : String($0) }.joined()
        return shape.hasPrefix("#") && shape.hasSuffix("0:00:00-0#") && shape.allSatisfy { "#0:-".contains($0) }
    }
    let words = line.split(separator: " ")
    guard words.contains(where: isTimeStamp) else { return line }
    var left: [Substring] = []
    for word in words where !isTimeStamp(word) {
        if word == "s)", let number = left.last, number.first == "(", Int(number.dropFirst()) != nil {
            left.removeLast()
        } else {
            left.append(word)
        }
    }
    return left.joined(separator: " ")
}
