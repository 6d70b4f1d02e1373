import Appliance
import Audio
import Copying
import Core
import Glibc
import Settings
import System

/// Plans and fills the drive for laptops. The drive's systemd unit runs this command and does what needs root.
enum DriveCommand: Command {
    static let name = "drive"
    static let summary = "Plan or fill the drive for laptops."
    private static let target = Option("--to", "DIR", "where the drive's file system is mounted", .folders)
    static let help: [any HelpPart] = [
        Argument("plan", "print the next step in three lines: step=, bytes= and directory="),
        Argument("fill", "copy to the folder given with --to"), target,
    ]

    static func run(_ arguments: Arguments) async throws {
        let configuration = try arguments.configuration()
        switch (arguments.rest, arguments[target]) {
        case (["plan"], nil): try await printPlan(configuration)
        case (["fill"], let target?): try await fill(configuration, to: target)
        default: throw UsageError("drive: choose plan, or fill --to DIR")
        }
    }

    /// The name of the drive's image in the ledger.
    private static let volume = "drive"

    private static func printPlan(_ configuration: Configuration) async throws {
        let directory = configuration.storage.directory
        var step = "off"
        var bytes: Int64 = 0
        if configuration.usb.drive {
            do {
                let plan = try await DrivePlan(configuration)
                bytes = try DrivePlan.imageBytes(configuration)
                step = plan.step.rawValue
                if plan.step == .full {
                    Terminal.say("the card has no space for the drive beyond the reserve for recordings")
                }
            } catch let error as DeviceError {
                // If the appliance is not running, the plan is unknown and the drive is left as it is.
                step = error.code == .disconnected ? "wait" : "refused"
                if step == "refused" { Terminal.say("fieldscribe: \(error.message)") }
            }
        }
        try Terminal.print("step=\(step)\nbytes=\(bytes)\ndirectory=\(directory)\n")
    }

    private static func fill(_ configuration: Configuration, to target: String) async throws {
        guard configuration.usb.drive else {
            throw DeviceError(.denied, "drive", on: "usb.drive", "is no", remedy: "set it to yes")
        }
        let plan = try await DrivePlan(configuration)
        let folder = plan.folder
        // Unless the last fill was completed, removes the ledger, so that all readable copies are verified again.
        if plan.imageContents?.isFinished != true, !plan.contents.isSealed { unlink(folder.ledger) }
        // Records that the image is unfinished, and whether its copies are encrypted.
        var contents = plan.contents
        contents.isFinished = false
        contents.marks = plan.imageContents?.marks ?? [:]
        try durableReplace(path: folder.contents, with: contents.text)

        let reserve = configuration.reserve
        let report = try await ExportCommand.copy(
            of: plan.archive, ledger: try DriveLedger(path: folder.ledger), in: configuration.storage.directory,
            configuration: configuration, volume: volume
        ) { export in
            export.omittedCount = plan.omittedCount
            export.recipients = try DrivePlan.recipients(for: configuration).map { .success($0) }
            let shouldStop = export.shouldStop
            export.shouldStop = {
                shouldStop() || ((try? reserve.freeBytes()).map { plan.space(free: $0).isShort } ?? false)
            }
            return try await export.fillDrive(plan.recordings, at: target)
        }
        for failure in report.failures {
            Terminal.say("fieldscribe: recording \(failure.recording): \(failure.error.message)")
        }
        if let error = report.listsError { throw error }
        // RESULT.txt on the drive lists errors that concern only one recording. After any other error, the image is
        // unusable.
        if let failure = report.failures.first(where: { !concernsRecording($0.error) }) {
            Terminal.say("fieldscribe: the drive is not complete")
            throw ExitError(status: failure.error.exitStatus)
        }
        guard pathExists(folder.contents) else {
            throw DeviceError(.busy, "drive", "a recording was redacted meanwhile, so the drive will be rebuilt")
        }
        contents.marks = plan.contents.marks
        contents.isFinished = true
        try durableReplace(path: folder.contents, with: contents.text)
        Terminal.say(
            "recordings copied to the drive: \(report.copied.count); already there: \(report.keptCopies.count)"
                + (plan.omittedCount > 0 ? "; did not fit: \(plan.omittedCount)" : ""))
    }

    /// Whether an error concerns only one recording, which was erased, is damaged, or is too long for FAT.
    private static func concernsRecording(_ error: DeviceError) -> Bool {
        error.code == .missing || error.status == EFBIG || error.cause == .damagedAudio
    }
}
