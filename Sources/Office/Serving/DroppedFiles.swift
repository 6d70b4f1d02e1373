import Copying
import Core
import Glibc
import Synchronization
import System
import Transcripts

/// Files that a browser sends to the archive as a tar archive: a copy's files, or one file to import or transcribe. All
/// of it is untrusted.
///
/// The files are stored in a hidden folder in the archive, which is removed at the end. If the process is killed, the
/// folder is no longer locked, and `removeLeftovers` removes it.
// Safety: used on the server's thread until everything was received, then on the thread that adds the files.
final class DroppedFiles: @unchecked Sendable {
    /// The request's description of the files.
    struct Header: Hashable, Sendable {
        /// The name of the copy's folder, or of the file.
        var name: String
        var isCopy: Bool
        /// The time of the file's last change, in seconds since 1970-01-01T00:00:00Z; nil if unknown.
        var changed: Int?
        /// The name of the folder that contains the copy's folder; empty if unknown.
        var recorder = ""
        /// The ID of the recording in the archive, if a person specified it.
        var recording: Int?
        /// The login name; may be empty.
        var person = ""

        /// The kind of the files, which determines how they are added.
        enum Kind {
            case copy
            /// Corrections or an edited transcript, which can be imported.
            case text
            /// A document in a format that can be exported but not imported.
            case document
            /// Any other file, which can be transcribed.
            case sound
        }

        /// The kind according to the name's extension, in upper or lower case.
        var kind: Kind {
            if isCopy { return .copy }
            let fileExtension = name.split(separator: ".").last.map { $0.lowercased() } ?? ""
            let imported = ["json", "html"] + EditedTranscript.fileExtensions.map { $0.lowercased() }
            if imported.contains(fileExtension) { return .text }
            return (["pdf"] + TranscriptFormat.allCases.map(\.fileExtension)).contains(fileExtension)
                ? .document : .sound
        }

        /// Whether the names are valid for folders in which `Gathering` finds copies.
        var hasValidNames: Bool {
            let isFolder = { (name: String) in
                !name.isEmpty && name.utf8.count <= 200 && !name.hasPrefix(".") && !name.contains("/")
                    && !name.unicodeScalars.contains { $0.properties.generalCategory == .control }
            }
            return isFolder(name) && (recorder.isEmpty || isFolder(recorder))
        }
    }

    struct Outcome: Hashable, Sendable {
        /// Messages about what was added, or rejected and why, one line each.
        var lines: [String]
        /// Whether the files are in the archive now.
        var isAdded: Bool
    }

    /// The maximum size in bytes. Larger files do not fit into a tar archive without extensions.
    static let maximumBytes = 8 << 30 - 1
    /// The beginning of the hidden folder's name.
    static let prefix = ".dropped-"
    private static let (maximumFiles, maximumTextBytes) = (200, 64 << 20)
    private static let textName = "text"

    let header: Header
    private let files: Folder
    private let name: String
    private let folder: Folder
    /// The folder to gather, which contains the copy's folder, and RECORDER.txt if there is one.
    private let recorder: Folder
    private let copy: Folder
    private var tar = TarParser()
    private var current: NewFile?
    private var count = 0
    private var error: DeviceError?
    private let isOpen = Atomic(true)

    /// Removes the folders that killed processes left behind.
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
            recorder = try folder.folder(recorderName)
            try recorder.makeFolder(header.name, mode: 0o750)
            copy = try recorder.folder(header.name)
        } catch {
            try? files.removeAll(name)
            throw error
        }
    }

    deinit { close() }

    /// The name under which a single file is stored. For a sound file, it becomes the recording's title.
    private var singleName: String { header.kind == .sound ? header.name : Self.textName }

    /// The key with which the browser asks for the result of a sound file. Nobody can guess it.
    var key: String { name }

    var occupiesDisk: Bool { isOpen.load(ordering: .acquiring) }

    private func close() {
        guard occupiesDisk else { return }
        try? files.removeAll(name)
        isOpen.store(false, ordering: .releasing)
    }

    /// Appends the next bytes of the tar archive. After an error, the rest is ignored.
    func append(_ bytes: UnsafeRawBufferPointer) {
        guard error == nil else { return }
        do throws(DeviceError) {
            try tar.parse(bytes) { event throws(DeviceError) in
                switch event {
                case .file(let name, _):
                    count += 1
                    guard count <= Self.maximumFiles else {
                        throw DeviceError(.unsupported, "tar", "a copy has at most \(Self.maximumFiles) files")
                    }
                    let target = header.isCopy && name == RecorderFolder.fileName ? recorder : copy
                    current = try NewFile(header.isCopy ? name : singleName, in: target, shouldStop: { false })
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
            case .sound: try addSound(transcriber, into: open())
            }
        } catch { return Outcome(lines: [shown(error.message)], isAdded: false) }
    }

    private func gather(_ reader: String, into archive: any OfficeArchive) throws(DeviceError) -> Outcome {
        let report = try Gathering(into: archive, key: nil, reader: reader).run([.folder(recorder.path)])
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
            lines: lines + (report.problems + report.notes).map(shown), isAdded: report.taken + report.known > 0)
    }

    private func importText(into archive: any OfficeArchive) throws(DeviceError) -> Outcome {
        let bytes = try copy.content(ofFile: Self.textName, limit: Self.maximumTextBytes)
        let line = try OfficeImport(archive, field: OfficeSite.recordingField).add(
            bytes, of: header.name, to: header.recording, by: header.person, now: MonotonicClock.wallSeconds)
        return Outcome(lines: [oneLine(line)], isAdded: true)
    }

    private func addSound(_ program: String?, into archive: any OfficeArchive) throws(DeviceError) -> Outcome {
        let path = "\(copy.path)/\(header.name)"
        if let changed = header.changed {
            let time = timespec(tv_sec: changed, tv_nsec: 0)
            // If this fails, the current time becomes the recording's start.
            _ = utimensat(AT_FDCWD, path, [time, time], AT_SYMLINK_NOFOLLOW)
        }
        let adding = try OfficeAddition(into: archive, program: program)
        if let digest = try OfficeAddition.digest(of: path), let known = try adding.known()[digest] {
            return Outcome(lines: [AddedFile.duplicateError(known, header.name).message], isAdded: true)
        }
        let (report, _, messages) = try rethrowing { try adding.add([path], showsMessages: false) }
        let added = report.taken > 0 ? ["\(header.name): added"] : []
        return Outcome(
            lines: added + (messages + report.problems + report.notes).map(shown), isAdded: report.taken > 0)
    }

    private var title: String { header.recorder.isEmpty ? header.name : "\(header.recorder)/\(header.name)" }

    /// Returns a message with the user's original paths.
    private func shown(_ message: String) -> String {
        let parent = header.kind == .sound ? copy.path : header.recorder.isEmpty ? recorder.path : folder.path
        let text = oneLine(message.replacing("\(parent)/", with: "").replacing("\(folder.path)/", with: ""))
        return text.hasPrefix(title) ? text : "\(title): \(text)"
    }
}
