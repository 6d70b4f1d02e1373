@testable import Core

/// Plays a marble line on a button and returns the actions as a marble line.
///
/// A character is 100 ms. Input: `p` pressed, `r` released, `f` a fault is shown, `-` nothing. Output: `S` start,
/// `X` stop, `M` mark, `P` pause, `R` resume, `T` redact, `D` shut down, `A` acknowledge, `K` stuck, `F` unstuck.
/// Simultaneous actions are in parentheses.
func marbles(_ line: String, _ settings: SimulatedButton.Settings, recording: Bool = false) -> String {
    var button = SimulatedButton(settings, recording: recording)
    var output = ""
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
        output += letters.count > 1 ? "(\(letters.joined()))" : letters.first ?? "-"
    }
    return output
}

/// A button, its interpreter, and the state of a recorder that performs each action.
struct SimulatedButton {
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
            case .mark, .redact, .shutDown, .stuck, .unstuck: break
            }
        }
        return actions
    }
}

extension ButtonInterpreter.Action {
    /// The action's letter in a marble line.
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
        case .unstuck: "F"
        }
    }
}

/// Returns the lamp's levels as a marble line in which a character is 50 ms: `#` lit, `.` dark.
func marbles(_ lamp: LampPattern, from start: Duration = .zero, letters: Int) -> String {
    String((0..<letters).map { lamp.next(after: start + .milliseconds(50 * $0)).lit ? "#" : "." })
}
