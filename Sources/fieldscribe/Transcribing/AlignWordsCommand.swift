import Core
import Maintenance
import Recognition

/// Hidden: the process that finds when corrected words were said.
enum AlignWordsCommand: Command {
    static let name = "align-words"
    static let summary = "Read words from standard input, write when they were said to standard output."
    static let usage = "--audio FILE --model FOLDER [--dictionary FILE]"
    static let details = "Started by fieldscribe import. A line of JSON each: Sources/Upkeep/WordTimes.swift."
    static let options = (values: ["--audio", "--model", "--dictionary"], flags: [String]())
    static let isHidden = true

    static func run(_ arguments: Arguments) async throws {
        try arguments.expect(0, "nothing else")
        let model = PocketSphinxModel(
            folder: arguments["--model"] ?? PocketSphinxModel.debian, dictionary: arguments["--dictionary"])
        try WordTimes.serve(audio: arguments["--audio"] ?? "", model: model)
    }
}
