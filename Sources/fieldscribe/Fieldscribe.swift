import Core
import Settings
import System
import Transcripts

@main struct Fieldscribe {
    private static var program: Program {
        Program(
            "fieldscribe", "fieldscribe records speech and transcribes it, entirely on this machine.",
            groups: [
                (
                    "Record",
                    [
                        RecordCommand.self, StartCommand.self, StopCommand.self, ToggleCommand.self, PauseCommand.self,
                        ResumeCommand.self, MarkCommand.self, StatusCommand.self, WatchCommand.self,
                        TranscribeCommand.self, AddCommand.self,
                    ]
                ),
                (
                    "Read",
                    [
                        ListCommand.self, ShowCommand.self, SearchCommand.self, ReviewCommand.self,
                        SpeakersCommand.self,
                        AccuracyCommand.self, HistoryCommand.self,
                    ]
                ),
                ("Share", [ExportCommand.self, ImportCommand.self]),
                (
                    "Protect",
                    [
                        RedactCommand.self, DeleteCommand.self, VerifyCommand.self, RecoverCommand.self,
                        SealCommand.self,
                        OpenCommand.self, LockCommand.self, RecipientsCommand.self, StickCommand.self,
                    ]
                ),
                (
                    "Set up",
                    [
                        DemoCommand.self, DoctorCommand.self, CalibrateCommand.self, ModelsCommand.self,
                        VocabularyCommand.self, RunCommand.self,
                    ]
                ),
            ],
            hidden: [
                LampCommand.self, DriveCommand.self, CardCommand.self, DecodeWorkerCommand.self, AlignWordsCommand.self,
                TellSpeakersCommand.self,
            ], common: [Option.config], hint: "; fieldscribe doctor checks this machine")
    }

    static func main() {
        if CommandLine.arguments.dropFirst().first == RunCommand.name { Heap.useOneArena() }
        Program.main({ program }, readIncoming: readIncoming)
    }

    /// Parses a user's file, or a stick's settings, in this sandboxed process.
    private static func readIncoming(_ arguments: Arguments) throws {
        let kind = arguments.rest[0]
        if let kind = IncomingFile.Kind(rawValue: kind) {
            let name = arguments[.incomingName] ?? "standard input"
            try SandboxedProcess.serve { IncomingFile.answer(to: $0, as: kind, name: name) }
        } else if let kind = StickSettings.Kind(rawValue: kind) {
            let configuration = try arguments.ownConfiguration()
            try SandboxedProcess.serve { kind.answer(to: $0, over: configuration) }
        } else {
            throw arguments.usage("\(kind): unknown kind of file")
        }
    }
}
