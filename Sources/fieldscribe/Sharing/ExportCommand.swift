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
    private static let target = Option(
        "--to", "DIR",
        "the folder, created if it is missing; recordings go to DIR/Fieldscribe, and DIR/Fieldscribe/index.html lists them",
        .folders, isRequired: true)
    private static let isStick = Option.flag(
        "--stick",
        "treat DIR as a plugged-in stick: export.sticks and export.accept decide whether to copy, export.settings whether its settings are used"
    )
    static let help: [any HelpPart] = [
        Argument.recordings("all that are not in the folder yet"), target, isStick, Option.directory,
        "Reads each file back and compares it.",
    ]

    static func run(_ arguments: Arguments) async throws {
        guard let target = arguments[target] else { throw arguments.usage("give a folder with --to DIR") }
        let numbers = arguments.rest.isEmpty ? nil : try arguments.recordings
        if arguments[isStick] { return try await StickExport.run(numbers, to: target, arguments) }
        let configuration = try arguments.configuration()
        let connection = try await openArchive(arguments, target: target)
        try makeFolder(target, mode: 0o755)
        let report = try await copy(
            numbers, of: connection.archive, ledger: connection.ledger, in: connection.directory, to: target,
            configuration: configuration)
        try finish(report, target: target)
    }

    /// Opens the archive. The process stays root for targets that only root can write.
    ///
    /// - Throws: `DeviceError` if the target is in the folder of the recordings, where it would be erased with them.
    static func openArchive(_ arguments: Arguments, target: String) async throws -> ArchiveConnection {
        let connection = try await ArchiveConnection(arguments, staysRoot: true)
        guard let path = existingAncestor(of: target),
            let recordings = try? realPath("\(connection.directory)/recordings"),
            "\(path)/".hasPrefix("\(recordings)/")
        else { return connection }
        throw DeviceError(
            .unsupported, "export", on: target, "is in the folder of the recordings and would be erased with them",
            remedy: "choose a folder outside \(recordings)")
    }

    /// Returns the real path of a folder or of its nearest existing ancestor.
    private static func existingAncestor(of path: String) -> String? {
        var candidate = path
        while true {
            if let real = try? realPath(candidate) { return real }
            let parent = folder(of: candidate)
            if parent == candidate { return nil }
            candidate = parent
        }
    }

    /// Copies recordings and shows the progress on a terminal. If interrupted, no incomplete file has its final name.
    ///
    /// - Parameter prepare: changes the export before it begins.
    static func copy(
        _ numbers: [Int]?, of archive: any ArchiveReading, ledger: (any ExportLedger)?, in directory: String,
        to target: String, configuration: Configuration, needsSignature: Bool = true,
        prepare: (inout FolderExport) -> Void = { _ in }
    ) async throws -> CopyReport {
        try await copy(
            of: archive, ledger: ledger, in: directory, configuration: configuration,
            volume: try volumeIdentifier(of: target), needsSignature: needsSignature
        ) { export in
            prepare(&export)
            return try await export.copy(numbers, to: target)
        }
    }

    /// Runs `body` and shows its progress on a terminal; Ctrl-C stops it.
    ///
    /// - Parameters:
    ///   - volume: the target's name in the ledger.
    ///   - needsSignature: whether to report that copies are not signed because minisign is not installed.
    static func copy(
        of archive: any ArchiveReading, ledger: (any ExportLedger)?, in directory: String,
        configuration: Configuration, volume: String, needsSignature: Bool = true,
        _ body: (inout FolderExport) async throws -> CopyReport
    ) async throws -> CopyReport {
        Interrupts.handle { if $0 > 1 { exit(130) } }
        var export = FolderExport(
            archive: archive, ledger: ledger,
            settings: CopySettings(configuration, volume: volume, now: MonotonicClock.wallSeconds.rounded(.down)),
            audioPath: { RecordingFolder(storage: directory, recording: $0).audio })
        export.punctuator = punctuator(configuration)
        export.accuracies = { recording, title in
            try await archive.measuredPasses(of: recording).map { measured in
                PlottedPass(
                    recording: recording, title: title, engine: "\(measured.pass.engine.name) \(measured.pass.profile)",
                    whole: measured.accuracy.whole.percent, checked: measured.accuracy.checked.percent)
            }
        }
        do throws(DeviceError) {
            export.recipients = try configuration.recipients().map { .success($0) }
        } catch {
            // `RESULT.txt` reports this error too.
            export.recipients = .failure(error)
        }
        let signer = await Result.of { try await ArchiveOwner(of: directory).act { try RecorderKey(in: directory) } }
            .mapError(DeviceError.init(wrapping:))
        export.signer = try? signer.get()
        export.progress = showProgress
        export.shouldStop = { Interrupts.isRequested }
        defer { TerminalStatusLine.clear() }
        do {
            let report = try await body(&export)
            if !report.copied.isEmpty, let error = signer.signingError, needsSignature || error.code != .missing {
                Terminal.say("fieldscribe: \(error.message); copies are not signed")
            }
            return report
        } catch let error as DeviceError where error.status == ECANCELED {
            Terminal.say("fieldscribe: \(error.message)")
            throw ExitError(status: 130)
        }
    }

    /// Returns the punctuator for copies. If the language model is incomplete, texts are copied without full stops.
    private static func punctuator(_ configuration: Configuration) -> Punctuator {
        configuration.punctuator { error throws(DeviceError) in
            guard wasReported.raise() else { return }
            Terminal.say("fieldscribe: \(error.message); copied without full stops")
        }
    }

    private static let wasReported = StopFlag()

    /// Prints what was copied, and throws the exit status of a failure.
    static func finish(_ report: CopyReport, target: String) throws {
        for copy in report.copied {
            try Terminal.print("\(copy.recording)  \(target)/Fieldscribe/\(copy.folder)\n")
        }
        if report.copied.isEmpty, report.error == nil {
            Terminal.say(
                report.keptCopies.isEmpty
                    ? "there is nothing to copy yet" : "\(target) already has everything; nothing was copied")
        }
        if !report.unencryptedRecordings.isEmpty {
            let numbers = report.unencryptedRecordings.map(String.init).joined(separator: ", ")
            Terminal.say("\(target) has unencrypted copies from earlier: recordings \(numbers)")
        }
        for failure in report.failures {
            Terminal.say("fieldscribe: recording \(failure.recording): \(failure.error.message)")
        }
        if let error = report.listsError { Terminal.say("fieldscribe: \(error.message)") }
        if let error = report.error { throw ExitError(status: error.exitStatus) }
    }
}

@Sendable private func showProgress(_ progress: CopyProgress) {
    let percent = progress.reached.samples * 100 / max(1, progress.length.samples)
    let state = percent < 100 ? "\(percent) %" : "checking"
    TerminalStatusLine.show("  recording \(progress.recording), \(progress.ordinal) of \(progress.count): \(state)")
}
