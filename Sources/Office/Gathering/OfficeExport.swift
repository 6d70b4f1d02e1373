import Copying
import Core
import Glibc
import System
import Transcripts

/// Copies recordings out of an archive, and checks each; a copy is complete or not made at all. Another archive can
/// gather the result. Used on one thread.
package struct OfficeExport {
    private static let partial = ".exporting"
    private let archive: any OfficeArchive
    private let files: Folder
    private let target: Folder

    /// - Parameter path: a folder, which is created if it is missing.
    package init(of archive: any OfficeArchive, to path: String) throws(DeviceError) {
        self.archive = archive
        files = try Folder(opening: archive.files, crosses: true)
        try makeFolder(path, mode: 0o755)
        target = try Folder(opening: path, crosses: true)
        guard try files.identity() != target.identity() else {
            throw DeviceError(
                .unsupported, "export", on: path, "is the archive itself", remedy: "name another folder")
        }
        try target.lock()
    }

    /// Copies the latest copy of a recording and its corrections to `Fieldscribe/RECORDER/COPY`.
    ///
    /// - Returns: whether it was new there.
    /// - Throws: `DeviceError` that names a file which does not match SHA256SUMS.
    package func copy(_ recording: OfficeRecording) throws(DeviceError) -> Bool {
        let source = try folder(of: recording)
        let top = try Self.folder("Fieldscribe", in: target)
        let recorder = try Self.folder(recording.recorder.folder, in: top)
        if try !recorder.exists(RecorderFolder.fileName) {
            try recorder.replace(RecorderFolder.fileName, with: Array(recording.recorder.fileText.utf8), mode: 0o644)
        }
        let name = recording.folderName
        let wanted = try source.manifestContent()
        if try recorder.exists(name) {
            let there = try recorder.folder(name)
            if try there.exists(CopySettings.manifestName), try there.manifestContent() == wanted {
                try copySaved(from: source, to: there)
                return false
            }
            throw DeviceError(
                .busy, "export", on: "\(recorder.path)/\(name)", "is a different copy, or was changed",
                remedy: "move it elsewhere, or name another folder")
        }
        try recorder.removeAll(Self.partial)
        try recorder.makeFolder(Self.partial, mode: 0o755)
        do throws(DeviceError) {
            let folder = try recorder.folder(Self.partial)
            _ = try StagedCopy(copying: source, into: folder).proved()
            try copySaved(from: source, to: folder)
            try recorder.syncFileSystem()
            try recorder.move(Self.partial, to: recorder, as: name)
            try recorder.sync()
        } catch {
            try? recorder.removeAll(Self.partial)
            throw error
        }
        return true
    }

    private func copySaved(from source: Folder, to folder: Folder) throws(DeviceError) {
        for name in try source.names(limit: 10_000).filter(SavedCorrections.isName) where try !folder.exists(name) {
            let bytes = try source.content(ofFile: name, limit: SavedCorrections.largest)
            try folder.replace(name, with: bytes, mode: 0o644)
        }
    }

    /// Writes a recording's default transcript to `RECORDER/TITLE.EXTENSION`.
    ///
    /// - Parameter replaces: whether to replace a file that differs.
    /// - Returns: whether it was written.
    /// - Throws: `DeviceError` with `busy` if a different file exists, `missing` if the recording has no transcript.
    package func write(
        _ recording: OfficeRecording, as format: TranscriptFormat, title: String, replaces: Bool
    ) throws(DeviceError) -> Bool {
        guard let timeline = try archive.shownTimeline(of: recording.id) else {
            throw DeviceError(.missing, "export", on: "recording \(recording.id)", "has no transcript")
        }
        let bytes = try rethrowing { try format.file(timeline, details: RecordingDetails(timeline, title: title)) }
        let folder = try Self.folder(recording.recorder.folder, in: target)
        let name = "\(recording.folderName).\(format.fileExtension)"
        if try folder.exists(name) {
            let there = try folder.content(ofFile: name, limit: 1 << 30)
            if there == bytes { return false }
            guard replaces else {
                throw DeviceError(
                    .busy, "export", on: "\(folder.path)/\(name)", "exists and differs",
                    remedy: "replace it with --force, or name another folder")
            }
        }
        try folder.replace(name, with: bytes, mode: 0o644)
        return true
    }

    private func folder(of recording: OfficeRecording) throws(DeviceError) -> Folder {
        guard !recording.place.isEmpty else {
            throw DeviceError(.missing, "export", on: "recording \(recording.id)", "has no copy")
        }
        return try files.folder(along: recording.place)
    }

    private static func folder(_ name: String, in parent: Folder) throws(DeviceError) -> Folder {
        if try !parent.exists(name) { try parent.makeFolder(name, mode: 0o755) }
        return try parent.folder(name)
    }
}

extension Recorder {
    /// The content of RECORDER.txt in its folder.
    var fileText: String { "\(machine ?? "-")\nname: \(name)\n" }
}
