import Appliance
import Audio
import Copying
import Core
import Glibc
import Maintenance
import Settings
import System
import Transcripts

enum ExportCommand: Command {
    static let name = "export"
    static let summary = "Copy recordings to a folder or USB stick."
    static let usage = "[ID...] --to DIR [--stick] [--directory DIR]"
    static let details = """
          ID                 numbers, as fieldscribe list shows them; default all that the folder lacks
          --to DIR           the folder; recordings go to DIR/Fieldscribe, and DIR/Fieldscribe/index.html lists them
          --stick            treat DIR as a stick that was plugged in: export.sticks and export.accept decide whether to copy
          --directory DIR    the archive; default storage.directory

        Each file is read back and compared.
        """
    static let options = (values: ["--to", "--directory"], flags: ["--stick"])

    static func run(_ arguments: Arguments) async throws {
        guard let target = arguments["--to"] else {
            throw UsageError("export: name a folder with --to DIR; see fieldscribe export --help")
        }
        let numbers = try arguments.rest.map { try ArchivePlace.number($0, for: name) }
        var configuration = try arguments.configuration()
        if arguments.has("--stick") { try StickCommand.admit(.folder(target), configuration) }
        if arguments.has("--stick"), configuration.export.accept == .marked, access("\(target)/Fieldscribe", F_OK) != 0
        {
            return Terminal.say("this stick has no folder Fieldscribe, and export.accept is marked: nothing was copied")
        }
        let answer = arguments.has("--stick") ? try await settings(on: target, arguments) : StickSettings.Outcome()
        if answer.hasChanged { configuration = try arguments.configuration() }
        // After the copy, which asks the appliance itself. Without one, the next start reads the settings.
        defer { if answer.hasChanged { _ = try? ControlClient(configuration)?.ask(.settings) } }
        let key = arguments.has("--stick") ? StickKey.take(from: target, configuration) : StickKey.Outcome()
        for line in key.lines { Terminal.say(line) }
        if let error = key.error {
            // The lamp and the status say why.
            let event = ControlRequest.exporting(.failed, message: error.message)
            _ = try? ControlClient(configuration)?.ask(event)
        }
        if key.isPrivate, StickKey.keepsApart(configuration) {
            try tellKeyStick(target, key: key.lines, answer: answer.lines)
            return Terminal.say("nothing is copied to a stick that carries a private key")
        }
        // Stays root for targets that only root can write.
        let place = try await ArchivePlace(arguments, staysRoot: true)
        try checkIsOutside(target, of: place.directory)
        // Before the copy, which then contains them.
        var own = configuration
        own.storage.directory = place.directory
        let corrections = arguments.has("--stick") ? await StickCorrections.take(from: target, place, own) : []
        for line in corrections { Terminal.say(oneLine(line)) }
        let report = try await copy(
            numbers.isEmpty ? nil : numbers, of: place.archive, ledger: place.ledger, in: place.directory, to: target,
            configuration: configuration, answer: answer.lines, key: key.lines, corrections: corrections)
        try finish(report, target: target)
    }

    /// Refuses a folder among the recordings: copies there would be erased with a recording.
    private static func checkIsOutside(_ target: String, of storage: String) throws(DeviceError) {
        guard let path = try? realPath(target), let recordings = try? realPath("\(storage)/recordings"),
            "\(path)/".hasPrefix("\(recordings)/")
        else { return }
        throw DeviceError(
            .unsupported, "export", on: target, "is among the recordings and would be erased with them",
            remedy: "name a folder outside of \(recordings)")
    }

    /// Reads a stick's settings as the archive's owner and returns the result for `RESULT.txt`.
    private static func settings(on stick: String, _ arguments: Arguments) async throws -> StickSettings.Outcome {
        let own = try arguments.ownConfiguration()
        let outcome = try await ArchiveOwner(of: own.storage.directory).act {
            StickSettings.take(fromStick: stick, over: own)
        }
        for line in outcome.lines { Terminal.say(line) }
        return outcome
    }

    /// Copies with progress on a terminal. After Ctrl-C no incomplete file has its final name.
    ///
    /// - Parameter needsSignature: whether to report that copies are not signed because minisign is not installed.
    static func copy(
        _ numbers: [Int]?, of archive: any ArchiveReading, ledger: (any ExportLedger)?, in directory: String,
        to target: String,
        configuration: Configuration, answer: [String] = [], key: [String] = [], corrections: [String] = [],
        needsSignature: Bool = true
    ) async throws -> CopyReport {
        try await copy(
            of: archive, ledger: ledger, in: directory, configuration: configuration,
            volume: try volumeIdentifier(of: target), needsSignature: needsSignature
        ) { export in
            export.answer = answer
            export.key = key
            export.corrections = corrections
            return try await export.copy(numbers, to: target)
        }
    }

