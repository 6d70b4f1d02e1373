@testable import Core

/// Runs a gesture by a marble line and tells what comes of it, in the same form.
///
/// A letter is 100 ms. In: `p` pressed, `r` released, `f` a fault is shown, `-` nothing. Out: `S` start, `X` stop,
/// `M` mark, `P` pause, `R` resume, `T` strike, `D` shut down, `A` acknowledge, `K` stuck, `F` free; two at once in brackets. Starts,
/// stops and pauses are followed, as a recorder would.
func marbles(_ line: String, _ settings: ButtonGesture.Settings, recording: Bool = false) -> String {
    var gesture = ButtonGesture(settings)
    _ = gesture.handle(.recording(recording))
    var out = ""
    for (index, letter) in line.enumerated() {
        let now = Duration.milliseconds(100 * index)
        let effects: [ButtonGesture.Effect] =
            switch letter {
            case "p": gesture.handle(.change(.init(pressed: true, time: now)))
            case "r": gesture.handle(.change(.init(pressed: false, time: now)))
            case "f": gesture.handle(.fault(true))
            default: gesture.handle(.time(now))
            }
        let letters = effects.compactMap(\.letter)
        for effect in effects {
            if case .start = effect { _ = gesture.handle(.recording(true)) }
            if case .stop = effect { _ = gesture.handle(.recording(false)) }
            if case .start = effect { _ = gesture.handle(.paused(false)) }
            if case .pause = effect { _ = gesture.handle(.paused(true)) }
            if case .resume = effect { _ = gesture.handle(.paused(false)) }
        }
        out += letters.count > 1 ? "(\(letters.joined()))" : letters.first ?? "-"
    }
    return out
}

extension ButtonGesture.Effect {
    /// Its letter in a marble line; the answer to every press has none.
    var letter: String? {
        switch self {
        case .pressed: nil
        case .start: "S"
        case .stop: "X"
        case .mark: "M"
        case .pause: "P"
        case .strike: "T"
        case .resume: "R"
        case .shutDown: "D"
        case .acknowledge: "A"
        case .stuck: "K"
        case .free: "F"
        }
    }
}

extension ButtonGesture.Settings {
    init(_ style: PanelStyle, shutdown: Duration? = nil, stuck: Duration = .seconds(60)) {
        self.init()
        self.style = style
        self.shutdown = shutdown
        self.stuck = stuck
    }
}

/// The lamp as a marble line of 50 ms a letter: `#` lit, `.` dark.
func marbles(_ lamp: LampPattern, from start: Duration = .zero, letters: Int) -> String {
    String((0..<letters).map { lamp.next(after: start + .milliseconds(50 * $0)).lit ? "#" : "." })
}
