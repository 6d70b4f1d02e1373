@testable import Core

/// Sound and the segmenter's results, drawn as strings: a character is 100 ms. In: `#` speech at -30 dBFS, `+` speech
/// at -40, both with a dip of a frame between two syllables, `-` a dip at -50, `_` background noise at -70, `!` a click
/// of 20 ms, `k` a knock of 80 ms. Out: `B` an utterance began, `S` `T` `G` it ended at silence, stop, gap, `R` it was
/// rotated.
struct Marbles {
    private(set) var segmenter: Segmenter
    private(set) var utterances: [Utterance] = []
    private(set) var begun: [SamplePosition] = []
    private var line = ""

    init(_ settings: SpeechSettings = SpeechSettings()) { segmenter = Segmenter(settings: settings) }

    /// Plays a drawing and returns the result.
    mutating func play(_ drawing: String) -> String {
        line = ""
        for character in drawing {
            var marks = ""
            for frame in 0..<5 { marks += note(segmenter.handle(level: Self.level(character, frame: frame))) }
            line += marks.isEmpty ? "." : marks
        }
        return line
    }

    mutating func finish() -> String { note(segmenter.finish(at: segmenter.position)) }

    mutating func gap(milliseconds: Int) -> String {
        let end = segmenter.position + Int64(milliseconds * 16)
        return note(segmenter.handle(gap: SampleRange(segmenter.position, end)))
    }

    private mutating func note(_ effects: [Segmenter.Effect]) -> String {
        var marks = ""
        for effect in effects {
            switch effect {
            case .began(_, let start):
                begun.append(start)
                marks += marks == "R" ? "" : "B"
            case .ended(let utterance):
                utterances.append(utterance)
                let names: [EndReason: String] = [.silence: "S", .rotation: "R", .stop: "T", .gap: "G", .error: "E"]
                marks += names[utterance.endedBy] ?? "?"
            }
        }
        return marks
    }

    private static func level(_ character: Character, frame: Int) -> Double {
        switch character {
        case "#": frame == 4 ? -60 : -30
        case "+": frame == 4 ? -60 : -40
        case "-": -50
        case "k": frame == 4 ? -70 : -30
        case "!": frame == 0 ? -20 : -70
        default: -70
        }
    }
}

/// A repeated drawing.
func times(_ count: Int, _ drawing: String) -> String { String(repeating: drawing, count: count) }

/// A position in tenths of a second, as in the drawings.
func tenths(_ count: Double) -> SamplePosition { SamplePosition(seconds: count / 10) }
