import Appliance
import Audio
import Copying
import Core
import Glibc
import Settings
import System

/// Plans and fills the drive for laptops. The drive's unit runs it, and does the work that needs root.
enum DriveCommand: Command {
    static let name = "drive"
    static let summary = "Plan or fill the drive for laptops."
    private static let target = Option("--to", "DIR", "where the drive's file system is mounted", .folders)
    static let help: [any HelpPart] = [
        Argument("plan", "print the next step, on lines step=, bytes= and directory="),
        Argument("fill", "copy to the folder of --to"), target,
    ]

    static func run(_ arguments: Arguments) async throws {
        let configuration = try arguments.configuration()
        switch (arguments.rest, arguments[target]) {
        case (["plan"], nil): try await printPlan(configuration)
        case (["fill"], let target?): try await fill(configuration, to: target)
        default: throw UsageError("drive: choose plan, or fill --to DIR")
        }
    }

    /// The image's name in the ledger.
    private static let volume = "drive"

    // Planning

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
                    Terminal.say("the card has no space for the drive besides the recordings' reserve")
                }
            } catch let error as DeviceError {
                // Without an appliance the plan is unknown, and everything stays.
                step = error.code == .disconnected ? "wait" : "refused"
                if step == "refused" { Terminal.say("fieldscribe: \(error.message)") }
            }
        }
        try Terminal.print("step=\(step)\nbytes=\(bytes)\ndirectory=\(directory)\n")
    }

    // Filling

    private static func fill(_ configuration: Configuration, to target: String) async throws {
        guard configuration.usb.drive else {
            throw DeviceError(.denied, "drive", on: "usb.drive", "is no", remedy: "set it to yes")
        }
        let plan = try await DrivePlan(configuration)
        let folder = plan.folder
        // The ledger lists only finished copies; readable copies are all verified again.
        if plan.held?.isFinished != true, !plan.contents.isSealed { unlink(folder.ledger) }
        // Marks the image as unfinished, with its kind.
        var contents = plan.contents
        contents.isFinished = false
        contents.marks = plan.held?.marks ?? [:]
        try durableReplace(path: folder.contents, with: contents.text)

        let reserve = configuration.reserve
        let report = try await ExportCommand.copy(
            of: plan.archive, ledger: try DriveLedger(path: folder.ledger), in: configuration.storage.directory,
            configuration: configuration, volume: volume
        ) { export in
            export.leftOut = plan.leftOut
            export.recipients = try DrivePlan.recipients(for: configuration).map { .success($0) }
            let stops = export.shouldStop
            export.shouldStop = { stops() || ((try? reserve.freeBytes()).map { plan.room(free: $0).isShort } ?? false) }
            return try await export.fillDrive(plan.wanted, at: target)
        }
        for failure in report.failures {
            Terminal.say("fieldscribe: recording \(failure.recording): \(failure.error.message)")
        }
        if let error = report.listsError { throw error }
        // Errors of single recordings are reported on the drive too; after any other error the image cannot be trusted.
        if let failure = report.failures.first(where: { !concernsRecording($0.error) }) {
            Terminal.say("fieldscribe: the drive is not complete")
            throw ExitError(status: failure.error.exitStatus)
        }
        guard isTaken(folder.contents) else {
            throw DeviceError(.busy, "drive", "a recording was redacted in the meantime, so the drive is made again")
        }
        contents.marks = plan.contents.marks
        contents.isFinished = true
        try durableReplace(path: folder.contents, with: contents.text)
        Terminal.say(
            "recordings copied to the drive: \(report.copied.count); already there: \(report.kept.count)"
                + (plan.leftOut > 0 ? "; does not fit: \(plan.leftOut)" : ""))
    }

    /// Whether an error concerns one recording, not the drive: it was erased, is unreadable, or is too long for FAT.
    private static func concernsRecording(_ error: DeviceError) -> Bool {
        error.code == .missing || error.status == EFBIG || error.cause == .damagedAudio
    }
}
