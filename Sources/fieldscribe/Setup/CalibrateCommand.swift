import Appliance
import Core
import System

enum CalibrateCommand: Command {
    static let name = "calibrate"
    static let summary = "Measure the room's noise while nobody speaks."
    private static let seconds = Option.number("--seconds", "seconds to listen, 3 to 60", in: 3...60, default: 10)
    static let help: [any HelpPart] = [
        """
        Saves the noise level as speech.threshold-decibels in the configuration file; other lines do not change. Saves
        nothing if somebody speaks meanwhile. To let the recorder adapt to the noise again, set the key to auto.
        """,
        seconds, Option.microphone,
    ]

    static func run(_ arguments: Arguments) async throws {
        let configuration = try arguments.configuration()
        let seconds = arguments[seconds]
        Terminal.say("listening to \(configuration.capture.device) for \(seconds) s; be quiet")
        let bar = TaskProgressBar("listening")
        let calibration = try await Calibration.measure(configuration, seconds: seconds) { bar.update($0) }
        try Terminal.print(
            "noise floor \(ProgressBar.tenths(calibration.floor)) dBFS, threshold \(calibration.threshold) dBFS\n")
        let path: String
        do throws(DeviceError) {
            path = try configuration.save(thresholdDecibels: calibration.threshold)
        } catch {
            Terminal.say("to save it by hand, set threshold-decibels = \(calibration.threshold) in [speech]")
            throw error
        }
        Terminal.say("saved in \(path); the appliance uses it from its next start (systemctl restart fieldscribe)")
    }
}
