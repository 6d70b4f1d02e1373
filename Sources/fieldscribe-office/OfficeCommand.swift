import Core
import Glibc
import Office
import System

/// A subcommand, in a file of its own.
protocol OfficeCommand {
    static var name: String { get }

    /// One line for the list of commands.
    static var summary: String { get }

    /// What follows the name on the command line.
    static var usage: String { get }

    /// The explanation of arguments and options.
    static var details: String { get }

    /// Options that take a value, and options that take none.
    static var options: (values: [String], flags: [String]) { get }

    static func run(_ words: OptionWords) throws
}

extension OfficeCommand {
    static var help: String {
        """
        \(summary)

        usage: fieldscribe-office \(name) \(usage)

        \(details)

        """
    }
}

/// Opens the archive that a command's options name.
enum ArchiveChoice {
    /// The help for `--archive` and `--files`.
    static let explained = """
          --archive ARCHIVE    a folder or postgresql://...; default $FIELDSCRIBE_ARCHIVE, else fieldscribe-archive in your
                               home folder
          --files FOLDER       for PostgreSQL: the folder with the copies, if it is not where the archive says
        """

    /// Opens the archive.
    ///
    /// - Parameters:
    ///   - option: the option that names it.
    ///   - makes: whether a missing archive is created.
    ///   - seconds: the timeout of a server.
    static func open(
        _ words: OptionWords, _ option: String = "--archive", makes: Bool = false, timeout seconds: Int = 60
    ) throws -> any OfficeArchive {
        guard let path = name(words, option) else { throw words.usage("name an archive with \(option)") }
        guard !path.isEmpty else { throw words.usage("\(option) needs a folder") }
        if OpenedArchive.isAddress(path) {
            return try OpenedArchive.database(path, files: words["--files"], makes: makes, timeout: timeout(seconds))
        }
        guard words["--files"] == nil else { throw words.usage("--files belongs to an archive in PostgreSQL") }
        return try OpenedArchive.folder(
            path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path, makes: makes)
    }

    /// Returns the timeout of a server; waiting prints a line, and ends when a signal asks the process to exit.
    static func timeout(_ seconds: Int = 60) -> ServerTimeout {
        ServerTimeout(
            seconds: seconds, tell: { Terminal.say("fieldscribe-office: \($0)") }, isEnding: { Stop.isWanted })
    }

    /// Returns the archive of the option, of the environment, or in the home folder.
    static func name(_ words: OptionWords, _ option: String) -> String? {
        let named = words[option] ?? environment("FIELDSCRIBE_ARCHIVE")
        return named ?? environment("HOME").map { "\($0)/fieldscribe-archive" }
    }

    private static func environment(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
    }
}

/// The options that select recordings.
enum FilterOptions {
    static let usage = "[--recorder R] [--since DATE] [--until DATE] [--person NAME] [--speaker WHO]"
    static let names = ["--recorder", "--since", "--until", "--person", "--speaker", "--archive", "--files"]
    static let explained = """
          --recorder R         only this recorder: its name, its folder in the archive, or the beginning of its key
          --since DATE         started on or after this day: 2026-11-20, or 2026-11-20T09:30
          --until DATE         started on or before this day, or before this time
          --person NAME        with a participant or speaker whose name contains NAME
          --speaker WHO        said by this speaker: a name, or a label such as A
        \(ArchiveChoice.explained)
        """

    static func filter(_ words: OptionWords) throws -> OfficeFilter {
        var filter = OfficeFilter()
        filter.recorder = words["--recorder"]
        filter.since = try date("--since", words, isEnd: false)
        filter.until = try date("--until", words, isEnd: true)
        filter.person = words["--person"]
        filter.speaker = words["--speaker"]
        return filter
    }

    /// Returns the recordings with the ids on the command line, or all, that match the options.
    static func recordings(_ words: OptionWords, in archive: any OfficeArchive) throws -> [OfficeRecording] {
        let left = try archive.recordings(filter(words))
        if words.rest.isEmpty { return left }
        let numbers = try words.rest.map { try recordingNumber($0, words) }
        for number in numbers { _ = try recording(number, in: archive) }
        let known = Dictionary(left.map { ($0.id, $0) }) { first, _ in first }
        var seen: Set<Int> = []
        return numbers.filter { seen.insert($0).inserted }.compactMap { known[$0] }
    }

    /// Whether a segment matches `--speaker`.
    static func isSaid(_ segment: Segment, in timeline: Timeline, _ words: OptionWords) -> Bool {
        guard let asked = words["--speaker"]?.lowercased() else { return true }
        guard let speaker = timeline.speaker(of: segment) else { return false }
        return [Speakers.label(speaker), timeline.name(ofSpeaker: speaker)].contains { $0.lowercased() == asked }
    }

    /// Parses a day or a time in this machine's time zone; a day's end is the beginning of the next day.
    private static func date(_ option: String, _ words: OptionWords, isEnd: Bool) throws -> Double? {
        guard let text = words[option] else { return nil }
        guard let time = seconds(ofDay: text, isEnd: isEnd) else {
            throw words.usage("\(option) \(text): give a day such as 2026-11-20, or a time such as 2026-11-20T09:30")
        }
        return time
    }
}

/// Formats a time as `2026-11-20 09:30` in this machine's time zone, with a question mark if the clock was not set.
func shownTime(_ seconds: Double, _ clock: RecordingSummary.Clock = .synchronized) -> String {
    if seconds == 0 { return "unknown" }
    let (day, time) = localMinute(of: seconds)
    return "\(day) \(time)\(clock == .unverified ? "?" : "")"
}

/// Parses the id of a recording.
func recordingNumber(_ text: String, _ words: OptionWords) throws -> Int {
    guard let number = Int(text), number > 0 else {
        throw words.usage("\(text): is no recording's number; see fieldscribe-office list")
    }
    return number
}

/// Returns the recording with this id; throws if there is none.
func recording(_ id: Int, in archive: any OfficeArchive) throws -> OfficeRecording {
    guard let recording = try archive.recording(id) else {
        throw DeviceError(
            .missing, "show", on: archive.name, "has no recording \(id)",
            remedy: "fieldscribe-office list shows all of them")
    }
    return recording
}
