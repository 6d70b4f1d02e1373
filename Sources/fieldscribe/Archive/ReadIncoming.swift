import Core
import Settings
import System
import Transcripts

/// The confined process that reads files which people bring. It is not a `Command`, because those run beside other threads.
enum ReadIncoming {
    /// Reads standard input, writes the answer, and returns the exit status.
    ///
    /// - Parameter words: a kind of file, `--name=NAME` of a file that people bring, `--config=FILE` for settings.
    static func run(_ words: ArraySlice<String>) -> Int32 {
        do {
            let words = try OptionWords(
                Array(words), of: ConfinedProcess.command, in: "fieldscribe", options: (["--name", "--config"], []))
            try words.expect(1, "the kind of file")
            if let kind = IncomingFile.Kind(rawValue: words.rest[0]) {
                let name = words["--name"] ?? "standard input"
                try ConfinedProcess.serve { IncomingFile.answer(to: $0, as: kind, name: name) }
            } else if let kind = StickSettings.Kind(rawValue: words.rest[0]) {
                let configuration = try Configuration.loadOwn(
                    explicitPath: words["--config"], environment: Arguments.environment)
                try ConfinedProcess.serve { kind.answer(to: $0, over: configuration) }
            } else {
                throw words.usage("\(words.rest[0]): no such kind of file")
            }
            return 0
        } catch {
            Terminal.say("fieldscribe: \(error)")
            return 1
        }
    }
}
