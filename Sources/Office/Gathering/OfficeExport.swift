import Copying
import Core
import Glibc
import System
import Transcripts

/// Exports transcripts, and verified copies of recordings, which another archive can gather. Each copy is exported
/// completely or not at all. Used on one thread.
package struct OfficeExport {
    private static let temporaryName = ".exporting"
    private let archive: any OfficeArchive
    private let files: Folder
    private let target: Folder

    /// - Parameter path: the target folder, which is created if it is missing.
    package init(of archive: any OfficeArchive, to path: String) throws(DeviceError) {
        self.archive = archive
        files = try Folder(opening: archive.filesPath, crossesMounts: true)
        try makeFolder(path, mode: 0o755)
        target = try Folder(opening: path, crossesMounts: true)
        guard try files.identity() != target.identity() else {
            throw DeviceError(
                .unsupported, "export", on: path, "is the archive itself", remedy: "choose another folder")
        }
        try target.lock()
    }

    /// Exports a recording's shown copy and its corrections to `Fieldscribe/RECORDER/COPY`.
    ///
    /// - Returns: whether a copy was written; false if the target already has the copy.
    /// - Throws: `DeviceError`, for example with the name of a file that does not match SHA256SUMS.
    package func copy(_ recording: OfficeRecording) throws(DeviceError) -> Bool {
        let source = try folder(of: recording)
        let top = try Self.openFolder("Fieldscribe", in: target)
        let recorder = try Self.openFolder(recording.recorder.folder, in: top)
        if try !recorder.exists(RecorderFolder.fileName) {
            try recorder.replace(RecorderFolder.fileName, with: Array(recording.recorder.fileText.utf8), mode: 0o644)
        }
        let name = recording.folderName
        let manifest = try source.manifestContent()
        if try recorder.exists(name) {
            let existing = try recorder.folder(name)
            if try existing.exists(CopySettings.manifestName), try existing.manifestContent() == manifest {
                try copyCorrections(from: source, to: existing)
                return false
            }
            throw DeviceError(
                .busy, "export", on: "\(recorder.path)/\(name)", "is a different copy, or was changed",
                remedy: "move it elsewhere, or choose another folder")
        }
        try recorder.removeAll(Self.temporaryName)
        try recorder.makeFolder(Self.temporaryName, mode: 0o755)
        do throws(DeviceError) {
            let folder = try recorder.folder(Self.temporaryName)
            _ = try StagedCopy(copying: source, into: folder).verifiedManifest()
            try copyCorrections(from: source, to: folder)
            try recorder.syncFileSystem()
            try recorder.move(Self.temporaryName, to: recorder, as: name)
            try recorder.sync()
        } catch {
            try? recorder.removeAll(Self.temporaryName)
            throw error
        }
        return true
    }

    private func copyCorrections(from source: Folder, to folder: Folder) throws(DeviceError) {
        for name in try source.names(limit: 10_000).filter(SavedCorrections.isFileName) where try !folder.exists(name) {
            let bytes = try source.content(ofFile: name, limit: SavedCorrections.maximumBytes)
            try folder.replace(name, with: bytes, mode: 0o644)
        }
    }

    /// Writes a recording's shown transcript to `RECORDER/COPY.EXTENSION`.
    ///
    /// - Parameter replaces: whether to replace a file that differs.
    /// - Returns: whether a file was written.
    /// - Throws: `DeviceError` with `busy` if a different file exists and `replaces` is false, `missing` if the
    ///   recording has no transcript.
    package func write(
        _ recording: OfficeRecording, as format: TranscriptFormat, title: String, replaces: Bool
    ) throws(DeviceError) -> Bool {
        guard let timeline = try archive.shownTimeline(of: recording.id) else {
            throw DeviceError(.missing, "export", on: "recording \(recording.id)", "has no transcript")
        }
        let bytes = try rethrowing { try format.file(timeline, details: RecordingDetails(timeline, title: title)) }
        let folder = try Self.openFolder(recording.recorder.folder, in: target)
        let name = "\(recording.folderName).\(format.fileExtension)"
        if try folder.exists(name) {
            let existing = try folder.content(ofFile: name, limit: 1 << 30)
            if existing == bytes { return false }
            guard replaces else {
                throw DeviceError(
                    .busy, "export", on: "\(folder.path)/\(name)", "exists and differs",
                    remedy: "replace it with --force, or choose another folder")
            }
        }
        try folder.replace(name, with: bytes, mode: 0o644)
        return true
    }

    private func folder(of recording: OfficeRecording) throws(DeviceError) -> Folder {
        guard !recording.copyFolder.isEmpty else {
            throw DeviceError(.missing, "export", on: "recording \(recording.id)", "has no copy")
        }
        return try files.folder(along: recording.copyFolder)
    }

    private static func openFolder(_ name: String, in parent: Folder) throws(DeviceError) -> Folder {
        if try !parent.exists(name) { try parent.makeFolder(name, mode: 0o755) }
        return try parent.folder(name)
    }
}

extension Recorder {
    /// The content of RECORDER.txt in the recorder's folder.
    var fileText: String { "\(machine ?? "-")\nname: \(name)\n" }
}
