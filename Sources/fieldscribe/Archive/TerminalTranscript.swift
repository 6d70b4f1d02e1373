import Core
import System
import Transcripts

enum TerminalTranscript {
    /// Returns the title, the facts, and each turn with its time and speaker, wrapped at words.
    static func lines(_ timeline: Timeline, _ details: RecordingDetails, width: Int) -> [StyledText] {
        var lines: [StyledText] = []
        var isInHead = true
        for paragraph in documentParagraphs(timeline, details) {
            switch paragraph {
            case .title(let text): lines += styled(text, .bold, width)
            case .fact(let text): lines += styled(text, nil, width)
            case .note(let text):
                if isInHead || timeline.hasSeveralSpeakers { lines.append("") }
                lines += styled(text, .dim, width)
                isInHead = false
            case .turn(let speaker, let start, let text):
                if isInHead || timeline.hasSeveralSpeakers { lines.append("") }
                lines += turn(speaker, start, text, width)
                isInHead = false
            }
        }
        return lines
    }

    private static func styled(_ text: String, _ style: TextStyle?, _ width: Int) -> [StyledText] {
        Terminal.wrapped(text, to: width, hanging: 0).map { "\($0, style)" }
    }

    private static func turn(_ speaker: String?, _ start: SamplePosition, _ text: String, _ width: Int) -> [StyledText]
    {
        let time = RecordingScreen.clock(start)
        let name = speaker.map { "\($0):" } ?? ""
        let head = "\(time)  \(name)"
        let lines = Terminal.wrapped("\(head)\(name.isEmpty ? "" : " ")\(text)", to: width, hanging: time.count + 2)
        return lines.enumerated().map { index, line in
            // On a narrow terminal, the name is wrapped too.
            guard index == 0, line.hasPrefix(head) else { return "\(line)" }
            return "\(time, .dim)  \(name, .bold)\(String(line.dropFirst(head.count)))"
        }
    }
}
