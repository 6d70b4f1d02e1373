import Archive
import Core
import Maintenance
import Settings
import System
import Transcripts

enum SpeakersCommand: Command {
    static let name = "speakers"
    static let summary = "Identify speakers again; manage saved voices."
    private static let speakers = Option.parsed(
        "--speakers", "S",
        "auto or the number of people, 1 to 12; default recognizer.speakers, or auto if that is no",
        "not a number of people; allowed: auto or 1 to 12", .words(["auto", "2", "3", "4"])
    ) { text in Configuration.Recognizer.Speakers(text).flatMap { $0 == .no ? nil : $0 } }
    static let help: [any HelpPart] = [
        """
        Identifies the speakers of transcribed recordings again, by the louder of two channels or by their voices, and
        replaces the previous result. The next copy contains the new one. The appliance does this once for each
        recording. Use this command for another number of people or another model, while the appliance is not running.
        Names stay with their speaker letters; check that they still fit.
        """,
        Argument("ID...", "recording numbers, as shown by fieldscribe list", .recordings), speakers, Option.directory,
        Form(
            """
            With speakers.remember = yes, the recorder saves the voices of people who are named on a recording's page, and
            proposes their names in recordings whose speakers have no names.
            """),
        Argument("remembered", "list the saved voices, the recordings they come from, and where they are proposed"),
        Argument(
            "forget [NAME...]",
            "erase all saved voices, or those with the given names; they are not learned again from existing recordings. If a name is unknown, nothing is erased"
        ),
    ]

    static func run(_ arguments: Arguments) async throws {
        switch arguments.rest.first {
        case "remembered": return try listVoices(arguments)
        case "forget": return try forget(arguments)
        default: break
        }
        let ids = try arguments.recordings
        guard !ids.isEmpty else { throw arguments.usage("give at least one recording number") }
        var configuration = try arguments.archiveConfiguration()
        if let speakers = arguments[speakers] {
            configuration.recognizer.speakers = speakers
        } else if configuration.recognizer.speakers == .no {
            configuration.recognizer.speakers = .automatic
        }
        let connection = try await ArchiveConnection(arguments)
        let archive = try connection.writableArchive(
            for: name, "identifies speakers itself", remedy: "stop it first: sudo systemctl stop fieldscribe")
        let summaries = Dictionary(try await archive.recordings().map { ($0.id, $0) }) { first, _ in first }
        var recordings: [RecordingSummary] = []
        for id in ids {
            guard let recording = summaries[id] else { throw DeviceError.noRecording(id, name) }
            guard !recording.isSealed, recording.transcribedUpTo >= recording.length, recording.length > .zero else {
                throw DeviceError(
                    .unsupported, name, on: "recording \(id)",
                    recording.isSealed
                        ? "is sealed: only the private key opens it" : "is not completely transcribed",
                    remedy: recording.isSealed ? nil : "run fieldscribe recover")
            }
            recordings.append(recording)
        }
        let hub = EventHub()
        let faults = hub.events(withPartials: false)
        let diarization = DiarizationJob(
            configuration: configuration, archive: archive, hub: hub, progress: PostDiarization.progress())
        let identified = try await diarization.run(recordings)
        hub.finish()
        TerminalStatusLine.clear()
        for (id, _) in identified {
            try Terminal.print("\(id)  \(try await PostDiarization.people(of: id, in: archive))\n")
        }
        for await case .fault(_, let message) in faults { Terminal.say("fieldscribe: \(message)") }
        if identified.count < recordings.count { throw ExitError(status: 1) }
    }

    private static func listVoices(_ arguments: Arguments) throws {
        try arguments.expect(1, "an action")
        let storage = try switchToOwner(arguments)
        let store = try VoiceprintStore(in: storage)
        for name in Set(store.voices.map(\.name)).sorted() {
            let recordings = store.voices.filter { $0.name == name }.map { "\($0.recording) (\($0.label))" }
            try Terminal.print("\(oneLine(name)): recordings \(recordings.joined(separator: ", "))\n")
        }
        for (id, names) in store.proposals.sorted(by: { $0.key < $1.key }) {
            for (label, name) in names.sorted(by: { $0.key < $1.key }) {
                try Terminal.print("recording \(id): \(label) may be \(oneLine(name))\n")
            }
        }
        if store.voices.isEmpty { Terminal.say("no voices are saved in \(storage)") }
    }

    private static func forget(_ arguments: Arguments) throws {
        let names = Array(arguments.rest.dropFirst())
        let storage = try switchToOwner(arguments)
        // The latest recording has the highest number.
        let folderNames = (try? Folder(opening: "\(storage)/recordings", crossesMounts: true).names()) ?? []
        let last = folderNames.compactMap { Int($0) }.max()
        let count =
            names.isEmpty
            ? try VoiceprintStore.forgetAll(upTo: last ?? 0, in: storage)
            : try VoiceprintStore.forget(names, upTo: last ?? 0, in: storage)
        Terminal.say("erased \(counted(count, "voice", "voices"))")
    }

    /// Switches this process to the archive's owner. Returns the archive's folder.
    private static func switchToOwner(_ arguments: Arguments) throws -> String {
        let storage = try arguments.archiveConfiguration().storage.directory
        let owner = try ArchiveOwner(of: storage)
        guard owner.canActAsOwner else { throw ArchiveConnection.Mode.readOnlyError(storage, name) }
        try owner.switchToOwner()
        return storage
    }
}
