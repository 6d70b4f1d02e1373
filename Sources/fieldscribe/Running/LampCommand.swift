import Appliance
import Core
import System

/// Tells the appliance what the lamp should show about a copy, a card or a laptop. systemd units run this command.
enum LampCommand: Command {
    static let name = "lamp"
    static let summary = "Show a copy's progress on the lamp."
    static let help: [any HelpPart] = [
        Argument("exporting", "quick double blinks: leave the stick in"),
        Argument("finished", "steady for 3 s: safe to unplug"),
        Argument("failed", "fast blinking until a press acknowledges it"),
        Argument("locked", "fast blinking: the stick was not ejected in Windows"),
        Argument("card", "fast blinking: RESULT.txt on the card says what is wrong"),
        Argument("refused", "three blinks, repeated for 6 s: nothing is copied to this stick"),
        Argument("laptop", "two short blinks every 3 s while idle: a laptop sees the drive"),
        Argument("no-laptop", "no laptop sees the drive"),
    ]

    private static let states: [String: (state: Event.ExportState, message: String)] = [
        "exporting": (.started, "copying to a stick; leave it in"),
        "finished": (.finished, "everything is on the stick; it is safe to unplug"),
        "card": (.failed, "the card or its fieldscribe.txt is faulty; RESULT.txt beside it says why"),
        "refused": (.refused, "nothing is copied to this stick; journalctl -t fieldscribe-export says why"),
        "locked": (
            .failed,
            "nothing was copied: the stick was not ejected in Windows; eject it there, or run fieldscribe stick repair"
        ),
        "failed": (.failed, "not everything was copied to the stick; the next copy continues"),
    ]

    static func run(_ arguments: Arguments) async throws {
        if arguments.rest == ["laptop"] || arguments.rest == ["no-laptop"] {
            _ = try arguments.appliance().ask(.laptop(isConnected: arguments.rest == ["laptop"]))
            return
        }
        guard arguments.rest.count == 1, let (state, message) = arguments.rest.first.flatMap({ states[$0] }) else {
            throw UsageError("lamp: choose exporting, finished, failed, locked, refused, card, laptop or no-laptop")
        }
        _ = try arguments.appliance().ask(.exporting(state, message: message))
    }
}
