import Core

extension TranscriptFormat {
    /// Text for programs that code interviews: f4, MAXQDA, ATLAS.ti.
    static let qda = TranscriptFormat(
        "qda", fileExtension: "qda.txt", isUsual: false
    ) { timeline, details in qualitativeText(timeline, minPauseSeconds: details.pauseSeconds) }
}

/// Returns a paragraph per turn, with its speaker and end time: `A: WORDS #00:01:23-4#`. With only one speaker, each
/// segment is a paragraph. Shows gaps as other formats do, and pauses of at least `minPauseSeconds`: `(3 s)`.
func qualitativeText(_ timeline: Timeline, minPauseSeconds: Int) -> String {
    struct Paragraph {
        var speaker: Int?
        var text: [String]
        var end: SamplePosition
    }
    var paragraphs: [Paragraph] = []
    var previousText = ""
    var gaps = timeline.gaps.sorted { $0.range.start < $1.range.start }[...]
    for segment in timeline.segments {
        for turn in timeline.readableTurns(of: segment) {
            for word in turn.words {
                var text = oneLine(word.text)
                guard !text.isEmpty else { continue }
                text = escapingTimeStamps(text, after: previousText)
                previousText = text
                var insertions: [String] = []
                let last = paragraphs.last?.end ?? .zero
                var gapEnd = SamplePosition.zero
                while let gap = gaps.first, gap.range.start <= word.range.start {
                    insertions.append(description(of: gap))
                    gapEnd = max(gapEnd, gap.range.end)
                    gaps = gaps.dropFirst()
                }
                let pause = SampleRange(max(last, gapEnd), word.range.start).seconds
                if !paragraphs.isEmpty, pause >= Double(minPauseSeconds) {
                    insertions.append("(\(Int(pause.rounded())) s)")
                }
                let isNew =
                    turn.speaker == nil ? word == segment.shownWords.first : turn.speaker != paragraphs.last?.speaker
                if isNew || paragraphs.isEmpty {
                    paragraphs.append(Paragraph(speaker: turn.speaker, text: insertions + [text], end: word.range.end))
                } else {
                    paragraphs[paragraphs.count - 1].text += insertions + [text]
                    paragraphs[paragraphs.count - 1].end = word.range.end
                }
            }
        }
    }
    let progress = transcriptionProgress(timeline).map { ["[\($0)]\n"] } ?? []
    let lastLines = gaps.map { description(of: $0) + "\n" } + progress
    return
        (paragraphs.map { paragraph in
            let name = paragraph.speaker.map { "\(oneLine(timeline.name(ofSpeaker: $0))): " } ?? ""
            return name + paragraph.text.joined(separator: " ") + " " + timeStamp(paragraph.end) + "\n"
        } + lastLines).joined(separator: "\n")
}

/// Returns hours, minutes, seconds and tenths of a second: `#00:01:23-4#`.
private func timeStamp(_ position: SamplePosition) -> String {
    let tenths = max(0, position.samples) * 10 / Int64(SamplePosition.rate)
    let clock = timecode(tenths * 100, decimal: ".").prefix { $0 != "." }
    return "#\(clock)-\(tenths % 10)#"
}

/// Removes time stamps and pauses from a line. A line without time stamps is returned unchanged.
func withoutTimeStamps(_ line: String) -> String {
    guard line.utf8.contains(UInt8(ascii: "#")) else { return line }
    let words = line.utf8.split(separator: UInt8(ascii: " ")).map { Substring($0) }
    guard words.contains(where: isTimeStamp) else { return line }
    var keptWords: [Substring] = []
    for word in words where !isTimeStamp(word) {
        if isPause(keptWords.last ?? "", word) { keptWords.removeLast() } else { keptWords.append(word) }
    }
    return keptWords.joined(separator: " ")
}

/// Whether a word has the form `#00:01:23-4#`, with two or more digits for the hours.
func isTimeStamp(_ word: Substring) -> Bool {
    let bytes = word.utf8
    guard bytes.count >= 12, bytes.first == UInt8(ascii: "#") else { return false }
    let shape = bytes.reversed().map { $0.isASCIIDigit ? UInt8(ascii: "0") : $0 }
    return shape.starts(with: "#0-00:00:0".utf8)
        && shape.dropFirst(10).dropLast().allSatisfy { $0 == UInt8(ascii: "0") }
}

/// Whether two words are a pause, such as `(3 s)`.
private func isPause(_ word: Substring, _ next: Substring) -> Bool {
    guard next == "s)", word.utf8.first == UInt8(ascii: "(") else { return false }
    return word.utf8.count > 1 && word.utf8.dropFirst().allSatisfy(\.isASCIIDigit)
}

/// Inserts an invisible character into words that look like time stamps or pauses.
///
/// - Parameter last: The word before the line.
func escapingTimeStamps(_ line: String, after last: String = "") -> String {
    guard line.utf8.contains(where: { $0 == UInt8(ascii: "#") || $0 == UInt8(ascii: ")") }) else { return line }
    var words: [String] = []
    for word in line.utf8.split(separator: UInt8(ascii: " ")).map({ Substring($0) }) {
        var scalars = String.UnicodeScalarView(word.unicodeScalars)
        if isTimeStamp(word) || isPause((words.last ?? last)[...], word) {
            scalars.insert(wordJoiner, at: scalars.index(after: scalars.startIndex))
        }
        words.append(String(scalars))
    }
    return words.joined(separator: " ")
}
