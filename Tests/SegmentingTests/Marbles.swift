@testable import Core

/// Draws sound, and the segmenter's results, as strings in which a character is 100 ms.
///
/// Input: `#` speech at -30 dBFS, `+` speech at -40 dBFS, both with a dip of one frame between syllables, `-` a dip at
/// -50 dBFS, `_` noise at -70 dBFS, `!` a click of 20 ms, `k` a knock of 80 ms. Output: `B` an utterance began. It ended
/// with: `S` silence, `T` a stop, `G` a gap, `R` a rotation, `E` an error.
struct Marbles {
    private(set) var segmenter: Segmenter
    private(set) var utterances: [Utterance] = []
    private(set) var starts: [SamplePosition] = []
    private var line = ""

    init(_ settings: SpeechSettings = SpeechSettings()) { segmenter = Segmenter(settings: settings) }

    /// Segments the sound in a drawing and returns the results as a line.
    mutating func play(_ drawing: String) -> String {
        line = ""
        for character in drawing {
            var marks = ""
            for frame in 0..<5 { marks += record(segmenter.handle(level: Self.level(character, frame: frame))) }
            line += marks.isEmpty ? "." : marks
        }
        return line
    }

    mutating func finish() -> String { record(segmenter.finish(at: segmenter.position)) }

    mutating func gap(milliseconds: Int) -> String {
        let end = segmenter.position + Int64(milliseconds * 16)
        return record(segmenter.handle(gap: SampleRange(segmenter.position, end)))
    }

    private mutating func record(_ effects: [Segmenter.Effect]) -> String {
        var marks = ""
        for effect in effects {
            switch effect {
            case .began(_, let start):
                starts.append(start)
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

/// Repeats a drawing.
func times(_ count: Int, _ drawing: String) -> String { String(repeating: drawing, count: count) }

/// Returns the position at the given tenths of a second, the unit of the drawings.
func tenths(_ count: Double) -> SamplePosition { SamplePosition(seconds: count / 10) }
