import Core
import Maintenance
import Recognition
import System

/// Hidden: the process that finds when corrected words were said.
enum AlignWordsCommand: Command {
    static let name = "align-words"
    static let summary = "Find when corrected words were said."
    private static let audio = Option("--audio", "FILE", "the sound", .files, isRequired: true)
    private static let dictionary = Option("--dictionary", "FILE", "the model's dictionary", .files)
    static let help: [any HelpPart] = [
        "Started by fieldscribe import. One line of JSON for each request and answer: Sources/Maintenance/Correcting/WordTimes.swift.",
        audio,
        Option.model, dictionary,
    ]

    static func run(_ arguments: Arguments) async throws {
        let model = PocketSphinxModel(
            folder: arguments[.model] ?? PocketSphinxModel.debian, dictionary: arguments[dictionary])
        try WordTimes.serve(audio: arguments[audio] ?? "", model: model)
    }
}
