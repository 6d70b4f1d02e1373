import Archive
import Audio
import Core
import FoundationEssentials
import System

enum ListCommand: Command {
    static let name = "list"
    static let summary = "List the recordings."
    static let help: [any HelpPart] = [
        """
        Times are local; in JSON they are UTC. A question mark after the time means that the clock was not set. A
        recording's title, if it has one, comes before its state.
        """,
        Option.json, Option.directory,
    ]

    private struct Row: Encodable {
        var id: Int
        var start: String
        var title: String?
        var clock: String
        var duration: Double
        var transcribedUpTo: Double
        var microphone: String
        /// Empty while recording.
        var stopReason: String
        /// `recording`, `paused` or `stopping`; nil once the recording has ended.
        var state: String?
        var missing: Bool
        var audio: String
        /// The encrypted file of a sealed recording, which has no audio.
        var sealed: String?
        /// Nil if the clock was set.
        var powerOn: PowerOn?
    }

    static func run(_ arguments: Arguments) async throws {
        let connection = try await ArchiveConnection(arguments)
        // Lists the folders before the rows, because a new recording gets its row before its folder.
        let folders = folders(in: connection.directory)
        let recordings = try await connection.archive.recordings()
        let unlisted = folders.subtracting(recordings.map(\.id)).sorted()
        defer {
            if !unlisted.isEmpty {
                let numbers = unlisted.prefix(10).map(String.init).joined(separator: ", ")
                Terminal.say(
                    "\(connection.directory)/recordings: not in the archive: \(numbers)\(unlisted.count > 10 ? " ..." : "");"
                        + " fieldscribe recover restores them")
            }
        }
        if arguments[.json] {
            let rows = recordings.map { recording in
                let folder = RecordingFolder(storage: connection.directory, recording: recording.id)
                return Row(
                    id: recording.id, start: wallTime(recording.startedAt), title: recording.title,
                    clock: recording.clock.rawValue,
                    duration: (recording.live?.length ?? recording.length).seconds,
                    transcribedUpTo: recording.transcribedUpTo.seconds,
                    microphone: recording.microphone,
                    stopReason: recording.live == nil ? recording.stopReason.rawValue : "",
                    state: recording.live?.state.rawValue, missing: recording.isMissing,
                    audio: folder.audio, sealed: recording.isSealed ? folder.sealed : nil, powerOn: recording.powerOn)
            }
            return try Terminal.print(jsonText(rows))
        }
        if recordings.isEmpty, unlisted.isEmpty { return Terminal.say("no recordings yet in \(connection.directory)") }
        guard let last = recordings.last else { return }
        let table = RecordingTable(numberWidth: max(2, "\(last.id)".count))
        try Terminal.print(styled: "\(table.header, .bold)\n")
        for recording in recordings {
            let row = table.row(recording)
            let lines =
                Terminal.showsOutput
                ? Terminal.wrapped(row, to: Terminal.outputWidth, hanging: table.indentation) : [row]
            for line in lines { try Terminal.print("\(line)\n") }
        }
    }

    /// Returns the numbers of the recording folders; an empty set if they cannot be listed.
    private static func folders(in directory: String) -> Set<Int> {
        let names = try? names(inFolder: "\(directory)/recordings")
        return Set((names ?? []).compactMap { RecordingFolder.recording(named: $0) })
    }
}

func wallTime(_ seconds: Double) -> String { Date(timeIntervalSince1970: seconds.asWallTime).ISO8601Format() }
