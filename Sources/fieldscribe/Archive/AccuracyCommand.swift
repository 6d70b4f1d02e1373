import Core
import System
import Transcripts

enum AccuracyCommand: Command {
    static let name = "accuracy"
    static let summary = "Count word errors, using your corrections."
    static let help: [any HelpPart] = [
        Argument.recordings("all corrected recordings"), Option.json("print one JSON object"), Option.directory,
        """
        Each transcript has two figures; the true error rate lies between them. The first counts the errors per 100
        words of the whole text, as if every unchanged word were correct. The second counts only lines that a person
        changed or confirmed.
        """,
    ]

    private struct BinRow: Encodable {
        var engine: String
        /// The confidence range, from `from` up to but not including `to`. The last range includes 1.
        var from: Double
        var to: Double
        var words: Int
        var right: Int
    }

    private struct Report: Encodable {
        var recordings: [AccuracyRow]
        var confidence: [BinRow]
    }

    static func run(_ arguments: Arguments) async throws {
        let requested = try arguments.recordings
        let archive = try await ArchiveConnection(arguments).archive
        let recordings = try await archive.recordings()
        for id in requested where !recordings.contains(where: { $0.id == id }) {
            throw DeviceError.noRecording(id, name)
        }
        var rows: [AccuracyRow] = []
        var engines: [String: Accuracy] = [:]
        for summary in recordings where requested.isEmpty || requested.contains(summary.id) {
            for measuredPass in try await archive.measuredPasses(of: summary.id) {
                let (pass, accuracy) = (measuredPass.pass, measuredPass.accuracy)
                let engine = "\(pass.engine.name) \(pass.profile)"
                engines[engine] = (engines[engine] ?? Accuracy()) + accuracy
                var row = AccuracyRow(recording: summary.id, engine: pass.engine, accuracy)
                (row.started, row.pass, row.profile) = (wallTime(summary.startedAt), measuredPass.number, pass.profile)
                rows.append(row)
            }
        }
        let bins = engines.sorted { $0.key < $1.key }.flatMap { engine, accuracy in
            accuracy.bins.enumerated().map { index, bin in
                BinRow(
                    engine: engine, from: Double(index) / 4, to: Double(index + 1) / 4, words: bin.words,
                    right: bin.right)
            }
        }
        if arguments[.json] {
            return try Terminal.print(jsonText(Report(recordings: rows, confidence: bins)))
        }
        if rows.isEmpty { return Terminal.say("no recording has been corrected yet; see fieldscribe import --help") }
        for row in rows {
            try Terminal.print(
                "\(row.recording)  \(row.started ?? "")  \(row.engine.name) \(row.profile ?? "")  "
                    + "\(row.percent) to \(row.heardPercent) % of the words are wrong\n")
        }
        for (engine, accuracy) in engines.sorted(by: { $0.key < $1.key }) {
            try Terminal.print(
                "\(engine): \(accuracy.whole.roundedPercent) to \(accuracy.checked.roundedPercent) % wrong; "
                    + "right words by confidence: \(Self.rightWords(accuracy.bins))\n")
        }
    }

    private static func rightWords(_ bins: [Accuracy.Bin]) -> String {
        let confidences = ["0-25", "25-50", "50-75", "75-100"]
        return zip(confidences, bins).filter { $1.words > 0 }.map { confidence, bin in
            "\(Int(nearest: 100 * Double(bin.right) / Double(bin.words))) % (\(confidence) %)"
        }.joined(separator: ", ")
    }
}
