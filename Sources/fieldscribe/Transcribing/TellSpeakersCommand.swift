import Audio
import Core
import Maintenance
import Recognition

/// Hidden: the process that looks at voices.
enum TellSpeakersCommand: Command {
    static let name = "tell-speakers"
    static let summary = "Find who speaks, segment by segment."
    static let usage = "--audio FILE --model FOLDER [--besides FOLDER] [--any] [--track N|all]"
    static let details =
        "Started by the second pass. A line of JSON each: Sources/Maintenance/Reading/DiarizationProcess.swift."
    static let options = (values: ["--audio", "--model", "--besides", "--track"], flags: ["--any"])

    static func run(_ arguments: Arguments) async throws {
        try arguments.expect(0, "nothing else")
        try await DiarizationProcess.serve(
            audio: arguments["--audio"] ?? "", isFile: arguments.has("--any"),
            track: arguments["--track"].flatMap(SoundTrack.init) ?? .automatic,
            model: SpeakerModel(path: arguments["--model"] ?? ""),
            besides: [arguments["--besides"]].compactMap(\.self))
    }
}
