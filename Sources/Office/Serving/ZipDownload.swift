import Copying
import Core
import Glibc
import System
import Transcripts

/// A ZIP file with recordings that is made while it is sent. It contains copies like those of `export`, which can be
/// gathered, and each recording's shown transcript. If files are left out or do not match their checksums, PROBLEMS.txt at
/// the end lists them. Used on one thread.
final class ZipDownload {
    /// An open file, which stays readable if somebody deletes it.
    private final class OpenFile {
        /// The path in the ZIP file.
        let path: String
        let descriptor: FileDescriptor
        let length: Int64
        var offset: Int64 = 0
        var checksum: UInt32 = 0
        var digest = Digest()

        init(_ path: String, _ descriptor: consuming FileDescriptor) throws(DeviceError) {
            self.path = path
            length = try descriptor.size()
            self.descriptor = descriptor
        }
    }

    /// The copy that is being sent.
    private struct Copy {
        /// The path in the ZIP file.
        var path: String
        var folder: Folder
        var manifest: Manifest
        /// The names of files that were not opened yet.
        var names: ArraySlice<String>
    }

    private static let blockLength = 64 << 10

    private let archive: any OfficeArchive
    private let files: Folder
    private let onCompletion: (DeviceError?) -> Void
    private var zip = ZipPackage()
    private var remaining: ArraySlice<OfficeRecording>
    /// The folders in the ZIP file that already contain RECORDER.txt.
    private var recorderFolders: Set<String> = []
    private var currentCopy: Copy?
    private var currentFile: OpenFile?
    /// Bytes that were made but not sent yet.
    private var pending: ArraySlice<UInt8> = []
    private var problems: [String] = []
    private var isFinished = false
    private var error: DeviceError?

    /// - Parameter onCompletion: called once, when the ZIP file was sent, an error occurred, or the client disconnected.
    init(
        _ recordings: [OfficeRecording], in archive: any OfficeArchive, onCompletion: @escaping (DeviceError?) -> Void
    ) throws(DeviceError) {
        self.archive = archive
        self.onCompletion = onCompletion
        files = try Folder(opening: archive.filesPath, crossesMounts: true)
        remaining = recordings[...]
    }

    deinit { onCompletion(error) }

    /// Writes the next bytes into a buffer.
    ///
    /// - Returns: the number of bytes; 0 after the last byte, nil if the ZIP file cannot be completed.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> Int? {
        do throws(DeviceError) {
            while pending.isEmpty, !isFinished { try makeMore() }
        } catch {
            self.error = error
            return nil
        }
        let count = min(buffer.count, pending.count)
        buffer.copyBytes(from: pending.prefix(count))
        pending = pending.dropFirst(count)
        return count
    }

    private func makeMore() throws(DeviceError) {
        if let currentFile {
            try appendBlock(of: currentFile)
        } else if let name = currentCopy?.names.popFirst() {
            open(name)
        } else if let recording = remaining.first {
            do throws(DeviceError) { try openNext() } catch {
                // If the archive does not respond, each remaining recording would also wait for the timeout.
                guard error.status != ETIMEDOUT, error.status != ECANCELED else { throw error }
                problems.append("recording \(recording.id): \(error.message)")
            }
        } else {
            if !problems.isEmpty {
                let text = problems.map { oneLine($0) + "\n" }.joined()
                pending += zip.entry("Fieldscribe/PROBLEMS.txt", Array(text.utf8))
            }
            pending += zip.directory()
            isFinished = true
        }
    }

    /// Opens the copy of the next recording.
    ///
    /// - Throws: `DeviceError` if that fails; nothing of the recording is sent then.
    func openNext() throws(DeviceError) {
        guard let recording = remaining.popFirst() else { return }
        guard !recording.copyFolder.isEmpty else {
            throw DeviceError(.missing, "download", on: "recording \(recording.id)", "has no copy")
        }
        let folder = try files.folder(along: recording.copyFolder)
        guard let manifest = try folder.manifest() else {
            throw DeviceError(
                .damaged, "read", on: "\(folder.path)/\(CopySettings.manifestName)", "is damaged",
                remedy: "gather the recording again")
        }
        let otherNames = try folder.names(limit: 10_000).filter { name in
            [CopySettings.manifestName, CopySettings.signatureName].contains(name) || SavedCorrections.isFileName(name)
        }
        let recorder = "Fieldscribe/\(recording.recorder.folder)"
        let name = recording.folderName
        let format = TranscriptFormat.docx
        var document: [UInt8]?
        if let timeline = try archive.shownTimeline(of: recording.id) {
            let details = RecordingDetails(timeline, title: OfficePage.title(of: recording))
            document = try rethrowing { try format.file(timeline, details: details) }
        }
        if recorderFolders.insert(recorder).inserted {
            pending += zip.entry("\(recorder)/\(RecorderFolder.fileName)", Array(recording.recorder.fileText.utf8))
        }
        if let document { pending += zip.entry("\(recorder)/\(name).\(format.fileExtension)", document) }
        let names = Set(manifest.digests.keys).union(otherNames).sorted()
        currentCopy = Copy(path: "\(recorder)/\(name)", folder: folder, manifest: manifest, names: names[...])
    }

    private func open(_ name: String) {
        guard let copy = currentCopy else { return }
        // Some programs treat `..\x` as a path outside the folder. Recorders never write such names.
        guard name.allSatisfy({ $0.isASCIIAlphanumeric || "-._ ()".contains($0) }) else {
            return problems.append("\(copy.path): a file with an unusual name was left out")
        }
        let path = "\(copy.path)/\(name)"
        do throws(DeviceError) {
            let file = try OpenFile(path, try copy.folder.openFile(name, O_RDONLY))
            pending += zip.begin(path, length: file.length)
            currentFile = file
        } catch { problems.append("\(path): \(error.reason)") }
    }

    /// Appends the next block of a file to `pending`.
    private func appendBlock(of file: OpenFile) throws(DeviceError) {
        let count = Int(min(Int64(Self.blockLength), file.length - file.offset))
        let bytes = try file.descriptor.bytes(at: file.offset, count: count)
        guard bytes.count == count else {
            throw DeviceError(.damaged, "read", on: file.descriptor.path, "was truncated while it was sent")
        }
        pending += bytes
        file.checksum = CRC32.of(bytes, after: file.checksum)
        bytes.withUnsafeBytes { file.digest.add($0) }
        file.offset += Int64(count)
        guard file.offset == file.length else { return }
        pending += zip.end(sum: file.checksum)
        currentFile = nil
        let name = file.path.split(separator: "/").last.map(String.init) ?? ""
        if let expected = currentCopy?.manifest.digests[name], file.digest.finish() != expected {
            problems.append("\(file.path): does not match its checksum; look for another copy of it")
        }
    }
}
