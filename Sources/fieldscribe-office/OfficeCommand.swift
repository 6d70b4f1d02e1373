import Core
import Glibc
import Office
import System

/// A subcommand; one a file.
protocol OfficeCommand {
    static var name: String { get }

    /// One line for the list of commands.
    static var summary: String { get }

    /// What follows the name on the command line.
    static var usage: String { get }

    /// Explains arguments and options.
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

/// The archive that a command's options name.
enum ArchiveChoice {
    /// What `--archive` means, for help.
    static let explained = """
          --archive ARCHIVE    a folder or postgresql://...; default $FIELDSCRIBE_ARCHIVE, else fieldscribe-archive in your
                               home folder
          --files FOLDER       for PostgreSQL: the folder with the copies, if it is not where the archive says
        """

    /// Opens it.
    ///
    /// - Parameters:
    ///   - option: the option that names it.
    ///   - makes: whether one that is not there is made.
    ///   - seconds: how long a server may go without an answer.
    static func open(
        _ words: OptionWords, _ option: String = "--archive", makes: Bool = false, patience seconds: Int = 60
    ) throws -> any OfficeArchive {
        guard let path = name(words, option) else { throw words.usage("name an archive with \(option)") }
        guard !path.isEmpty else { throw words.usage("\(option) needs a folder") }
        if OfficeDatabase.isAddress(path) {
            return try OfficeDatabase(path, files: words["--files"], makes: makes, patience: patience(seconds))
        }
        guard words["--files"] == nil else { throw words.usage("--files belongs to an archive in PostgreSQL") }
        return try OfficeFolder(path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path, makes: makes)
    }

    /// How a server is waited for: with a line, and no longer once a signal has asked us to end.
    static func patience(_ seconds: Int = 60) -> ServerPatience {
        ServerPatience(
            seconds: seconds, tell: { Terminal.say("fieldscribe-office: \($0)") }, isEnding: { Stop.isWanted })
    }

    /// What the options name, or the environment; nil where there is nothing to go by.
    static func name(_ words: OptionWords, _ option: String) -> String? {
        let named = words[option] ?? environment("FIELDSCRIBE_ARCHIVE")
        return named ?? environment("HOME").map { "\($0)/fieldscribe-archive" }
    }

    private static func environment(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
    }
}

/// The options that leave some of the recordings.
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

    /// The recordings that the words name by their numbers, or all; of these, those that the options leave.
    static func recordings(_ words: OptionWords, in archive: any OfficeArchive) throws -> [OfficeRecording] {
        let left = try archive.recordings(filter(words))
        if words.rest.isEmpty { return left }
        let numbers = try words.rest.map { try recordingNumber($0, words) }
        for number in numbers { _ = try recording(number, in: archive) }
        let known = Dictionary(left.map { ($0.id, $0) }) { first, _ in first }
        var seen: Set<Int> = []
        return numbers.filter { seen.insert($0).inserted }.compactMap { known[$0] }
    }

    /// Whether `--speaker` leaves a segment.
    static func isSaid(_ segment: Segment, in timeline: Timeline, _ words: OptionWords) -> Bool {
        guard let asked = words["--speaker"]?.lowercased() else { return true }
        guard let speaker = timeline.speaker(of: segment) else { return false }
        return [Speakers.label(speaker), timeline.name(ofSpeaker: speaker)].contains { $0.lowercased() == asked }
    }

    /// The beginning of a day in this machine's time zone, or, for an end, of the next one; or a time of a day.
    private static func date(_ option: String, _ words: OptionWords, isEnd: Bool) throws -> Double? {
        guard let text = words[option] else { return nil }
        guard let time = seconds(ofDay: text, isEnd: isEnd) else {
            throw words.usage("\(option) \(text): give a day such as 2026-11-20, or a time such as 2026-11-20T09:30")
        }
        return time
    }
}

/// `2026-11-20 09:30`, in this machine's time zone; a question mark behind it where the clock was not set.
func shownTime(_ seconds: Double, _ clock: RecordingSummary.Clock = .synchronized) -> String {
    if seconds == 0 { return "unknown" }
    let (day, time) = localMinute(of: seconds)
    return "\(day) \(time)\(clock == .unverified ? "?" : "")"
}

/// A number of a recording, as `list` shows it.
func recordingNumber(_ text: String, _ words: OptionWords) throws -> Int {
    guard let number = Int(text), number > 0 else {
        throw words.usage("\(text): is no recording's number, as fieldscribe-office list shows them")
    }
    return number
}

/// The recording of that number.
func recording(_ id: Int, in archive: any OfficeArchive) throws -> OfficeRecording {
    guard let recording = try archive.recording(id) else {
        throw DeviceError(
            .missing, "show", on: archive.name, "has no recording \(id)",
            remedy: "fieldscribe-office list shows all of them")
    }
    return recording
}
