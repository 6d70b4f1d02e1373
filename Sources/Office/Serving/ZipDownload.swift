import Copying
import Core
import Glibc
import System
import Transcripts

/// A ZIP file with recordings that is made while it is sent. It contains the same copies as `export` makes, which can
/// be gathered, each with its shown transcript. PROBLEMS.txt at the end lists files that were left out because they
/// cannot be opened, and files that do not match their checksums. Used on one thread.
final class ZipDownload {
    /// An open file, which stays readable if somebody deletes it.
    private final class Content {
        /// The path in the ZIP file.
        let path: String
        let file: FileDescriptor
        let length: Int64
        var offset: Int64 = 0
        var sum: UInt32 = 0
        var digest = Digest()

        init(_ path: String, _ file: consuming FileDescriptor) throws(DeviceError) {
            self.path = path
            length = try file.size()
            self.file = file
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

    private static let block = 64 << 10

    private let archive: any OfficeArchive
    private let files: Folder
    private let onEnd: (DeviceError?) -> Void
    private var zip = ZipPackage()
    private var remaining: ArraySlice<OfficeRecording>
    private var recorders: Set<String> = []
    private var copy: Copy?
    private var content: Content?
    /// Bytes that were made but not sent yet.
    private var pending: ArraySlice<UInt8> = []
    private var problems: [String] = []
    private var isFinished = false
    private var error: DeviceError?

    /// - Parameter onEnd: called once, after the last byte, after an error, or when the client has disconnected.
    init(
        _ recordings: [OfficeRecording], in archive: any OfficeArchive, onEnd: @escaping (DeviceError?) -> Void
    ) throws(DeviceError) {
        self.archive = archive
        self.onEnd = onEnd
        files = try Folder(opening: archive.files, crossesMounts: true)
        remaining = recordings[...]
    }

    deinit { onEnd(error) }

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
        if let content {
            try send(content)
        } else if let name = copy?.names.popFirst() {
            open(name)
        } else if let recording = remaining.first {
            do throws(DeviceError) { try openNext() } catch {
                // If the archive does not respond, each remaining recording would also wait for it.
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
        guard !recording.place.isEmpty else {
            throw DeviceError(.missing, "download", on: "recording \(recording.id)", "has no copy")
        }
        let folder = try files.folder(along: recording.place)
        guard let manifest = try folder.manifest() else {
            throw DeviceError(
                .damaged, "read", on: "\(folder.path)/\(CopySettings.manifestName)", "is damaged",
                remedy: "gather the recording again")
        }
        let otherNames = try folder.names(limit: 10_000).filter { name in
            [CopySettings.manifestName, CopySettings.signatureName].contains(name) || SavedCorrections.isName(name)
        }
        let recorder = "Fieldscribe/\(recording.recorder.folder)"
        let name = recording.folderName
        let format = TranscriptFormat.docx
        var text: [UInt8]?
        if let timeline = try archive.shownTimeline(of: recording.id) {
            let details = RecordingDetails(timeline, title: OfficePage.title(of: recording))
            text = try rethrowing { try format.file(timeline, details: details) }
        }
        if recorders.insert(recorder).inserted {
            pending += zip.entry("\(recorder)/\(RecorderFolder.fileName)", Array(recording.recorder.fileText.utf8))
        }
        if let text { pending += zip.entry("\(recorder)/\(name).\(format.fileExtension)", text) }
        let names = Set(manifest.digests.keys).union(otherNames).sorted()
        copy = Copy(path: "\(recorder)/\(name)", folder: folder, manifest: manifest, names: names[...])
    }

    private func open(_ name: String) {
        guard let copy else { return }
        // Some programs treat `..\x` as a path that leaves the folder. Recorders never write such names.
        guard name.allSatisfy({ $0.isASCIIAlphanumeric || "-._ ()".contains($0) }) else {
            return problems.append("\(copy.path): a file with an unusual name was left out")
        }
        let path = "\(copy.path)/\(name)"
        do throws(DeviceError) {
            let opened = try Content(path, try copy.folder.openFile(name, O_RDONLY))
            pending += zip.begin(path, length: opened.length)
            content = opened
        } catch { problems.append("\(path): \(error.reason)") }
    }

    /// Makes the next block of a file.
    private func send(_ content: Content) throws(DeviceError) {
        let count = Int(min(Int64(Self.block), content.length - content.offset))
        let bytes = try content.file.bytes(at: content.offset, count: count)
        guard bytes.count == count else {
            throw DeviceError(.damaged, "read", on: content.file.path, "was truncated while it was sent")
        }
        pending += bytes
        content.sum = CRC32.of(bytes, after: content.sum)
        bytes.withUnsafeBytes { content.digest.add($0) }
        content.offset += Int64(count)
        guard content.offset == content.length else { return }
        pending += zip.end(sum: content.sum)
        self.content = nil
        let name = content.path.split(separator: "/").last.map(String.init) ?? ""
        if let listed = copy?.manifest.digests[name], content.digest.finish() != listed {
            problems.append("\(content.path): does not match its checksum; look for another copy of it")
        }
    }
}
