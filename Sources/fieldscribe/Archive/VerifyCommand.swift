import Audio
import Copying
import Core
import Maintenance
import System

enum VerifyCommand: Command {
    static let name = "verify"
    static let summary = "Check that recordings and copies are unaltered."
    private static let quick = Option.flag(
        "--quick", "read the audio only in gaps; reading all of it takes most of the time")
    private static let verbose = Option.flag("--verbose", "also print unaltered files")
    private static let copy = Option(
        "--copy", "FOLDER", "a copy, or a folder or stick in which to find copies", .folders,
        isRequired: true)
    private static let key = Option(
        "--key", "KEY",
        "the recorder's public key (RW...; see fieldscribe status), or a file with it; default the key in the copy, which a forger could have replaced",
        .files)
    static let help: [any HelpPart] = [
        """
        Checks each file's length and header, and its entries in the archive and the journal. Checks the order of
        segments and words, the positions of gaps and bookmarks, the silence in gaps, the ledger of copies, and the
        history. Compares all of the sound with the recorder's signature. Without one, uses the checksums of each
        second; a note says which was used. Changes nothing. Each finding is one line with the file and the remedy;
        the last line is a summary. The current recording is checked as far as it has been written to the disk.
        """,
        Argument.recordings("all, and the database as a whole"), quick, verbose, Option.json,
        Option.directory,
        Form(
            """
            With --copy, checks on any machine that a copy is unaltered. Compares each file with SHA256SUMS, and that
            list and the sound with the recorder's signatures, and checks the history's hash chain. Prints all findings
            except unaltered files, which need --verbose, and a summary. Needs minisign.
            """),
        copy, key,
        """
        Exit status: 0 all is well; 3 there is no such recording or, with --copy, signatures could not be checked;
        4 something is damaged, altered or missing.
        """,
    ]

    static func run(_ arguments: Arguments) async throws {
        if let copy = arguments[copy] { return try verify(copy: copy, arguments) }
        if arguments[key] != nil {
            throw arguments.usage("--key works only with --copy")
        }
        let ids = try arguments.recordings
        let connection = try await ArchiveConnection(arguments)
        let isQuick = arguments[quick]
        let findings =
            switch connection.mode {
            case .direct(let archive):
                try await Verification(storage: connection.directory, archive: archive).run(ids, isQuick: isQuick)
            case .appliance(let archive): try await archive.verify(ids, isQuick: isQuick)
            case .readOnly: throw ArchiveConnection.Mode.readOnlyError(connection.directory, name)
            }
        let isDamaged = findings.contains { $0.outcome == .damaged }
        if arguments[.json] {
            try Terminal.print(jsonText(findings))
        } else {
            for finding in findings { try Terminal.print(finding.line + "\n") }
            let recordings = try await connection.archive.recordings().filter { recording in
                recording.live == nil && (ids.isEmpty || ids.contains(recording.id))
            }
            try summarize(
                recordings, findings, in: connection.directory, isQuick: isQuick, isVerbose: arguments[verbose])
        }
        if isDamaged { throw ExitError(status: 4) }
    }

    /// Prints how many files of the recordings are unaltered; if `isVerbose`, also their names.
    private static func summarize(
        _ recordings: [RecordingSummary], _ findings: [StorageFinding], in storage: String, isQuick: Bool,
        isVerbose: Bool
    ) throws {
        let damaged = Set(findings.filter { $0.outcome == .damaged }.map(\.file))
        // Folders and the database are not among these files, so findings about them do not lower the count.
        let files = recordings.flatMap { recording -> [String] in
            let folder = RecordingFolder(storage: storage, recording: recording.id)
            if recording.isSealed { return [folder.sealed] }
            return (recording.length > .zero ? [folder.audio] : []) + ["\(folder.path)/journal.jsonl"]
        }
        let unaltered = files.filter { !damaged.contains($0) }
        if isVerbose { for file in unaltered { try Terminal.print("unaltered: \(file)\n") } }
        let count = CopyVerification.count(unaltered.count, of: recordings.count)
        let suffix = damaged.isEmpty ? "" : "; \(damaged.count) damaged"
        try Terminal.print("\(count) \(isQuick ? "as expected; the sound was not read" : "unaltered")\(suffix)\n")
    }

    private struct Row: Encodable {
        var outcome: String
        var file: String
        var message: String
    }

    private static func verify(copy: String, _ arguments: Arguments) throws {
        guard arguments.rest.isEmpty, !arguments[quick], arguments[.directory] == nil else {
            throw arguments.usage("--copy can be combined only with --key, --verbose and --json")
        }
        let verification = CopyVerification(key: try arguments[key].map(publicKey))
        let findings = try verification.run(copy)
        if arguments[.json] {
            try Terminal.print(
                jsonText(findings.map { Row(outcome: $0.outcome.rawValue, file: $0.file, message: $0.detail) }))
        } else {
            for finding in findings where arguments[verbose] || finding.outcome != .unaltered {
                try Terminal.print(finding.line + "\n")
            }
            try Terminal.print(verification.summary(findings) + "\n")
        }
        let outcomes = Set(findings.map(\.outcome))
        if !outcomes.isDisjoint(with: [.altered, .missing]) { throw ExitError(status: 4) }
        if outcomes.contains(.unchecked) { throw ExitError(status: 3) }
    }

    /// Returns the given public key, or the key in the given file.
    private static func publicKey(_ text: String) throws -> String {
        if SigningKey.isPublic(text) { return text }
        guard text.contains("/") || pathExists(text) else {
            throw UsageError(
                "verify: --key \(text): neither a file nor a minisign public key, which is RW followed by 54 characters"
            )
        }
        let bytes = try content(ofFile: text, limit: Minisign.maximumFileBytes)
        guard let key = RecorderKey.key(in: String(decoding: bytes, as: UTF8.self)) else {
            throw DeviceError(
                .unsupported, "verify", on: text, "contains no minisign public key",
                remedy: "use the key that fieldscribe status prints on the recorder")
        }
        return key
    }
}
