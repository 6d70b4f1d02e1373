import Audio
import Core
import Maintenance
import Recognition
import System

/// The hidden command of the process that finds the times of corrected words.
enum AlignWordsCommand: Command {
    static let name = "align-words"
    static let summary = "Find the times of corrected words."
    private static let audio = Option("--audio", "FILE", "the sound", .files, isRequired: true)
    private static let dictionary = Option("--dictionary", "FILE", "the model's dictionary", .files)
    static let help: [any HelpPart] = [
        "Started by fieldscribe import. One line of JSON per request and response; see Sources/Maintenance/Correcting/WordAligner.swift.",
        audio,
        Option.model, dictionary,
    ]

    static func run(_ arguments: Arguments) async throws {
        let model = PocketSphinxModel(
            folder: arguments[.model] ?? PocketSphinxModel.debian, dictionary: arguments[dictionary])
        try WordAligner.serve(audio: arguments[audio] ?? "", model: model)
    }
}

/// The hidden command of the process that identifies speakers.
enum TellSpeakersCommand: Command {
    static let name = "tell-speakers"
    static let summary = "Find who speaks, segment by segment."
    private static let audio = Option("--audio", "FILE", "the sound", .files, isRequired: true)
    private static let besides = Option("--besides", "FOLDER", "the folder of a second model to use as well", .folders)
    private static let isFile = Option.flag("--any", "the sound is some other file, not a recording")
    private static let track = Option.parsed(
        "--track", "N|all", "the audio track", "not a track", parse: SoundTrack.init)
    static let help: [any HelpPart] = [
        "Started by the other commands. One line of JSON per request and response; see Sources/Maintenance/Reading/DiarizationProcess.swift.",
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
