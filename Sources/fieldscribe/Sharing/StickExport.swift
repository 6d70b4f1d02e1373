import Appliance
import Copying
import Core
import Glibc
import Maintenance
import Settings
import System
import Transcripts

/// Copies to a plugged-in stick, after reading its settings, key and corrections.
enum StickExport {
    static func run(_ numbers: [Int]?, to target: String, _ arguments: Arguments) async throws {
        var configuration = try arguments.configuration()
        try StickCommand.admit(target, configuration) { () throws(DeviceError) in
            try PluggedSticks().identity(mountedOn: target)
        }
        if configuration.export.accept == .marked, access("\(target)/Fieldscribe", F_OK) != 0 {
            return Terminal.say("nothing was copied: export.accept is marked, and this stick has no Fieldscribe folder")
        }
        let answer = try await settings(on: target, arguments)
        if answer.hasChanged { configuration = try arguments.configuration() }
        // Notifies the appliance only after the copy: the appliance may then restart, and the copy queries it. An
        // appliance that is not running reads the settings when it starts.
        defer { if answer.hasChanged { _ = try? ControlClient(configuration)?.ask(.settings) } }
        let key = StickKey.open(from: target, configuration)
        for line in key.lines { Terminal.say(line) }
        if let error = key.error {
            // The lamp and the status show the error.
            _ = try? ControlClient(configuration)?.ask(.exporting(.failed, message: error.message))
        }
        if key.isPrivate, StickKey.mustBeSeparate(configuration) {
            try writeKeyStickResult(target, keyLines: key.lines, settingsLines: answer.lines)
            return Terminal.say("nothing is copied to a stick that has a private key")
        }
        let connection = try await ExportCommand.openArchive(arguments, target: target)
        // Imported before copying, so that the copy contains the corrections.
        var archiveConfiguration = configuration
        archiveConfiguration.storage.directory = connection.directory
        let corrections = await StickCorrections.importAll(from: target, connection, archiveConfiguration)
        for line in corrections { Terminal.say(oneLine(line)) }
        let report = try await ExportCommand.copy(
            numbers, of: connection.archive, ledger: connection.ledger, in: connection.directory, to: target,
            configuration: configuration
        ) { export in
            (export.settingsLines, export.keyLines, export.correctionLines) = (answer.lines, key.lines, corrections)
        }
        try ExportCommand.finish(report, target: target)
    }

    /// Reads a stick's settings as the archive's owner, and stores the valid ones. Returns the result for `RESULT.txt`.
    private static func settings(on stick: String, _ arguments: Arguments) async throws -> StickSettings.Outcome {
        let configuration = try arguments.ownConfiguration()
        let outcome = try await ArchiveOwner(of: configuration.storage.directory).act {
            StickSettings.accept(fromStick: stick, over: configuration)
        }
        for line in outcome.lines { Terminal.say(line) }
        return outcome
    }
}