    /// Runs `body` with progress on a terminal; Ctrl-C ends it.
    ///
    /// - Parameters:
    ///   - volume: the target's name in the ledger.
    ///   - needsSignature: whether to report that copies are not signed because minisign is not installed.
    ///   - body: makes the copy.
    static func copy(
        of archive: any ArchiveReading, ledger: (any ExportLedger)?, in directory: String,
        configuration: Configuration, volume: String, needsSignature: Bool = true,
        _ body: (inout FolderExport) async throws -> CopyReport
    ) async throws -> CopyReport {
        let interrupted = StopFlag()
        Interrupts.handle { count in
            if count > 1 { exit(130) }
            interrupted.raise()
        }
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        var export = FolderExport(
            archive: PunctuatedArchive(archive: archive, punctuator: punctuator(configuration)), ledger: ledger,
            settings: CopySettings(configuration, volume: volume, now: Double(now.tv_sec)),
            audioPath: { RecordingFolder(storage: directory, recording: $0).audio })
        // The texts without added punctuation.
        export.readings = { recording, title in
            try await archive.measuredReadings(of: recording).map { measured in
                PlottedReading(
                    recording: recording, title: title, engine: "\(measured.pass.engine.name) \(measured.pass.profile)",
                    whole: measured.accuracy.whole.percent, heard: measured.accuracy.heard.percent)
            }
        }
        do throws(DeviceError) {
            export.recipients = try configuration.recipients().map { .success($0) }
        } catch {
            // `RESULT.txt` says so too.
            export.recipients = .failure(error)
        }
        let signer = await signer(in: directory)
        export.signer = try? signer.get()
        export.progress = showProgress
        export.shouldStop = { interrupted.isRaised }
        defer { TerminalStatusLine.clear() }
        do {
            let report = try await body(&export)
            if !report.copied.isEmpty, let error = signer.whyUnsigned, needsSignature || error.code != .missing {
                Terminal.say("fieldscribe: \(error.message); copies are not signed")
            }
            return report
        } catch let error as DeviceError where error.status == ECANCELED {
            Terminal.say("fieldscribe: \(error.message)")
            throw Ending(status: 130)
        }
    }

    /// The recorder's key, or why copies are not signed.
    private static func signer(in directory: String) async -> Result<RecorderKey, DeviceError> {
        do {
            return .success(try await ArchiveOwner(of: directory).act { try RecorderKey(in: directory) })
        } catch { return .failure(DeviceError(wrapping: error)) }
    }

    /// Without a complete language model, texts are copied without full stops instead of failing.
    private static func punctuator(_ configuration: Configuration) -> Punctuator {
        let isTold = StopFlag()
        return configuration.punctuator { error throws(DeviceError) in
            if isTold.raise() { Terminal.say("fieldscribe: \(error.message); copied without full stops") }
        }
    }

    /// Prints what was copied, and throws the exit status of a failure.
    static func finish(_ report: CopyReport, target: String) throws {
        for copy in report.copied {
            try Terminal.print("\(copy.recording)  \(target)/Fieldscribe/\(copy.folder)\n")
        }
        if report.copied.isEmpty, report.error == nil {
            Terminal.say(
                report.kept.isEmpty
                    ? "there is nothing to copy yet" : "\(target) already has everything, nothing was copied")
        }
        if !report.inClear.isEmpty {
            let numbers = report.inClear.map(String.init).joined(separator: ", ")
            Terminal.say("\(target) has recordings that are not sealed, from earlier copies: \(numbers)")
        }
        for failure in report.failures {
            Terminal.say("fieldscribe: recording \(failure.recording): \(failure.error.message)")
        }
        if let error = report.listsError { Terminal.say("fieldscribe: \(error.message)") }
        if let error = report.error { throw Ending(status: error.exitStatus) }
    }
}

extension Configuration {
    /// Proposed names by recording and speaker; empty if voices are not saved or the file cannot be read.
    var proposedNames: [Int: [String: String]] {
        guard speakers.remember else { return [:] }
        return (try? VoiceprintStore(in: storage.directory))?.proposals ?? [:]
    }
}

extension CopySettings {
    /// The configuration's settings for copies.
    init(_ configuration: Configuration, volume: String, now: Double) {
        self.init(
            formats: configuration.export.formats,
            audio: AudioForm(rawValue: configuration.export.audio.rawValue) ?? .flac, device: .host, volume: volume,
            now: now, identity: machineIdentity,
            pauseSeconds: configuration.export.pauseSeconds, proposals: configuration.proposedNames)
    }
}

/// Shows in the status line which recording is being copied.
@Sendable private func showProgress(_ progress: CopyProgress) {
    let percent = progress.reached.samples * 100 / max(1, progress.length.samples)
    let state = percent < 100 ? "\(percent) %" : "checking"
    TerminalStatusLine.show("  recording \(progress.recording), \(progress.number) of \(progress.count): \(state)")
}
