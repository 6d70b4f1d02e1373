import Copying
import Core
import Glibc
import Synchronization
import System
import Transcripts

/// Files that a browser sends to the archive as a tar archive: a copy's files, or one file to import or transcribe. All
/// of them are untrusted.
///
/// The files are stored in a hidden folder in the archive until they are added. If the process is killed, its lock on the
/// folder ends, and `removeLeftovers` removes the folder.
// Safety: used on the server's thread until all bytes are received, then on the thread that adds the files.
final class DroppedFiles: @unchecked Sendable {
    /// The request's description of the files.
    struct Header: Hashable, Sendable {
        var name: String
        var isCopy: Bool
        /// When the file was last modified, in seconds since 1970-01-01T00:00:00Z; nil if unknown.
        var modifiedAt: Int?
        /// The name of the folder that contains the copy's folder; empty if unknown.
        var recorder = ""
        /// The ID of the recording in the archive, if a person specified it.
        var recordingID: Int?
        var person = ""

        enum Kind {
            case copy
            /// Corrections or an edited transcript, which can be imported.
            case text
            /// A document in a format that can be exported but not imported.
            case document
            case audio
        }

        /// The kind according to the name's extension, in upper or lower case.
        var kind: Kind {
            if isCopy { return .copy }
            let fileExtension = name.split(separator: ".").last.map { $0.lowercased() } ?? ""
            let importable = ["json", "html"] + EditedTranscript.fileExtensions.map { $0.lowercased() }
            if importable.contains(fileExtension) { return .text }
            return (["pdf"] + TranscriptFormat.allCases.map(\.fileExtension)).contains(fileExtension)
                ? .document : .audio
        }

        /// Whether `name` and `recorder` are single path components that are not hidden, so that `Gathering` finds the copy.
        var hasValidNames: Bool {
            let isValid = { (name: String) in
                !name.isEmpty && name.utf8.count <= 200 && !name.hasPrefix(".") && !name.contains("/")
                    && !name.unicodeScalars.contains { $0.properties.generalCategory == .control }
            }
            return isValid(name) && (recorder.isEmpty || isValid(recorder))
        }
    }

    struct Outcome: Hashable, Sendable {
        /// Messages for the user: what was added, or what was rejected and why.
        var lines: [String]
        /// Whether the files are in the archive now, even if they were there before.
        var isAdded: Bool
    }

    /// The maximum size in bytes, which is the limit for a file in a tar archive without extensions.
    static let maximumBytes = 8 << 30 - 1
    /// The beginning of the hidden folder's name.
    static let prefix = ".dropped-"
    private static let (maximumFiles, maximumTextBytes) = (200, 64 << 20)
    private static let storedName = "text"

    let header: Header
    private let files: Folder
    private let name: String
    private let folder: Folder
    /// The folder to gather, which contains the copy's folder, and RECORDER.txt if there is one.
    private let recorderFolder: Folder
    private let copyFolder: Folder
    private var tar = TarParser()
    private var current: NewFile?
    private var fileCount = 0
    private var error: DeviceError?
    private let hasFolder = Atomic(true)

    /// Removes the hidden folders that killed processes left behind.
    static func removeLeftovers(in files: Folder) throws(DeviceError) {
        for name in try files.names() where name.hasPrefix(prefix) {
            guard let folder = try? files.folder(name), (try? folder.lock()) != nil else { continue }
            try? files.removeAll(name)
        }
    }

    /// - Parameter path: the folder with the archive's copies.
    init(_ header: Header, in path: String) throws(DeviceError) {
        self.header = header
        files = try Folder(opening: path, crossesMounts: true)
        try Self.removeLeftovers(in: files)
        name = Self.prefix + String(UInt64.random(in: .min ... .max), radix: 36)
        try files.makeFolder(name, mode: 0o750)
        do throws(DeviceError) {
            folder = try files.folder(name)
            try folder.lock()
            let recorderName = header.recorder.isEmpty ? RecorderIdentity.unknownName : header.recorder
            try folder.makeFolder(recorderName, mode: 0o750)
            recorderFolder = try folder.folder(recorderName)
            try recorderFolder.makeFolder(header.name, mode: 0o750)
            copyFolder = try recorderFolder.folder(header.name)
        } catch {
            try? files.removeAll(name)
            throw error
        }
    }

    deinit { close() }

    /// The name under which a single file is stored. An audio file keeps its name, which becomes the recording's title.
    private var singleFileName: String { header.kind == .audio ? header.name : Self.storedName }

    /// The key with which the browser asks for the result of an audio file. Nobody can guess it.
    var key: String { name }

    /// Whether the files have not been removed yet.
    var occupiesDisk: Bool { hasFolder.load(ordering: .acquiring) }

    private func close() {
        guard occupiesDisk else { return }
        try? files.removeAll(name)
        hasFolder.store(false, ordering: .releasing)
    }

