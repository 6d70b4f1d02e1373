import Control
import Core

/// Tells the appliance how the copy to a stick goes, for its lamp and for those who watch; the stick's unit calls it.
enum LampCommand: Command {
    static let name = "lamp"
    static let summary = "Tell the appliance how a copy to a stick is going."
    static let usage = "exporting|finished|failed|settings|laptop|no-laptop"
    static let details = """
          exporting          the lamp keeps double-blinking: leave the stick in
          finished           the lamp is steady for 3 s: safe to unplug
          failed             the lamp blinks fast, until a press acknowledges it
          settings           likewise: fieldscribe.txt on the card has errors
          laptop             a short blink every 3 s while nothing else goes on: a laptop sees the drive
          no-laptop          none does any more

        """
    static let options = (values: [String](), flags: [String]())
    static let isHidden = true

    private static let states: [String: (state: Event.ExportState, message: String)] = [
        "exporting": (.started, "copying to a stick; leave it in"),
        "finished": (.finished, "everything is on the stick; it is safe to unplug"),
        "settings": (.failed, "fieldscribe.txt on the card has errors; RESULT.txt beside it lists them"),
        "failed": (.failed, "not everything was copied to the stick; the next one carries on"),
    ]

    static func run(_ arguments: Arguments) async throws {
        if arguments.rest == ["laptop"] || arguments.rest == ["no-laptop"] {
            _ = try RunningAppliance(arguments).ask(.laptop(isConnected: arguments.rest == ["laptop"]))
            return
        }
        guard arguments.rest.count == 1, let (state, message) = arguments.rest.first.flatMap({ states[$0] }) else {
            throw UsageError("lamp: give exporting, finished, failed, settings, laptop or no-laptop")
        }
        _ = try RunningAppliance(arguments).ask(.exporting(state, message: message))
    }
}
