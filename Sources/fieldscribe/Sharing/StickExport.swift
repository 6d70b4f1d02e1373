import Appliance
import Copying
import Core
import Glibc
import Maintenance
import Settings
import System
import Transcripts

/// Copies to a stick that was plugged in, after reading what it brings: settings, a key and corrections.
enum StickExport {
    static func run(_ numbers: [Int]?, to target: String, _ arguments: Arguments) async throws {
        var configuration = try arguments.configuration()
        try StickCommand.admit(target, configuration) { () throws(DeviceError) in
            try PluggedSticks().identity(mountedOn: target)
        }
        if configuration.export.accept == .marked, access("\(target)/Fieldscribe", F_OK) != 0 {
            return Terminal.say("this stick has no folder Fieldscribe, and export.accept is marked: nothing was copied")
        }
        let answer = try await settings(on: target, arguments)
        if answer.hasChanged { configuration = try arguments.configuration() }
        // Done after the copy, which also queries the appliance. Without an appliance, the next start reads the
        // settings.
        defer { if answer.hasChanged { _ = try? ControlClient(configuration)?.ask(.settings) } }
        let key = StickKey.open(from: target, configuration)
        for line in key.lines { Terminal.say(line) }
        if let error = key.error {
            // The lamp and the status say why.
            _ = try? ControlClient(configuration)?.ask(.exporting(.failed, message: error.message))
        }
        if key.isPrivate, StickKey.keepsApart(configuration) {
            try tellKeyStick(target, key: key.lines, answer: answer.lines)
            return Terminal.say("nothing is copied to a stick that carries a private key")
        }
        let place = try await ExportCommand.place(arguments, besides: target)
        // Before the copy, which then contains them.
        var own = configuration
        own.storage.directory = place.directory
        let corrections = await StickCorrections.importAll(from: target, place, own)
        for line in corrections { Terminal.say(oneLine(line)) }
        let report = try await ExportCommand.copy(
            numbers, of: place.archive, ledger: place.ledger, in: place.directory, to: target,
            configuration: configuration
        ) { export in
            (export.answer, export.key, export.corrections) = (answer.lines, key.lines, corrections)
        }
        try ExportCommand.finish(report, target: target)
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
}
