import Core
import Synchronization
import System
import Transcripts

/// Shows a recording live: either events as JSON lines, or the transcript, whose last line changes while people speak.
final class RecordingScreen: Sendable {
    /// The partial texts of segments that are recognized together, a group, by the ID of the group's first segment.
    private struct PartialTexts {
        /// Each partial text and its end position.
        var updates: [Int: [(end: SamplePosition, text: String)]] = [:]
        var printedTexts: [Int: String] = [:]
    }

    /// The number of samples that a partial text may extend past its segment. Pauses between segments are longer.
    private static let tolerance = Int64(SamplePosition.rate) / 4

    private let json: Bool
    private let keepsPartials: Bool
    private let isTerminal: Bool
    private let partials = Mutex(PartialTexts())
    private let status = Mutex(StatusLine(isStyled: Terminal.stylesErrors))

    /// - Parameter keepsPartials: whether the last partial text stays visible above the final one.
    init(json: Bool, keepsPartials: Bool = false) {
        self.json = json
        self.keepsPartials = keepsPartials
        isTerminal = Terminal.showsOutput && Terminal.showsErrors
    }

    /// Partial texts cost CPU, so they are only requested if they are visible.
    var wantsPartials: Bool { json || isTerminal || keepsPartials }

    /// All printed partial text; empty unless `keepsPartials`.
    var partialText: String {
        partials.withLock { $0.printedTexts.sorted { $0.key < $1.key }.map(\.value).joined(separator: " ") }
    }

    /// Shows events until they end. If output fails, the recording continues.
    func show(_ events: AsyncStream<Event>) async {
        for await event in events {
            do {
                try json ? Terminal.print(eventJSON(event) + "\n") : show(event)
            } catch {
                continue
            }
        }
        TerminalStatusLine.clear()
    }

    private func show(_ event: Event) throws {
        switch event {
        case .final(_, let segment):
            // The partial text may already be that of the next group.
            status.withLock { if $0.partialSegment <= segment.id { $0.partial = "" } }
            try printPartial(of: segment)
            let text = segment.shownText
            if !text.isEmpty { try printText("\(Self.clock(segment.range.start))  \(text)") }
        case .partial(_, let segment, let range, let text):
            if keepsPartials { partials.withLock { $0.updates[segment, default: []].append((range.end, text)) } }
            draw { ($0.partial, $0.partialSegment) = (text, segment) }
        case .gap(_, let gap):
            try Terminal.print(
                "\(Self.clock(gap.range.start))  [\(ProgressBar.tenths(gap.range.seconds)) s lost: \(gap.cause.rawValue)]\n"
            )
        case .fault(_, let message):
            Terminal.say("fieldscribe: \(message)")
        case .level(let rms, _): draw { $0.level = rms }
        case .state(.recording): draw { $0.began = MonotonicClock.nanoseconds }
        case .state: draw { $0.began = nil }
        case .rotation, .mark, .export, .laptop, .opened: break
        }
    }

    private func draw(_ change: (inout StatusLine) -> Void) {
        guard isTerminal, !json else { return }
        let line = status.withLock { status in
            change(&status)
            return status.text(at: MonotonicClock.nanoseconds, width: Terminal.width)
        }
        TerminalStatusLine.show(line)
    }

    /// Prints a segment's partial text, which is the part of its group's text that was not printed yet.
    private func printPartial(of segment: Segment) throws {
        let words = partials.withLock { partials -> ArraySlice<Substring> in
            guard let group = partials.updates.keys.filter({ $0 <= segment.id }).max(),
                let text = partials.updates[group]?.last(where: { $0.end <= segment.range.end + Self.tolerance })?.text
            else { return [] }
            let previous = partials.printedTexts.updateValue(text, forKey: group) ?? ""
            return text.split(separator: " ").dropFirst(previous.split(separator: " ").count)
        }
        if !words.isEmpty { try printText("    ~  \(words.joined(separator: " "))") }
    }

    /// Prints a line; on a terminal, wraps it at words.
    private func printText(_ text: String) throws {
        let width = max(20, Terminal.outputWidth)
        let lines = Terminal.showsOutput ? Terminal.wrapped(text, to: width, hanging: 7) : [text]
        try Terminal.print(lines.joined(separator: "\n") + "\n")
    }

    static func clock(seconds: Double) -> String { clock(SamplePosition(seconds: seconds)) }

    static func clock(_ position: SamplePosition) -> String {
        let seconds = Int(position.seconds)
        let minutes = "\((seconds / 60 % 60).padded(to: 2)):\((seconds % 60).padded(to: 2))"
        return seconds < 3600 ? minutes : "\(seconds / 3600):\(minutes)"
    }
}
