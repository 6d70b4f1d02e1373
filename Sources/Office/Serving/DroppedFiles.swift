import Copying
import Core
import Glibc
import Synchronization
import System
import Transcripts

/// What a browser sends to the archive as a tar: a copy's files, or one file to import or transcribe. All of it is
/// untrusted.
///
/// The files are in a hidden folder of the archive, which is removed at the end. If the process is killed, the folder is
/// no longer locked, and `removeLeft` removes it.
// Safety: used on the server's thread until everything was received, then on the one that adds it.
final class DroppedFiles: @unchecked Sendable {
    /// What the request says about the files.
    struct Header: Hashable, Sendable {
        /// The name of the copy's folder, or of the file.
        var name: String
        var isCopy: Bool
        /// The file's last change, in seconds since 1970, if known.
        var changed: Int?
        /// The name of the folder around the copy; empty if unknown.
        var recorder = ""
        /// The recording in the archive, if a person named it.
        var recording: Int?
        /// The login name; may be empty.
        var person = ""

        /// What can be done with the files.
        enum Kind {
            case copy
            /// A correction or a text, to import.
            case text
            /// A document that can be exported, but not imported.
            case document
            /// Any other file, to transcribe.
            case sound
        }

        /// What can be done, according to the name's extension in upper or lower case.
        var kind: Kind {
            if isCopy { return .copy }
            let ending = name.split(separator: ".").last.map { $0.lowercased() } ?? ""
            if (["json", "html"] + WrittenText.endings.map { $0.lowercased() }).contains(ending) { return .text }
            return (["pdf"] + TranscriptFormat.allCases.map(\.fileExtension)).contains(ending) ? .document : .sound
        }

        /// Whether the names are valid for folders in which `Gathering` finds copies.
        var isFit: Bool {
            let isFolder = { (name: String) in
                !name.isEmpty && name.utf8.count <= 200 && !name.hasPrefix(".") && !name.contains("/")
                    && !name.unicodeScalars.contains { $0.properties.generalCategory == .control }
            }
            return isFolder(name) && (recorder.isEmpty || isFolder(recorder))
        }
    }

    struct Outcome: Hashable, Sendable {
        /// What was added or rejected and why, one per line.
        var lines: [String]
        /// Whether anything was added.
        var isTaken: Bool
    }

    /// The maximum size in bytes: more does not fit into a tar without extensions.
    static let largest = 8 << 30 - 1
    /// The beginning of the hidden folder's name.
    static let prefix = ".dropped-"
    private static let (maxFiles, largestText) = (200, 64 << 20)
    private static let textName = "text"

    let header: Header
    private let files: Folder
    private let name: String
    private let folder: Folder
    /// The folder to gather: contains the copy's folder, and RECORDER.txt if there is one.
    private let recorder: Folder
    private let copy: Folder
    private var tar = TarReading()
    private var current: NewFile?
    private var count = 0
    private var error: DeviceError?
    private let isOpen = Atomic(true)

    /// Removes what killed processes left.
    static func removeLeft(in files: Folder) throws(DeviceError) {
        for name in try files.names() where name.hasPrefix(prefix) {
            guard let left = try? files.folder(name), (try? left.lock()) != nil else { continue }
            try? files.removeAll(name)
        }
    }

    /// - Parameter path: the folder with the archive's copies.
    init(_ header: Header, in path: String) throws(DeviceError) {
        self.header = header
        files = try Folder(opening: path, crosses: true)
        try Self.removeLeft(in: files)
        name = Self.prefix + String(UInt64.random(in: .min ... .max), radix: 36)
        try files.makeFolder(name, mode: 0o750)
        do throws(DeviceError) {
            folder = try files.folder(name)
            try folder.lock()
            let around = header.recorder.isEmpty ? RecorderIdentity.unknownName : header.recorder
            try folder.makeFolder(around, mode: 0o750)
            recorder = try folder.folder(around)
            try recorder.makeFolder(header.name, mode: 0o750)
            copy = try recorder.folder(header.name)
        } catch {
            try? files.removeAll(name)
            throw error
        }
    }

    deinit { close() }

    /// The name under which a single file is stored. The title of a sound's recording comes from it.
    private var singleName: String { header.kind == .sound ? header.name : Self.textName }

