import Appliance
import Archive
import Audio
import Core
import Maintenance
import Settings
import System
import Transcripts

enum AddCommand: Command {
    static let name = "add"
    static let summary = "Add audio files to the archive."
    private static let addOnly = Option.flag(
        "--no-transcribe", "add only; the appliance, or fieldscribe recover, transcribes")
    static let help: [any HelpPart] = [
        Argument(
            "FILE...",
            "a phone's or another recorder's file, of any kind that fieldscribe transcribe reads; - is standard input",
            .files), addOnly, TranscribeCommand.channels, TranscribeCommand.track, Option.directory, Option.engine,
        """
        Each file becomes a recording, which is transcribed, exported, corrected, sealed and deleted like any other. Its
        title is the file's name. Its start is in the file's metadata; without one, it is the time of the file's last
        change minus its length, which fieldscribe list marks with a question mark.
        """,
        """
        The file itself is kept, byte for byte, beside the recording's 16 kHz sound, for example as original.m4a, and
        every copy has it. It cannot be redacted in part: the first redaction erases it as a whole. A file that is
        already in the archive is not added again.
        """,
        """
        Exit status: 0 all files are in the archive; 1, 3 or 4 that of the first file that is not; 4 also if the
        readable part of a damaged file was added.
        """,
    ]

    static func run(_ arguments: Arguments) async throws {
        guard !arguments.rest.isEmpty else { throw arguments.usage("name a file") }
        let configuration = try arguments.archiveConfiguration()
        let track = arguments[TranscribeCommand.track] ?? .automatic
        let channels =
            arguments[TranscribeCommand.channels] ?? (track == .all ? 2 : configuration.capture.kept)
        let owner = try ArchiveOwner(of: configuration.storage.directory)
        Interrupts.handle(saying: "fieldscribe: interrupted; added files are kept")
        let adding = FileAdding(
            storage: configuration.storage.directory, reserve: configuration.reserve, channels: channels, track: track)
        var batch = try await owner.act { try await AddedBatch(configuration, owner: owner, adding: adding) }
        var status: Int32 = 0
        for path in arguments.rest {
            let ended = try await batch.add(path)
            if status == 0 { status = ended }
        }
        if case .us(let archive) = batch.archive, !batch.added.isEmpty, !arguments[addOnly] {
            try owner.switchToOwner()
            _ = try await RecoverCommand.transcribe(configuration, archive: archive, isQuiet: false)
            if configuration.recognizer.speakers != .no {
                _ = try await PostDiarization(configuration: configuration, archive: archive).run(isQuiet: false)
            }
        }
        if status != 0 { throw ExitError(status: status) }
    }
}

/// The files of one command, added one after the other.
private struct AddedBatch {
    let owner: ArchiveOwner
    let adding: FileAdding
    let storage: String
    let archive: ArchivePlace.Owner
    private let history: [HistoryEntry]
    /// The recordings that were added, by the SHA-256 of their files.
    private(set) var added: [String: Int] = [:]

    /// How long to wait for another command that has the archive open, which may be transcribing.
    private static let timeout = Duration.seconds(3_600)

    /// Opens the archive, or creates it, unless the appliance has it.
    init(_ configuration: Configuration, owner: ArchiveOwner, adding: FileAdding) async throws {
        (self.owner, self.adding, storage) = (owner, adding, configuration.storage.directory)
        archive = try await Self.open(configuration)
        history = try await archive.archive.history(of: nil).map(\.entry)
    }

    /// Waits for another command that has the archive open.
    ///
    /// - Throws: `DeviceError` with `busy` if the other command is not done in time.
    private static func open(_ configuration: Configuration) async throws -> ArchivePlace.Owner {
        let storage = configuration.storage.directory
        let remote = RemoteArchive(configuration, directory: storage)
        let deadline = ContinuousClock.now + timeout
        var isWaiting = false
        while true {
            if (try? await remote.answers) ?? false { return .appliance(remote) }
            do {
                let opened = try await Recovery.open(configuration, depth: .start, within: .seconds(2))
                for finding in opened.findings { Terminal.say("fieldscribe: \(finding.line)") }
                return .us(opened.archive)
            } catch let error as DeviceError where error.code == .busy && ContinuousClock.now < deadline {
                if !isWaiting {
                    Terminal.say(
                        "fieldscribe: \(storage): another fieldscribe is using this archive; waiting for it, for an hour at "
                            + "most. Press Ctrl-C to give up")
                }
                isWaiting = true
            }
            try await Task.sleep(for: .milliseconds(200))
        }
    }

    /// Adds one file and prints the result; returns its exit status.
    mutating func add(_ path: String) async throws -> Int32 {
        let name = path == "-" ? "standard input" : oneLine(path)
        let (prepared, id): (FileAdding.Prepared, Int?)
        do {
            // Opened with the user's rights, not the archive owner's.
            let given = try GivenFile(path)
            (prepared, id) = try await owner.act { try await take(given, named: name) }
        } catch let error as DeviceError {
            TerminalStatusLine.clear()
            let message = oneLine(error.message)
            Terminal.say("fieldscribe: \(message.hasPrefix(name) ? message : "\(name): \(message)")")
            return error.exitStatus
        }
        TerminalStatusLine.clear()
        guard let id else {
            Terminal.say("fieldscribe: \(AddedFile.known(prepared.known ?? 0, name).message)")
            return 0
        }
        added[prepared.file.digest] = id
        try Terminal.print("recording \(id): \(name), \(RecordingScreen.clock(prepared.file.length))\n")
        for note in prepared.report.notes { Terminal.say("fieldscribe: \(name): \(note)") }
        guard let damage = prepared.report.damage else { return 0 }
        Terminal.say("fieldscribe: \(name): \(damage); the readable part was added")
        return 4
    }

    /// - Returns: the prepared file, and the new recording; nil if the file was added before.
    private func take(_ given: GivenFile, named name: String) async throws -> (FileAdding.Prepared, Int?) {
        let bar = ShareBar("adding \(name)")
        let prepared = try await adding.prepare(
            given, named: oneLine(given.name),
            known: { [added, history] in added[$0] ?? history.recording(addedFrom: $0) }, progress: bar.reached)
        if prepared.known != nil { return (prepared, nil) }
        switch archive {
        case .us(let archive): return (prepared, try await FileAdding.add(prepared.folder, in: storage, to: archive))
        case .appliance(let archive): return (prepared, try await archive.add(prepared: prepared.folder))
        case .nobody: throw ArchivePlace.Owner.denied(storage, AddCommand.name)
        }
    }
}
