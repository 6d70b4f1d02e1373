import Core
import Maintenance
import Recognition

/// Hidden: the process that finds when corrected words were said.
enum AlignWordsCommand: Command {
    static let name = "align-words"
    static let summary = "Find when corrected words were said."
    static let usage = "--audio FILE --model FOLDER [--dictionary FILE]"
    static let details =
        "Started by fieldscribe import. A line of JSON each: Sources/Maintenance/Correcting/WordTimes.swift."
    static let options = (values: ["--audio", "--model", "--dictionary"], flags: [String]())

    static func run(_ arguments: Arguments) async throws {
        try arguments.expect(0, "nothing else")
        let model = PocketSphinxModel(
            folder: arguments["--model"] ?? PocketSphinxModel.debian, dictionary: arguments["--dictionary"])
        try WordTimes.serve(audio: arguments["--audio"] ?? "", model: model)
    }
}
