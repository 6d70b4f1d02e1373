import Appliance
import Audio
import Copying
import Core
import Glibc
import Settings
import System
import Transcripts

/// Plans and fills the drive for laptops. The drive's unit runs it, and does what needs root.
enum DriveCommand: Command {
    static let name = "drive"
    static let summary = "Plan or fill the drive for laptops."
    private static let target = Option("--to", "DIR", "where the drive's file system is mounted", .folders)
    static let help: [any HelpPart] = [
        Argument("plan", "print what is to be done, on lines step=, bytes= and directory="),
        Argument("fill", "copy to the folder of --to"), target,
    ]

    static func run(_ arguments: Arguments) async throws {
        let configuration = try arguments.configuration()
        switch (arguments.rest, arguments[target]) {
        case (["plan"], nil): try await plan(configuration)
        case (["fill"], let target?): try await fill(configuration, to: target)
        default: throw UsageError("drive: choose plan, or fill --to DIR")
        }
    }

    /// The image's name in the ledger.
    private static let volume = "drive"

    // Planning

    private static func plan(_ configuration: Configuration) async throws {
        let directory = configuration.storage.directory
        var step = "off"
        var bytes: Int64 = 0
        if configuration.usb.drive {
            do {
                let desk = try await DriveDesk(configuration)
                bytes = try imageBytes(configuration)
                step = desk.step.rawValue
                if desk.step == .full {
                    Terminal.say("the card has no room for the drive besides what is kept for recording")
                }
            } catch let error as DeviceError {
                // Without an appliance the plan is unknown, and everything stays.
                step = error.code == .disconnected ? "wait" : "refused"
                if step == "refused" { Terminal.say("fieldscribe: \(error.message)") }
            }
        }
        try Terminal.print("step=\(step)\nbytes=\(bytes)\ndirectory=\(directory)\n")
    }

    /// The size of a new image: that of its disk, up to FAT's limit. It is sparse.
    private static func imageBytes(_ configuration: Configuration) throws(DeviceError) -> Int64 {
        var status = statvfs()
        guard statvfs(configuration.storage.directory, &status) == 0 else {
            throw .system("statvfs", on: configuration.storage.directory)
        }
        let (bytes, isLong) = Int64(clamping: status.f_blocks).multipliedReportingOverflow(
            by: Int64(clamping: status.f_frsize))
        let most: Int64 = 1 << 40
        return (min(isLong ? most : bytes, most) >> 20) << 20
    }

    // Filling

    private static func fill(_ configuration: Configuration, to target: String) async throws {
        guard configuration.usb.drive else {
            throw DeviceError(.denied, "drive", on: "usb.drive", "is no", remedy: "set it to yes")
        }
        let desk = try await DriveDesk(configuration)
        let folder = desk.folder
        // The ledger knows only finished copies; readable copies are all proved again.
        if desk.held?.isFinished != true, !desk.contents.isSealed { unlink(folder.ledger) }
        // Marks the image as unfinished, with its kind.
        var contents = desk.contents
        contents.isFinished = false
        contents.marks = desk.held?.marks ?? [:]
        try durableReplace(path: folder.contents, with: contents.text)

        let reserve = configuration.reserve
        let report = try await ExportCommand.copy(
            of: desk.archive, ledger: try driveLedger(path: folder.ledger), in: configuration.storage.directory,
            configuration: configuration, volume: volume
        ) { export in
            export.leftOut = desk.leftOut
            export.recipients = try DriveDesk.sealing(configuration).map { .success($0) }
            let stops = export.shouldStop
            export.shouldStop = { stops() || ((try? reserve.freeBytes()).map { desk.room(free: $0).isShort } ?? false) }
            return try await export.fillDrive(desk.wanted, at: target)
        }
        for failure in report.failures {
            Terminal.say("fieldscribe: recording \(failure.recording): \(failure.error.message)")
        }
        if let error = report.listsError { throw error }
        // Errors of single recordings are reported on the drive too; after any other error the image cannot be trusted.
        if let failure = report.failures.first(where: { !concernsRecording($0.error) }) {
            Terminal.say("fieldscribe: the drive is not complete")
            throw Ending(status: failure.error.exitStatus)
        }
        guard isTaken(folder.contents) else {
            throw DeviceError(.busy, "drive", "a recording was redacted meanwhile, so the drive is made again")
        }
        contents.marks = desk.contents.marks
        contents.isFinished = true
        try durableReplace(path: folder.contents, with: contents.text)
        Terminal.say(
            "recordings copied to the drive: \(report.copied.count); there before: \(report.kept.count)"
                + (desk.leftOut > 0 ? "; without room: \(desk.leftOut)" : ""))
    }

