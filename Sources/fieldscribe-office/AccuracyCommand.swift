import Core
import Office
import System
import Transcripts

/// Shows engines' word errors by corrections.
enum AccuracyCommand: Command {
    static let name = "accuracy"
    static let summary = "Show the word error rate of each engine."
    static let help: [any HelpPart] =
        [
            """
            Compares each engine's transcript with what people corrected. The true rate lies between the two figures: the errors in
            100 words of the whole transcript, if everything unchanged is right; and the errors in 100 words of the lines that a
            person changed or confirmed.
            """,
            Argument.recordings("all recordings with corrections"),
        ] + Filter.options + [Option.json]

    private struct Row: Encodable {
        var recording: Int
        var recorder: String
        var engine: EngineDescription
        var words: Int
        var errors: Int
        var percent: Double
        var heardWords: Int
        var heardErrors: Int
        var heardPercent: Double
    }

    static func run(_ arguments: Arguments) throws {
        let archive = try ArchiveChoice.open(arguments)
        var rows: [Row] = []
        var engines: [String: Accuracy] = [:]
        for recording in try Filter.recordings(arguments, in: archive) {
            for (engine, accuracy) in try OfficeAccuracy.measured(recording.id, in: archive) {
                engines[engine.name] = (engines[engine.name] ?? Accuracy()) + accuracy
                rows.append(
                    Row(
                        recording: recording.id, recorder: recording.recorder.folder, engine: engine,
                        words: accuracy.whole.words, errors: accuracy.whole.errors,
                        percent: accuracy.whole.roundedPercent,
                        heardWords: accuracy.heard.words, heardErrors: accuracy.heard.errors,
                        heardPercent: accuracy.heard.roundedPercent))
            }
        }
        if arguments[.json] { return try Terminal.print(jsonText(rows, isIndented: true)) }
        if rows.isEmpty { return Terminal.say("none of these recordings has corrections") }
        for row in rows {
            try Terminal.print(
                "\(row.recording)  \(row.recorder)  \(oneLine(row.engine.name))  \(row.percent) to \(row.heardPercent) % of the words wrong\n"
            )
        }
        for (engine, accuracy) in engines.sorted(by: { $0.key < $1.key }) {
            try Terminal.print(
                "\(oneLine(engine)): \(accuracy.whole.roundedPercent) to \(accuracy.heard.roundedPercent) %\n")
        }
    }
}
