@testable import Core

/// Plays a marble line on a button; returns the actions in the same form.
///
/// A letter is 100 ms. In: `p` pressed, `r` released, `f` a fault is shown, `-` nothing. Out: `S` start, `X` stop,
/// `M` mark, `P` pause, `R` resume, `T` redact, `D` shut down, `A` acknowledge, `K` stuck, `F` free; two together in brackets.
func marbles(_ line: String, _ settings: MeantButton.Settings, recording: Bool = false) -> String {
    var button = MeantButton(settings, recording: recording)
    var out = ""
    for (index, letter) in line.enumerated() {
        let now = Duration.milliseconds(100 * index)
        var actions: [ButtonInterpreter.Action] = []
        switch letter {
        case "p": actions = button.handle(.change(.init(pressed: true, time: now)))
        case "r": actions = button.handle(.change(.init(pressed: false, time: now)))
        case "f": button.isFaulted = true
        default: actions = button.handle(.time(now))
        }
        let letters = actions.map(\.letter)
        out += letters.count > 1 ? "(\(letters.joined()))" : letters.first ?? "-"
    }
    return out
}

/// A button with a recorder that follows each action.
struct MeantButton {
    struct Settings {
        var style: PanelStyle
        var gesture = ButtonGesture.Settings()

        init(_ style: PanelStyle, shutdown: Duration? = nil, stuck: Duration = .seconds(60)) {
            self.style = style
            gesture.longHold = shutdown
            gesture.stuck = stuck
        }
    }

    var gesture: ButtonGesture
    var interpreter: ButtonInterpreter
    var isRecording: Bool
    var (isPaused, isFaulted) = (false, false)

    init(_ settings: Settings, pressed: Bool = false, recording: Bool = false) {
        gesture = ButtonGesture(settings.gesture, pressed: pressed)
        interpreter = ButtonInterpreter(settings.style, shutsDown: settings.gesture.longHold != nil)
        isRecording = recording
    }

    mutating func handle(_ input: ButtonGesture.Input) -> [ButtonInterpreter.Action] {
        gesture.handle(input).flatMap { handle($0) }
    }

    mutating func handle(_ event: ButtonGesture.Event) -> [ButtonInterpreter.Action] {
        let actions = interpreter.handle(
            event, isRecording: isRecording, isPaused: isPaused, isFaulted: isFaulted)
        for action in actions {
            switch action {
            case .start: (isRecording, isPaused) = (true, false)
            case .stop: isRecording = false
            case .pause: isPaused = true
            case .resume: isPaused = false
            case .acknowledge: isFaulted = false
            case .mark, .redact, .shutDown, .stuck, .free: break
            }
        }
        return actions
    }
}

extension ButtonInterpreter.Action {
    /// Its letter in a marble line.
    var letter: String {
        switch self {
        case .start: "S"
        case .stop: "X"
        case .mark: "M"
        case .pause: "P"
        case .redact: "T"
        case .resume: "R"
        case .shutDown: "D"
        case .acknowledge: "A"
        case .stuck: "K"
        case .free: "F"
        }
    }
}

/// The lamp as a marble line of 50 ms per letter: `#` lit, `.` dark.
func marbles(_ lamp: LampPattern, from start: Duration = .zero, letters: Int) -> String {
    String((0..<letters).map { lamp.next(after: start + .milliseconds(50 * $0)).lit ? "#" : "." })
}