    /// Appends the next bytes of the tar archive. After an error, ignores the rest; `add` reports the error.
    func append(_ bytes: UnsafeRawBufferPointer) {
        guard error == nil else { return }
        do throws(DeviceError) {
            try tar.parse(bytes) { event throws(DeviceError) in
                switch event {
                case .file(let name, _):
                    fileCount += 1
                    guard fileCount <= Self.maximumFiles else {
                        throw DeviceError(.unsupported, "tar", "a copy has at most \(Self.maximumFiles) files")
                    }
                    let target = header.isCopy && name == RecorderFolder.fileName ? recorderFolder : copyFolder
                    current = try NewFile(header.isCopy ? name : singleFileName, in: target, shouldStop: { false })
                case .bytes(let bytes): if let current { try current.write(bytes, at: current.length) }
                case .end:
                    try current?.flush()
                    current = nil
                }
            }
        } catch { self.error = error }
    }

    /// Adds the files to an archive, like the commands `gather`, `import` or `add`, and removes them. Blocks.
    ///
    /// - Parameters:
    ///   - reader: the program that parses files in a sandboxed process.
    ///   - transcriber: the path of the `fieldscribe` program; nil to search for it.
    ///   - open: opens the archive.
    func add(
        reader: String, transcriber: String?, to open: () throws(DeviceError) -> any OfficeArchive
    ) -> Outcome {
        defer { close() }
        do throws(DeviceError) {
            if let error { throw error }
            guard tar.isWhole else {
                throw DeviceError(.damaged, "tar", "was not received completely")
            }
            return switch header.kind {
            case .copy: try gather(reader, into: open())
            case .text, .document: try importText(into: open())
            case .audio: try addAudio(transcriber, into: open())
            }
        } catch { return Outcome(lines: [withOriginalPaths(error.message)], isAdded: false) }
    }

    private func gather(_ reader: String, into archive: any OfficeArchive) throws(DeviceError) -> Outcome {
        let report = try Gathering(into: archive, key: nil, reader: reader).run([.folder(recorderFolder.path)])
        let corrections =
            report.corrections == 0
            ? nil : report.corrections == 1 ? "a correction" : "\(report.corrections) corrections"
        var lines: [String] = []
        if report.taken > 0 { lines.append("\(title): added" + (corrections.map { ", with \($0)" } ?? "")) }
        if report.known > 0 {
            let change = corrections.map { "added \($0)" } ?? "nothing was changed"
            lines.append("\(title): already in the archive; \(change)")
        }
        if report.sealed > 0 {
            lines.append("\(title): is sealed; open it with fieldscribe-office gather --key FILE")
        }
        return Outcome(
            lines: lines + (report.problems + report.notes).map(withOriginalPaths),
            isAdded: report.taken + report.known > 0)
    }

    private func importText(into archive: any OfficeArchive) throws(DeviceError) -> Outcome {
        let bytes = try copyFolder.content(ofFile: Self.storedName, limit: Self.maximumTextBytes)
        let line = try OfficeImport(archive, field: OfficeSite.recordingField).add(
            bytes, of: header.name, to: header.recordingID, by: header.person, now: MonotonicClock.wallSeconds)
        return Outcome(lines: [oneLine(line)], isAdded: true)
    }

    private func addAudio(_ program: String?, into archive: any OfficeArchive) throws(DeviceError) -> Outcome {
        let path = "\(copyFolder.path)/\(header.name)"
        if let modifiedAt = header.modifiedAt {
            let time = timespec(tv_sec: modifiedAt, tv_nsec: 0)
            // If this fails, the recording's start is derived from the current time.
            _ = utimensat(AT_FDCWD, path, [time, time], AT_SYMLINK_NOFOLLOW)
        }
        let addition = try OfficeAddition(into: archive, program: program)
        if let digest = try OfficeAddition.digest(of: path), let id = try addition.recordingsByDigest()[digest] {
            return Outcome(lines: [AddedFile.duplicateError(id, header.name).message], isAdded: true)
        }
        let (report, _, messages) = try rethrowing { try addition.add([path], showsMessages: false) }
        let added = report.taken > 0 ? ["\(header.name): added"] : []
        return Outcome(
            lines: added + (messages + report.problems + report.notes).map(withOriginalPaths),
            isAdded: report.taken > 0)
    }

    private var title: String { header.recorder.isEmpty ? header.name : "\(header.recorder)/\(header.name)" }

    /// Returns a message with the names that the user knows instead of paths in the hidden folder.
    private func withOriginalPaths(_ message: String) -> String {
        let parent =
            header.kind == .audio ? copyFolder.path : header.recorder.isEmpty ? recorderFolder.path : folder.path
        let text = oneLine(message.replacing("\(parent)/", with: "").replacing("\(folder.path)/", with: ""))
        return text.hasPrefix(title) ? text : "\(title): \(text)"
    }
}
