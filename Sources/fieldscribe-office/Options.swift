import Core
import Glibc
import Office
import System

extension Argument {
    static let recording = Argument("ID", "a recording number, as shown by fieldscribe-office list", .recordings)

    static func recordings(_ defaultSelection: String = "all") -> Argument {
        Argument(
            "[ID...]", "recording numbers, as shown by fieldscribe-office list; default \(defaultSelection)",
            .recordings)
    }
}

extension Option where Value == String? {
    static var archive: Self {
        Self(
            "--archive", "ARCHIVE",
            "a folder or postgresql://...; default $FIELDSCRIBE_ARCHIVE, or fieldscribe-archive in your home folder",
            .folders)
    }

    static var files: Self {
        files("for PostgreSQL: the folder with the copies, if it is not where the archive expects it")
    }

    static func files(_ explanation: String) -> Self { Self("--files", "FOLDER", explanation, .folders) }
}

/// Opens the archive that a command's options specify.
enum ArchiveChoice {
    /// - Parameters:
    ///   - name: the archive, if the command has its own option for it; nil for `--archive` or the default.
    ///   - creates: whether to create a missing archive.
    ///   - seconds: the timeout for a database server.
    static func open(
        _ arguments: Arguments, name: String? = nil, creates: Bool = false, timeout seconds: Int = 60
    ) throws -> any OfficeArchive {
        guard let path = name ?? self.name(arguments) else {
            throw arguments.usage("specify an archive with --archive")
        }
        guard !path.isEmpty else { throw arguments.usage("the archive's name is empty") }
        if ArchiveOpener.isAddress(path) {
            return try ArchiveOpener.openDatabase(
                path, files: arguments[.files], creates: creates, timeout: timeout(seconds))
        }
        guard arguments[.files] == nil else {
            throw arguments.usage("--files works only with an archive in PostgreSQL")
        }
        return try ArchiveOpener.openFolder(withoutTrailingSlash(path), creates: creates)
    }

    /// Returns a timeout for a database server that prints a line during a long wait, and stops waiting if a signal asks the
    /// process to exit.
    static func timeout(_ seconds: Int = 60) -> ServerTimeout {
        ServerTimeout(
            seconds: seconds, report: { Terminal.say("fieldscribe-office: \($0)") },
            shouldStop: { Interrupts.isRequested })
    }

    /// Returns the archive from the option or the environment, or the default in the home folder.
    static func name(_ arguments: Arguments) -> String? {
        let specified = arguments[.archive] ?? environmentVariable("FIELDSCRIBE_ARCHIVE")
        return specified ?? environmentVariable("HOME").map { "\($0)/fieldscribe-archive" }
    }
}

/// The options that select recordings.
enum Filter {
    private static let recorder = Option(
        "--recorder", "R", "only this recorder: its name, its folder in the archive, or the beginning of its key",
        .recorders)
    private static let since = date(
        "--since", "started on or after this day or time, such as 2026-11-20 or 2026-11-20T09:30")
    private static let until = date("--until", "started on or before this day, or before this time", isEnd: true)
    private static let person = Option(
        "--person", "NAME", "with a participant or speaker whose name contains NAME")
    private static let speaker = Option("--speaker", "WHO", "said by this speaker: a name, or a label such as A")

    /// Appends these options, and any others, to a command's help.
    static func help(_ parts: [any HelpPart], _ others: any HelpPart...) -> [any HelpPart] {
        let options: [any HelpPart] = [recorder, since, until, person, speaker, Option.archive, Option.files]
        return parts + options + others
    }

    /// Returns an option for a day or a time in this machine's time zone.
    ///
    /// - Parameter isEnd: whether a day stands for its end, which is the beginning of the next day.
    private static func date(_ name: String, _ explanation: String, isEnd: Bool = false) -> Option<Double?> {
        .parsed(
            name, "DATE", explanation, "give a day such as 2026-11-20, or a time such as 2026-11-20T09:30"
        ) { seconds(ofDay: $0, isEnd: isEnd) }
    }

    static func filter(_ arguments: Arguments) -> OfficeFilter {
        var filter = OfficeFilter()
        filter.recorder = arguments[recorder]
        filter.since = arguments[since]
        filter.until = arguments[until]
        filter.person = arguments[person]
        filter.speaker = arguments[speaker]
        return filter
    }

    /// Returns the recordings that match the options. If recordings are given as arguments, returns only these, in the
    /// given order.
    ///
    /// - Throws: `DeviceError` with `missing` if the archive has no recording with a given number.
    static func recordings(_ arguments: Arguments, in archive: any OfficeArchive) throws -> [OfficeRecording] {
        let matches = try archive.recordings(filter(arguments))
        if arguments.rest.isEmpty { return matches }
        let ids = try arguments.rest.map(arguments.recording)
        for id in ids { _ = try recording(id, in: archive) }
        let matchesByID = Dictionary(matches.map { ($0.id, $0) }) { first, _ in first }
        var seenIDs: Set<Int> = []
        return ids.filter { seenIDs.insert($0).inserted }.compactMap { matchesByID[$0] }
    }

    /// Returns whether a segment matches `--speaker`.
    static func matchesSpeaker(_ segment: Segment, in timeline: Timeline, _ arguments: Arguments) -> Bool {
        guard let requested = arguments[speaker]?.lowercased() else { return true }
        guard let speaker = timeline.speaker(of: segment) else { return false }
        return [Speakers.label(speaker), timeline.name(ofSpeaker: speaker)].contains { $0.lowercased() == requested }
    }
}

/// Formats a time as `2026-11-20 09:30` in this machine's time zone, with a question mark if the clock was not set.
func shownTime(_ seconds: Double, _ clock: RecordingSummary.Clock = .synchronized) -> String {
    if seconds == 0 { return "unknown" }
    let (day, time) = localMinute(of: seconds)
    return "\(day) \(time)\(clock == .unverified ? "?" : "")"
}

extension Arguments {
    func recording(_ text: String) throws -> Int {
        guard let number = Int(text), number > 0 else {
            throw UsageError("\(command): \(text): not a recording number; fieldscribe-office list shows the numbers")
        }
        return number
    }

    /// The recording number that is the only argument.
    var recording: Int {
        get throws {
            try expect(1, "a recording number")
            return try recording(rest[0])
        }
    }
}

func recording(_ id: Int, in archive: any OfficeArchive) throws -> OfficeRecording {
    guard let recording = try archive.recording(id) else {
        throw DeviceError(
            .missing, "show", on: archive.name, "has no recording \(id)",
            remedy: "to see all recordings, run fieldscribe-office list")
    }
    return recording
}
