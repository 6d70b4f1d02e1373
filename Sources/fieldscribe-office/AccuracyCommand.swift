import Core
import Office
import System
import Transcripts

enum AccuracyCommand: Command {
    static let name = "accuracy"
    static let summary = "Show the word error rate of each engine."
    static let help = Filter.help(
        [
            """
            Compares each engine's transcript with people's corrections. The true error rate lies between two figures: the
            errors per 100 words of the whole transcript, as if every unchanged word were right; and the errors per 100
            words of the lines that a person changed or confirmed.
            """,
            Argument.recordings("all recordings with corrections"),
        ], Option.json)

    static func run(_ arguments: Arguments) throws {
        let archive = try ArchiveChoice.open(arguments)
        var rows: [AccuracyRow] = []
        var totals: [String: Accuracy] = [:]
        var unmeasuredCount = 0
        for recording in try Filter.recordings(arguments, in: archive) {
            let accuracies = try OfficeAccuracy.accuracies(of: recording.id, in: archive)
            if accuracies.isEmpty, try archive.transcripts(of: recording.id).first?.person != nil {
                unmeasuredCount += 1
            }
            for (engine, accuracy) in accuracies {
                totals[engine.name] = (totals[engine.name] ?? Accuracy()) + accuracy
                var row = AccuracyRow(recording: recording.id, engine: engine, accuracy)
                row.recorder = recording.recorder.folder
                rows.append(row)
            }
        }
        if arguments[.json] { return try Terminal.print(jsonText(rows, isIndented: true)) }
        if unmeasuredCount > 0 {
            let recordings = counted(unmeasuredCount, "corrected recording", "corrected recordings")
            Terminal.say(
                "\(recordings) cannot be measured: no word was corrected, or the engine's transcript is not in the archive; gather an earlier copy"
            )
        } else if rows.isEmpty {
            Terminal.say("none of these recordings has corrections")
        }
        for row in rows {
            try Terminal.print(
                "\(row.recording)  \(row.recorder ?? "")  \(oneLine(row.engine.name))  \(row.percent) to \(row.heardPercent) % of the words are wrong\n"
            )
        }
        for (engine, accuracy) in totals.sorted(by: { $0.key < $1.key }) {
            try Terminal.print(
                "\(oneLine(engine)): \(accuracy.whole.roundedPercent) to \(accuracy.checked.roundedPercent) % wrong\n")
        }
    }
}