    /// Whether an error concerns one recording, not the drive: it was erased meanwhile, is unreadable, or too long
    /// for FAT.
    private static func concernsRecording(_ error: DeviceError) -> Bool {
        error.code == .missing || error.status == EFBIG || error.cause == .damagedAudio
    }
}

/// The state of the drive for planning and filling.
private struct DriveDesk {
    /// The files beside the image.
    struct Folder {
        let storage: String

        private var path: String { "\(storage)/drive" }
        var image: String { "\(path)/image" }
        var contents: String { DriveContents.path(in: storage) }
        var ledger: String { "\(path)/ledger" }
    }

    let archive: RemoteArchive
    let folder: Folder
    let held: DriveContents?
    /// The drive's planned content.
    let contents: DriveContents
    /// The recordings that fit, newest first.
    let wanted: [Int]
    /// The number of recordings that do not fit.
    let leftOut: Int
    let step: DriveStep
    private let image: Int64
    private let reserve: Int64

    /// - Throws: `DeviceError` with `disconnected` without an appliance, `denied` or another if copies are not allowed.
    init(_ configuration: Configuration) async throws {
        let directory = configuration.storage.directory
        let archive = RemoteArchive(configuration, directory: directory)
        guard (try? await archive.answers) ?? false else {
            throw DeviceError(
                .disconnected, "drive", "the appliance is not running; start it: systemctl start fieldscribe")
        }
        let recipients = try Self.sealing(configuration)
        let folder = Folder(storage: directory)
        let reserve = configuration.reserve
        var room = DriveRoom(
            free: try reserve.freeBytes(), held: Self.allocated(folder.image), reserve: reserve.reserveBytes)
        (image, self.reserve) = (room.held, room.reserve)

        let all = try await archive.recordings()
        let ended = all.filter { $0.length > .zero && !$0.isMissing }
        let settings = CopySettings(configuration, volume: "", now: 0)
        let fitting = DriveContents.fitting(ended, in: room.budget) {
            let audio = RecordingFolder(storage: directory, recording: $0.id).audio
            return settings.expectedBytes($0.length, channels: (try? RecordingReader(path: audio))?.channels ?? 1)
        }
        var contents = DriveContents(
            isSealed: recipients != nil, settings: Self.digest(settings, configuration, recipients))
        for recording in fitting {
            let pass = settings.formats.isEmpty ? nil : try await archive.shownPass(of: recording.id)
            contents.marks[recording.id] = DriveContents.mark(of: recording, pass: pass)
        }
        let isThere = FileStatus(folder.image)?.kind == .file
        let held = isThere ? (try? content(ofFile: folder.contents)).flatMap { Self.contents($0) } : nil
        if !isThere { room.held = 0 }
        step = contents.step(from: held, existing: Set(all.map(\.id)), room: room)
        (self.archive, self.folder, self.held, self.contents) = (archive, folder, held, contents)
        (wanted, leftOut) = (fitting.map(\.id), ended.count - fitting.count)
    }

    /// The public keys for the drive. It lies on the recorder's own card, so copies of sealed recordings must not be
    /// readable there.
    static func sealing(_ configuration: Configuration) throws(DeviceError) -> [Recipient]? {
        if let recipients = try configuration.recipients() { return recipients }
        return try configuration.sealers()
    }

    func room(free: Int64) -> DriveRoom { DriveRoom(free: free, held: image, reserve: reserve) }

    private static func contents(_ bytes: [UInt8]) -> DriveContents? {
        DriveContents(String(decoding: bytes, as: UTF8.self))
    }

    /// A digest of all settings that change copies.
    private static func digest(
        _ settings: CopySettings, _ configuration: Configuration, _ recipients: [Recipient]?
    ) -> String {
        let words =
            settings.formats.map(\.rawValue) + [
                settings.audio.rawValue, settings.device.text, configuration.recognizer.punctuation.rawValue,
            ]
        return Digest.of((words + (recipients ?? []).map(\.text)).joined(separator: "\n"))
    }

    /// The bytes that a file occupies on its disk.
    private static func allocated(_ path: String) -> Int64 {
        var status = stat()
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return 0 }
        return Int64(status.st_blocks) * 512
    }
}
