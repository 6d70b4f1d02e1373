import Audio
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

/// Hidden: the process that compares voices.
enum TellSpeakersCommand: Command {
    static let name = "tell-speakers"
    static let summary = "Find who speaks, segment by segment."
    private static let audio = Option("--audio", "FILE", "the sound", .files, isRequired: true)
    private static let besides = Option("--besides", "FOLDER", "another model's folder", .folders)
    private static let isFile = Option.flag("--any", "the sound is any file, not a recording")
    private static let track = Option.parsed(
        "--track", "N|all", "the audio track", "not a track", parse: SoundTrack.init)
    static let help: [any HelpPart] = [
        "Started by the second pass. One line of JSON for each request and answer: Sources/Maintenance/Reading/DiarizationProcess.swift.",
        audio,
        Option.model, besides, isFile, track,
    ]

    static func run(_ arguments: Arguments) async throws {
        try await DiarizationProcess.serve(
            audio: arguments[audio] ?? "", isFile: arguments[isFile],
            track: arguments[track] ?? .automatic,
            model: SpeakerModel(path: arguments[.model] ?? ""),
            besides: [arguments[besides]].compactMap(\.self))
    }
}
