import Core
import System
import Transcripts

@main struct FieldscribeOffice {
    private static var program: Program {
        Program(
            "fieldscribe-office",
            "fieldscribe-office collects, searches and corrects the recordings of many recorders.",
            groups: [
                ("Collect", [GatherCommand.self, AddCommand.self, ImportCommand.self]),
                (
                    "Read",
                    [
                        ListCommand.self, ShowCommand.self, SearchCommand.self, ReviewCommand.self,
                        AccuracyCommand.self, HistoryCommand.self,
                    ]
                ),
                ("Share", [ServeCommand.self, ExportCommand.self]),
                ("Transcribe", [WorkCommand.self]),
            ])
    }

    static func main() {
        Program.main({ program }) { arguments in
            guard let kind = IncomingFile.Kind(rawValue: arguments.rest[0]) else {
                throw arguments.usage("\(arguments.rest[0]): unknown kind of file")
            }
            try SandboxedProcess.serve {
                IncomingFile.answer(to: $0, as: kind, name: arguments[.incomingName] ?? "")
            }
        }
    }
}
