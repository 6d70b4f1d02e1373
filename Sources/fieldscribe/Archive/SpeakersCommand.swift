import Archive
import Core
import Maintenance
import Settings
import System
import Transcripts

enum SpeakersCommand: Command {
    static let name = "speakers"
    static let summary = "Identify speakers again; manage saved voices."
    static let usage = "ID... [--speakers S] [--directory DIR] | remembered | forget [NAME...]"
    static let details = """
        Identifies the speakers of transcribed recordings again, by the louder of two channels or by their voices, and
        replaces the previous result; the next copy has it. The appliance does this once for each recording. Use this
        command for another number of people or another model, while the appliance is not running. Names stay with their
        letters: check whether they still fit.

          ID                 numbers, as fieldscribe list shows them
          --speakers S       auto or the number of people, 1 to 12; default recognizer.speakers, or auto if that is no
          --directory DIR    the archive; default storage.directory

        With speakers.remember = yes, the recorder saves the voices of people who are named on a recording's page, and
        proposes their names in recordings without names.

          remembered         list the saved voices, the recordings they come from, and where they are proposed
          forget             erase all saved voices, or those of the given names; the present recordings are not used for
                             them again. If a name is unknown, nothing is erased
        """
    static let options = (values: ["--speakers", "--directory"], flags: [String]())

    static func run(_ arguments: Arguments) async throws {
        switch arguments.rest.first {
        case "remembered": return try remembered(arguments)
        case "forget": return try forget(arguments)
        default: break
        }
        let ids = try arguments.rest.map { try ArchivePlace.number($0, for: name) }
        guard !ids.isEmpty else { throw UsageError("speakers: name the recordings; see fieldscribe speakers --help") }
        var configuration = try arguments.configuration().with(directory: arguments["--directory"])
        if let asked = arguments["--speakers"] {
            guard let speakers = Configuration.Recognizer.Speakers(asked), speakers != .no else {
                throw UsageError("speakers: --speakers \(asked): not a number of people; allowed: auto or 1 to 12")
            }
            configuration.recognizer.speakers = speakers
        } else if configuration.recognizer.speakers == .no {
            configuration.recognizer.speakers = .automatic
        }
        let place = try await ArchivePlace(arguments)
        let archive: SQLiteArchive
        switch place.owner {
        case .us(let own): archive = own
        case .appliance:
            throw DeviceError(
                .busy, name, "the appliance is running, and identifies speakers itself",
                remedy: "stop it first: sudo systemctl stop fieldscribe")
        case .nobody: throw ArchivePlace.Owner.denied(place.directory, name)
        }
        let known = Dictionary(try await archive.recordings().map { ($0.id, $0) }) { first, _ in first }
        var recordings: [RecordingSummary] = []
        for id in ids {
            guard let recording = known[id] else { throw DeviceError.noRecording(id, name) }
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
        let telling = DiarizationJob(configuration: configuration, archive: archive, hub: hub)
        let told = try await telling.run(recordings)
        hub.finish()
        // The letters may mean other people now, so the saved voices of these recordings are dropped.
        for (id, _) in told { try VoiceprintStore.drop(id, in: configuration.storage.directory) }
        for (id, _) in told {
            try Terminal.print("\(id)  \(try await PostDiarization.people(of: id, in: archive))\n")
        }
        for await case .fault(_, let message) in faults { Terminal.say("fieldscribe: \(message)") }
        if told.count < recordings.count { throw Ending(status: 1) }
    }

    private static func remembered(_ arguments: Arguments) throws {
        try arguments.expect(1, "nothing else")
        let storage = try owned(arguments)
        let known = try VoiceprintStore(in: storage)
        for name in Set(known.voices.map(\.name)).sorted() {
            let own = known.voices.filter { $0.name == name }.map { "\($0.recording) (\($0.label))" }
            try Terminal.print("\(oneLine(name)): recordings \(own.joined(separator: ", "))\n")
        }
        for (id, names) in known.proposals.sorted(by: { $0.key < $1.key }) {
            for (label, name) in names.sorted(by: { $0.key < $1.key }) {
                try Terminal.print("recording \(id): \(label) may be \(oneLine(name))\n")
            }
        }
        if known.voices.isEmpty { Terminal.say("no voices are saved in \(storage)") }
    }

    private static func forget(_ arguments: Arguments) throws {
        let names = Array(arguments.rest.dropFirst())
        let storage = try owned(arguments)
        // Each recording has a folder, and numbers only grow.
        let last = ((try? Folder(opening: "\(storage)/recordings", crosses: true).names()) ?? []).compactMap { Int($0) }
            .max()
        let count =
            names.isEmpty
            ? try VoiceprintStore.forgetAll(upTo: last ?? 0, in: storage)
            : try VoiceprintStore.forget(names, upTo: last ?? 0, in: storage)
        Terminal.say(count == 1 ? "erased 1 voice" : "erased \(count) voices")
    }

    /// The archive's folder. The process becomes its owner.
    private static func owned(_ arguments: Arguments) throws -> String {
        let storage = try arguments.configuration().with(directory: arguments["--directory"]).storage.directory
        let holder = try ArchiveOwner(of: storage)
        guard holder.canBe else { throw ArchivePlace.Owner.denied(storage, name) }
        try holder.become()
        return storage
    }
}
