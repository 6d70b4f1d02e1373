import Appliance
import Core
import Settings
import System

/// Reads the card's settings. The card's image runs this command at each start.
enum CardCommand: Command {
    static let name = "card"
    static let summary = "Apply the settings on a card's first partition."
    private static let source = Option(
        "--from", "FOLDER", "where the partition is mounted; nothing is written there", .folders, isRequired: true)
    private static let target = Option(
        "--to", "FOLDER",
        "receives fieldscribe.conf and RESULT.txt; name, time-zone, rtc, serial-console, upgrade-key and vocabulary.txt, if they are set; and problems, if there are any",
        .folders, isRequired: true)
    private static let blink = Option.flag(
        "--blink", "blink until interrupted: the recorder cannot start from this card")
    static let help: [any HelpPart] = [
        "The image runs this command at each start; see fieldscribe(8).", source, target,
        Form("With --blink, it only shows a fault on the lamp."), blink,
    ]

    static func run(_ arguments: Arguments) async throws {
        if arguments[blink] {
            try FaultLamp.blink(arguments.configuration().panel.lamp)
        }
        guard let from = arguments[source], let to = arguments[target] else {
            throw arguments.usage("give both --from FOLDER and --to FOLDER")
        }
        let vocabularyPath = "\(to)/vocabulary.txt"
        let outcome = CardFolder(from).read(vocabularyAt: vocabularyPath)
        try makeFolder(to, mode: 0o755)
        let settings = outcome.settings
        if let vocabulary = outcome.vocabulary {
            try durableReplace(path: vocabularyPath, with: vocabulary, mode: 0o644)
        }
        let files = [
            ("name", settings.name), ("time-zone", settings.timeZone), ("rtc", settings.rtc),
            ("serial-console", settings.hasSerialConsole ? "yes" : nil),
            ("upgrade-key", settings.upgradeKey),
            ("problems", outcome.problems.isEmpty ? nil : outcome.problems.joined(separator: "\n")),
        ]
        for case (let name, let value?) in files {
            try durableReplace(path: "\(to)/\(name)", with: "\(value)\n", mode: 0o644)
        }
        try durableReplace(path: "\(to)/fieldscribe.conf", with: settings.text, mode: 0o644)
        try durableReplace(path: "\(to)/RESULT.txt", with: outcome.resultText, mode: 0o644)
        for problem in outcome.problems { Log.report(.warning, "card-settings", ["problem": problem]) }
    }
}
