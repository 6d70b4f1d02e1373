import Core
import Exporting

/// Shows a recording as it happens: events as JSON lines, or the text, its last line replaced while it is spoken.
final class RecordingScreen: Sendable {
    private let json: Bool
    private let isTerminal: Bool

    init(json: Bool) {
        self.json = json
        isTerminal = Terminal.showsOutput && Terminal.showsErrors
    }

    /// Partial readings are worth their CPU where they can be seen.
    var wantsPartials: Bool { json || isTerminal }

    /// Shows events until there are no more. Where nobody can be shown anything any longer, the recording goes on.
    func show(_ events: AsyncStream<Event>) async {
        for await event in events {
            do {
                try json ? Terminal.print(eventJSON(event) + "\n") : show(event)
            } catch {
                continue
            }
        }
        close()
    }

    /// Takes the volatile line away.
    func close() {
        if isTerminal, !json { Terminal.draw("\r\u{1B}[K") }
    }

    private func show(_ event: Event) throws {
        switch event {
        case .final(_, let segment):
            close()
            if !segment.words.isEmpty { try Terminal.print("\(Self.clock(segment.range.start))  \(segment.text)\n") }
        case .partial(_, _, _, let text):
            guard isTerminal else { return }
            Terminal.draw("\r\u{1B}[K\u{1B}[2m\(text.suffix(max(10, Terminal.width - 1)))\u{1B}[0m")
        case .gap(_, let gap):
            close()
            try Terminal.print("\(Self.clock(gap.range.start))  [\(gap.range.seconds) s lost: \(gap.cause.rawValue)]\n")
        case .fault(_, let message):
            close()
            Terminal.say("fieldscribe: \(message)")
        case .state, .level, .rotation, .mark, .export: break
        }
    }

    /// Minutes and seconds, or hours, of a position.
    static func clock(_ position: SamplePosition) -> String {
        let seconds = Int(position.seconds)
        let pad = { (number: Int) in number < 10 ? "0\(number)" : "\(number)" }
        let minutes = "\(pad(seconds / 60 % 60)):\(pad(seconds % 60))"
        return seconds < 3600 ? minutes : "\(seconds / 3600):\(minutes)"
    }
}
