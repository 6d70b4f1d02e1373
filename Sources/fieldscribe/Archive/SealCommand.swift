import Archive
import Core
import Maintenance
import Settings
import System

enum SealCommand: Command {
    static let name = "seal"
    static let summary = "Encrypt recordings and erase the readable files."
    static let help: [any HelpPart] = [
        """
        Encrypts transcribed recordings with age for the public keys in storage.seal. Sound, text and journal become one
        file, sealed.age, which the recorder cannot open; the readable files are erased. The appliance does this itself
        after a recording's transcription, including a second pass if one is due. Use this command while the appliance
        is not running. You may interrupt the command.
        """,
        Argument.recordings("all that can be sealed"), Option.directory,
    ]

    static func run(_ arguments: Arguments) async throws {
        let ids = try arguments.recordings
        let connection = try await ArchiveConnection(arguments)
        let configuration = try arguments.archiveConfiguration()
        guard try configuration.sealRecipients() != nil else {
            throw DeviceError(
                .unsupported, "seal", on: "storage.seal", "is not set, so nothing is sealed",
                remedy: "set it to the public keys of those who may read the recordings")
        }
        let archive = try connection.writableArchive(for: name, "seals recordings itself")
        let sealing = SealingJob(configuration, archive: archive)
        let waiting = Set(try await sealing.waiting().map(\.id))
        let recordings = Dictionary(try await archive.recordings().map { ($0.id, $0) }) { first, _ in first }
        for id in ids where !waiting.contains(id) {
            guard let recording = recordings[id] else { throw DeviceError.noRecording(id, name) }
            Terminal.say(
                recording.isSealed
                    ? "recording \(id) is already sealed"
                    : "recording \(id) cannot be sealed yet: its text is not complete, or its audio is missing")
        }
        var sealedIDs: [Int] = []
        let failures = try await sealing.run(ids.isEmpty ? nil : ids) { sealedIDs.append($0) }
        for id in sealedIDs { try Terminal.print("sealed: \(id)\n") }
        for (id, error) in failures.sorted(by: { $0.key < $1.key }) {
            Terminal.say("fieldscribe: recording \(id): \(error.message)")
        }
        for finding in try await Erasure(storage: connection.directory, archive: archive).findingsBesideSealed() {
            Terminal.say("\(finding.file): \(finding.message)")
        }
        if let error = failures.min(by: { $0.key < $1.key })?.value { throw ExitError(status: error.exitStatus) }
    }
}