    /// The key of the result for a sound file, which nobody can guess.
    var key: String { name }

    var occupiesDisk: Bool { isOpen.load(ordering: .acquiring) }

    private func close() {
        guard occupiesDisk else { return }
        try? files.removeAll(name)
        isOpen.store(false, ordering: .releasing)
    }

    /// Appends the next bytes of the tar. After an error, the rest is ignored.
    func append(_ bytes: UnsafeRawBufferPointer) {
        guard error == nil else { return }
        do throws(DeviceError) {
            try tar.take(bytes) { event throws(DeviceError) in
                switch event {
                case .file(let name, _):
                    count += 1
                    guard count <= Self.maxFiles else {
                        throw DeviceError(.unsupported, "tar", "more than \(Self.maxFiles) files are not a copy")
                    }
                    let place = header.isCopy && name == RecorderFolder.fileName ? recorder : copy
                    current = try NewFile(header.isCopy ? name : singleName, in: place, shouldStop: { false })
                case .bytes(let piece): if let current { try current.write(piece, at: current.length) }
                case .end:
                    try current?.flush()
                    current = nil
                }
            }
        } catch { self.error = error }
    }

    /// Adds the files to an archive, as `gather`, `import` or `add` does, and removes them. Blocks.
    ///
    /// - Parameters:
    ///   - reader: the program whose confined process parses files.
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
        } catch { return Outcome(lines: [shown(error.message)], isTaken: false) }
    }

    private func gather(_ reader: String, into archive: any OfficeArchive) throws(DeviceError) -> Outcome {
        let report = try Gathering(into: archive, key: nil, reader: reader).run([.folder(recorder.path)])
        let corrections =
            report.corrections == 0
            ? nil : report.corrections == 1 ? "a correction" : "\(report.corrections) corrections"
        var lines: [String] = []
        if report.taken > 0 { lines.append("\(title): added" + (corrections.map { ", with \($0)" } ?? "")) }
        if report.known > 0 {
            let more = corrections.map { "added \($0)" } ?? "nothing was changed"
            lines.append("\(title): already in the archive; \(more)")
        }
        if report.sealed > 0 {
            lines.append("\(title): is sealed; open it with fieldscribe-office gather --key FILE")
        }
        return Outcome(
            lines: lines + (report.problems + report.notes).map(shown), isTaken: report.taken + report.known > 0)
    }

    private func importText(into archive: any OfficeArchive) throws(DeviceError) -> Outcome {
        let bytes = try copy.content(ofFile: Self.textName, limit: Self.largestText)
        let line = try OfficeImport(archive, field: OfficeSite.recordingField).add(
            bytes, of: header.name, to: header.recording, by: header.person, now: MonotonicClock.wallSeconds)
        return Outcome(lines: [oneLine(line)], isTaken: true)
    }

    private func addSound(_ program: String?, into archive: any OfficeArchive) throws(DeviceError) -> Outcome {
        let path = "\(copy.path)/\(header.name)"
        if let changed = header.changed {
            let time = timespec(tv_sec: changed, tv_nsec: 0)
            // If this fails, the recording starts now.
            _ = utimensat(AT_FDCWD, path, [time, time], AT_SYMLINK_NOFOLLOW)
        }
        let adding = try OfficeAdding(into: archive, program: program)
        if let digest = try OfficeAdding.digest(of: path), let known = try adding.known()[digest] {
            return Outcome(lines: [AddedFile.known(known, header.name).message], isTaken: true)
        }
        let (report, _, messages) = try rethrowing { try adding.add([path], showsMessages: false) }
        let taken = report.taken > 0 ? ["\(header.name): added"] : []
        return Outcome(
            lines: taken + (messages + report.problems + report.notes).map(shown), isTaken: report.taken > 0)
    }

    private var title: String { header.recorder.isEmpty ? header.name : "\(header.recorder)/\(header.name)" }

    /// Returns a message with the user's original paths.
    private func shown(_ message: String) -> String {
        let around = header.kind == .sound ? copy.path : header.recorder.isEmpty ? recorder.path : folder.path
        let text = oneLine(message.replacing("\(around)/", with: "").replacing("\(folder.path)/", with: ""))
        return text.hasPrefix(title) ? text : "\(title): \(text)"
    }
}
