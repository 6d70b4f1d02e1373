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
        "--no-transcribe", "add only; the appliance or fieldscribe recover transcribes later")
    static let help: [any HelpPart] = [
        Argument(
            "FILE...",
            "an audio file, for example from a phone, in any format that fieldscribe transcribe reads; - for standard input",
            .files), addOnly, TranscribeCommand.channels, TranscribeCommand.track, Option.directory, Option.engine,
        """
        Each file becomes a recording, which is transcribed, exported, corrected, sealed and deleted like any other. Its
        title is the file's name. Its start time comes from the file's metadata; if there is none, it is the time of the
        last change minus the length, and fieldscribe list shows a question mark.
        """,
        """
        The file itself is kept, byte for byte, beside the recording's 16 kHz sound, for example as original.m4a, and
        every copy includes it. It cannot be partly redacted: the first redaction erases the whole file. A file that is
        already in the archive is not added again.
        """,
        """
        Exit status: 0 all files are in the archive; 1, 3 or 4 for the first file that is not; 4 also if only the
        readable part of a damaged file was added.
        """,
    ]

    static func run(_ arguments: Arguments) async throws {
        guard !arguments.rest.isEmpty else { throw arguments.usage("give at least one file") }
        let configuration = try arguments.archiveConfiguration()
        let track = arguments[TranscribeCommand.track] ?? .automatic
        let channels =
            arguments[TranscribeCommand.channels] ?? (track == .all ? 2 : configuration.capture.recordedChannels)
        let owner = try ArchiveOwner(of: configuration.storage.directory)
        Interrupts.exitOnRequest(printing: "fieldscribe: interrupted; added files are kept")
        let adder = FileAdder(
            storage: configuration.storage.directory, reserve: configuration.reserve, channels: channels, track: track)
        var batch = try await owner.act { try await FileBatch(configuration, owner: owner, adder: adder) }
        var status: Int32 = 0
        for path in arguments.rest {
            let fileStatus = try await batch.add(path)
            if status == 0 { status = fileStatus }
        }
        if case .direct(let archive) = batch.archive, !batch.addedRecordings.isEmpty, !arguments[addOnly] {
            try owner.switchToOwner()
            _ = try await RecoverCommand.transcribe(configuration, archive: archive, isQuiet: false)
            if configuration.recognizer.speakers != .no {
                _ = try await PostDiarization(configuration: configuration, archive: archive).run(isQuiet: false)
            }
        }
        if status != 0 { throw ExitError(status: status) }
    }
}

/// Adds the files of one command to the archive, one by one.
private struct FileBatch {
    let owner: ArchiveOwner
    let adder: FileAdder
    let storage: String
    let archive: ArchiveConnection.Mode
    private let history: [HistoryEntry]
    /// The recordings that were added, by the SHA-256 of their files.
    private(set) var addedRecordings: [String: Int] = [:]

    /// The maximum wait for another command that has the archive open. That command may be transcribing.
    private static let timeout = Duration.seconds(3_600)

    /// Opens the archive, or creates it, unless the appliance has it open.
    init(_ configuration: Configuration, owner: ArchiveOwner, adder: FileAdder) async throws {
        (self.owner, self.adder, storage) = (owner, adder, configuration.storage.directory)
        archive = try await Self.open(configuration)
        history = try await archive.archive.history(of: nil).map(\.entry)
    }

    /// Opens the archive. If another command has it open, waits for that command.
    ///
    /// - Throws: `DeviceError` with `busy` if the other command is not done in time.
    private static func open(_ configuration: Configuration) async throws -> ArchiveConnection.Mode {
        let storage = configuration.storage.directory
        let remote = RemoteArchive(configuration, directory: storage)
        let deadline = ContinuousClock.now + timeout
        var isWaiting = false
        while true {
            if (try? await remote.isAvailable) ?? false { return .appliance(remote) }
            do {
                let opened = try await Recovery.open(configuration, depth: .start, within: .seconds(2))
                for finding in opened.findings { Terminal.say("fieldscribe: \(finding.line)") }
                return .direct(opened.archive)
            } catch let error as DeviceError where error.code == .busy && ContinuousClock.now < deadline {
                if !isWaiting {
                    Terminal.say(
                        "fieldscribe: \(storage): another fieldscribe is using this archive; waiting up to an hour for it. Press "
                            + "Ctrl-C to give up")
                }
                isWaiting = true
            }
            try await Task.sleep(for: .milliseconds(200))
        }
    }

    /// Adds one file and prints the result; returns its exit status.
    mutating func add(_ path: String) async throws -> Int32 {
        let name = path == "-" ? "standard input" : oneLine(path)
        let (prepared, id): (FileAdder.Prepared, Int?)
        do {
            // Opened with the user's rights, not the archive owner's.
            let input = try InputFile(path)
            (prepared, id) = try await owner.act { try await prepareAndAdd(input, named: name) }
        } catch let error as DeviceError {
            TerminalStatusLine.clear()
            let message = oneLine(error.message)
            Terminal.say("fieldscribe: \(message.hasPrefix(name) ? message : "\(name): \(message)")")
            return error.exitStatus
        }
        TerminalStatusLine.clear()
        guard let id else {
            Terminal.say("fieldscribe: \(AddedFile.duplicateError(prepared.existingRecording ?? 0, name).message)")
            return 0
        }
        addedRecordings[prepared.file.digest] = id
        try Terminal.print("recording \(id): \(name), \(RecordingScreen.clock(prepared.file.length))\n")
        for note in prepared.report.notes { Terminal.say("fieldscribe: \(name): \(note)") }
        guard let damage = prepared.report.damage else { return 0 }
        Terminal.say("fieldscribe: \(name): \(damage); the readable part was added")
        return 4
    }

    /// - Returns: the prepared file, and the number of the new recording; nil if the archive already has the file.
    private func prepareAndAdd(_ input: InputFile, named name: String) async throws -> (FileAdder.Prepared, Int?) {
        let bar = TaskProgressBar("adding \(name)")
        let prepared = try await adder.prepare(
            input, named: oneLine(input.name),
            existingRecording: { [addedRecordings, history] in
                addedRecordings[$0] ?? history.recording(addedFrom: $0)
            },
            progress: bar.update)
        if prepared.existingRecording != nil { return (prepared, nil) }
        switch archive {
        case .direct(let archive):
            return (prepared, try await FileAdder.add(prepared.folder, in: storage, to: archive))
        case .appliance(let archive): return (prepared, try await archive.add(prepared: prepared.folder))
        case .readOnly: throw ArchiveConnection.Mode.readOnlyError(storage, AddCommand.name)
        }
    }
}
