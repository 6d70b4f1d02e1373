import Core
import Office
import System

enum GatherCommand: Command {
    static let name = "gather"
    static let summary = "Add copies from sticks and folders to the archive."
    static let target = Option(
        "--into", "ARCHIVE",
        "a folder or postgresql://..., created if it is missing; default $FIELDSCRIBE_ARCHIVE, or fieldscribe-archive in your home folder",
        .folders)
    private static let sourceFiles = Option(
        "--from-files", "FOLDER",
        "the folder with the copies of a source in PostgreSQL, if it is not where that archive expects it", .folders)
    private static let key = Option(
        "--key", "FILE",
        "a private key from age-keygen or ssh-keygen, to decrypt sealed copies; the archive stores them unencrypted",
        .files)
    private static let page = Option.flag(
        "--page",
        "write index.html, a searchable page of all recordings for any browser; without a FOLDER, write only that page"
    )
    static let help: [any HelpPart] = [
        """
        Finds all copies in the folders and their subfolders, and adds those that the archive does not have: sound, transcript,
        history and corrections. Checks each file against SHA256SUMS, and each signature if minisign is installed. Lists
        the copies that it refuses and adds the others. You may interrupt it at any time and run it again.
        """,
        Argument(
            "FOLDER...",
            "a stick, a folder with copies of several sticks, or a single copy; or another archive of fieldscribe-office, a folder or postgresql://..., with all its transcripts; or a recorder's own archive, copied to this machine",
            .folders), target,
        Option.files("for PostgreSQL: the folder for the copies; all users of the archive must be able to read it"),
        sourceFiles,
        key, page, Option.json("print one JSON object"),
        """
        Exit status: 0 everything is in the archive; 1 could not continue; 3 sealed copies were left out because no key was
        given; 4 some copies or sources were refused.
        """,
    ]

    static func run(_ arguments: Arguments) throws {
        guard !arguments.rest.isEmpty || arguments[page] else {
            throw arguments.usage("give at least one folder or stick")
        }
        let archive = try ArchiveChoice.open(arguments, name: arguments[target], creates: !arguments.rest.isEmpty)
        if arguments.rest.isEmpty { return try writePage(archive) }
        let (sources, refused) = try sources(arguments, into: archive)
        let gathering = try Gathering(into: archive, key: arguments[key]) { report in
            TerminalStatusLine.show(counted(report.taken + report.known, "copy", "copies"))
        }
        var report: GatherReport
        do {
            defer { TerminalStatusLine.clear() }
            report = try gathering.run(sources)
        }
        report.problems = refused + report.problems
        for line in report.problems + report.notes { Terminal.say("fieldscribe-office: \(line)") }
        for folder in report.outdated {
            Terminal.say(
                "fieldscribe-office: \(folder): contains passages that were redacted later, and is no longer shown; delete the folder "
                    + "when it is no longer needed")
        }
        if report.sealed > 0 {
            Terminal.say(
                "fieldscribe-office: left out \(counted(report.sealed, "sealed copy", "sealed copies")); pass the private key "
                    + "with --key FILE")
        }
        if arguments[.json] {
            try Terminal.print(jsonText(report, isIndented: true))
        } else {
            var parts = ["\(counted(report.taken, "copy", "copies")) added"]
            if report.known > 0 { parts.append("\(report.known) already there") }
            if report.corrections > 0 { parts.append(counted(report.corrections, "correction", "corrections")) }
            if report.texts > 0 { parts.append(counted(report.texts, "transcript", "transcripts")) }
            if !report.outdated.isEmpty {
                parts.append(
                    counted(report.outdated.count, "copy contains", "copies contain")
                        + " passages that were redacted later")
            }
            if !report.problems.isEmpty { parts.append("\(report.problems.count) refused") }
            try Terminal.print("\(archive.name): \(parts.joined(separator: ", "))\n")
        }
        if arguments[page] { try writePage(archive) }
        if !report.problems.isEmpty { throw ExitError(status: 4) }
        if report.sealed > 0 { throw ExitError(status: 3) }
    }
}

extension GatherCommand {
    /// Returns the sources given as arguments, and one error line for each that cannot be opened.
    private static func sources(
        _ arguments: Arguments, into archive: any OfficeArchive
    ) throws -> ([GatherSource], refused: [String]) {
        guard arguments[sourceFiles] == nil || arguments.rest.contains(where: ArchiveOpener.isAddress) else {
            throw arguments.usage("--from-files works only with a source in PostgreSQL")
        }
        let target = try? realPath(archive.filesPath)
        func isTarget(_ name: String) -> Bool { target.map { $0 == (try? realPath(name)) } ?? false }
        var sources: [GatherSource] = []
        var refused: [String] = []
        for name in arguments.rest {
            do throws(DeviceError) {
                if ArchiveOpener.isAddress(name) {
                    sources.append(
                        .archive(
                            try ArchiveOpener.openDatabase(
                                name, files: arguments[sourceFiles], creates: false, timeout: ArchiveChoice.timeout())))
                } else if ArchiveOpener.isFolder(name), !isTarget(name) {
                    sources.append(.archive(try ArchiveOpener.openFolder(name, creates: false)))
                } else {
                    sources.append(.folder(name))
                }
            } catch { refused.append(error.message) }
        }
        return (sources, refused)
    }

    private static func writePage(_ archive: any OfficeArchive) throws {
        let count = try OfficePage.write(for: archive)
        Terminal.say("\(archive.filesPath)/\(OfficePage.name): \(counted(count, "recording", "recordings"))")
    }
}
