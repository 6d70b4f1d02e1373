import Copying
import Core
import Glibc
import System

/// Adds copies of recordings from sticks and folders to an archive, after it has verified their checksums. Each copy is
/// added completely or not at all, even if the process is interrupted. Blocks the calling thread; used on one thread.
///
/// A copy's files are first written to a hidden folder. For a batch of copies, the file system is synced once, then the
/// copies are renamed, then their rows are committed. After a power cut, the next run adds copies without a row again.
package final class Gathering {
    /// The numbers of copies and bytes after which a batch is committed.
    private static let (maximumCopies, maximumBytes): (Int, Int64) = (64, 128 << 20)
    /// If each thread has two copies and the text files of all copies in progress exceed this number of bytes, no more
    /// copies are started.
    private static let maximumTextBytes: Int64 = 16 << 20
    private static let hiddenName = ".gathering"

    let archive: any OfficeArchive
    private let key: String?
    let reader: String
    private let progress: (GatherReport) -> Void
    let files: Folder
    var report: GatherReport
    private var batch: [BatchCopy] = []
    /// Sealed files whose copies are already in the archive or in the batch, with the copies' digests.
    private var duplicateSealed: [(sealed: String, digest: String)] = []
    private var digests: Set<String> = []
    /// The recorders of earlier copies.
    private var recorders: [RecorderIdentity: Recorder] = [:]
    /// The number of copies that were started, for the names of their folders in `staging`.
    private var startedCount = 0
    let staging: Folder
    /// The copies whose folders may contain corrections that were not added yet, with the copies' digests.
    var pendingCorrections: [(copy: FoundCopies.Copy, digest: String)] = []
    private let threads: [WorkThread]
    private var isReadable = true
    /// The copies that threads are reading, in the order in which they were started.
    private var inProgress: [CopyInProgress] = []

    /// A copy that a thread is reading.
    private struct CopyInProgress {
        var foundCopy: FoundCopies.Copy
        /// The name of the copy's folder in `staging`.
        var temporary: String
        /// The digest of the copy's SHA256SUMS; nil if the copy is sealed.
        var digest: String?
        /// The digest of the sealed file; nil if the copy is not sealed.
        var sealedDigest: String?
        /// The estimated size of the copy's text files in bytes.
        var textBytes: Int64
        var content: BlockingResult<Result<CopyContent, DeviceError>>
    }

    struct BatchCopy {
        /// The name of the copy's folder in `staging`.
        var temporary: String
        /// The name that the copy's folder gets in the recorder's folder.
        var name: String
        var copy: GatheredCopy
        /// The SHA-256 of the copy's audio file; nil if there is none.
        var audioDigest: String?
        var bytes: Int64
    }

    /// - Parameters:
    ///   - key: the path of a private key that opens sealed copies; nil to skip sealed copies.
    ///   - reader: the program that parses corrections, and checks large files, in a sandboxed process.
    ///   - progress: called after each copy.
    /// - Throws: `DeviceError` with `busy` if another process is gathering into this archive.
    package init(
        into archive: any OfficeArchive, key: String?, reader: String = "/proc/self/exe",
        progress: @escaping (GatherReport) -> Void = { _ in }
    ) throws(DeviceError) {
        self.archive = archive
        self.key = key
        self.reader = reader
        self.progress = progress
        report = GatherReport(archive: archive.name)
        files = try Folder(opening: archive.filesPath, crossesMounts: true)
        do throws(DeviceError) { try files.lock() } catch {
            guard error.code == .busy else { throw error }
            throw DeviceError(
                .busy, "flock", status: error.status, on: archive.filesPath, "another process is gathering into it",
                remedy: "wait until it has finished")
        }
        // An earlier process that was killed may have left this folder behind.
        try files.removeAll(Self.hiddenName)
        try files.makeFolder(Self.hiddenName, mode: 0o750)
        staging = try files.folder(Self.hiddenName)
        let processors = min(max(sysconf(Int32(_SC_NPROCESSORS_ONLN)), 2), 4)
        threads = (1...processors).map { WorkThread(named: "gather \($0)") }
    }

    /// Adds the contents of these folders, sticks and archives.
    ///
    /// - Throws: `DeviceError` if nothing more can be added, for example if the disk is full. Earlier additions stay.
    package func run(_ sources: [GatherSource]) throws(DeviceError) -> GatherReport {
        defer { try? files.removeAll(Self.hiddenName) }
        var separateFiles: [(location: FoundCopies.Location, name: String)] = []
        for source in sources {
            switch source {
            case .folder(let path) where RecorderArchive.isArchive(path): try addRecorderArchive(path)
            case .folder(let path): separateFiles += try addFolder(path)
            case .archive(let other): separateFiles += try addFolder(other.filesPath)
            }
        }
        try commit()
        var corrections: [FoundCorrections] = []
        for (location, name) in separateFiles {
            if let file = try readCorrections(name, at: location) { corrections.append(file) }
        }
        try addCorrections(corrections, of: nil)
        for case .archive(let other) in sources { try addTranscripts(from: other) }
        report.outdated = try archive.outdatedFolders().map { "\(archive.filesPath)/\($0)" }.filter { pathExists($0) }
        return report
    }

    /// Adds the copies in a folder, and returns the corrections that are not beside a copy.
    private func addFolder(_ path: String) throws(DeviceError) -> [(location: FoundCopies.Location, name: String)] {
        let foundCopies: FoundCopies
        do throws(DeviceError) { foundCopies = try FoundCopies(in: path, excluding: files) } catch {
            report.problems.append(error.message)
            return []
        }
        report.problems += foundCopies.problems
        if foundCopies.copies.isEmpty, foundCopies.problems.isEmpty, foundCopies.corrections.isEmpty {
            report.problems.append("\(path): contains no copy of a recording")
        }
        try add(foundCopies.copies)
        return foundCopies.corrections
    }

    /// Processes copies until each is in the batch, in the archive, or rejected.
    func add(_ copies: [FoundCopies.Copy]) throws(DeviceError) {
        // If this function throws, waits for the threads, which write to `staging`, before the caller removes it.
        defer {
            for copy in inProgress { _ = copy.content.wait() }
            inProgress = []
        }
        isReadable = true
        for start in stride(from: 0, to: copies.count, by: Self.maximumCopies) where isReadable {
            let next = copies[start..<min(start + Self.maximumCopies, copies.count)]
            let lookups = try lookUp(next)
            for copy in next where isReadable {
                try attempt { () throws(DeviceError) in try add(copy, lookups[copy.path]) }
                while hasEnoughInProgress { try finishNext() }
            }
        }
        while !inProgress.isEmpty { try finishNext() }
    }

    /// Looks up copies in the archive. Returns the results by path, without sealed copies and copies that cannot be read.
    private func lookUp(_ copies: ArraySlice<FoundCopies.Copy>) throws(DeviceError) -> [String: (
        digest: String, isInArchive: Bool
    )] {
        var digests: [String: String] = [:]
        for copy in copies where copy.sealedName == nil { digests[copy.path] = try? Self.manifestDigest(of: copy) }
        let existing = try archive.existingCopies(among: digests.values.sorted())
        return digests.mapValues { ($0, existing.contains($0)) }
    }

    private static func manifestDigest(of copy: FoundCopies.Copy) throws(DeviceError) -> String {
        Digest.of(try copy.location.open().manifestContent())
    }

    /// Whether the threads have enough copies to read while a batch is committed.
    private var hasEnoughInProgress: Bool {
        if inProgress.count <= threads.count * 2 { return false }
        let textBytes = inProgress.reduce(0) { $0 + $1.textBytes }
        return inProgress.count >= Self.maximumCopies || textBytes > Self.maximumTextBytes
    }

    /// Waits for the copy that was started first, and adds it to the batch.
    private func finishNext() throws(DeviceError) {
        let next = inProgress.removeFirst()
        try attempt { () throws(DeviceError) in try addToBatch(next) }
    }

    /// Runs `body`, which processes one copy, and handles its error.
    private func attempt(_ body: () throws(DeviceError) -> Void) throws(DeviceError) {
        defer { progress(report) }
        do throws(DeviceError) { try body() } catch {
            // If the stick was removed, every other copy on it would fail too. Reports only the first error.
            let isRemoved = [EIO, ENODEV, ENXIO].contains(error.status)
            if isReadable || !isRemoved { try handle(error) }
            if isRemoved { isReadable = false }
        }
    }

    /// Reports an error in a copy or in corrections. Throws the error if it concerns the archive itself, or if a disk
    /// is full.
    func handle(_ error: DeviceError) throws(DeviceError) {
        let subject = error.subject ?? error.reason
        // A stick's name may begin like the archive's name. Files dropped in a browser are in the archive's folder.
        let concernsArchive = [archive.name, archive.filesPath].contains { path in
            subject == path || (subject.hasPrefix("\(path)/") && !subject.hasPrefix("\(path)/\(DroppedFiles.prefix)"))
        }
        if error.code == .full || concernsArchive { throw error }
        report.problems.append(error.message)
    }

    /// - Parameter lookup: the result of `lookUp`; nil for a sealed copy, or if the copy could not be read.
    private func add(
        _ foundCopy: FoundCopies.Copy, _ lookup: (digest: String, isInArchive: Bool)?
    ) throws(DeviceError) {
        if foundCopy.sealedName != nil { return try addSealed(foundCopy) }
        var (digest, isInArchive) = lookup ?? ("", false)
        if lookup == nil {
            digest = try Self.manifestDigest(of: foundCopy)
            isInArchive = try archive.existingCopies(among: [digest]).contains(digest)
        }
        if !isInArchive, !digests.contains(digest) {
            let textBytes = StagedCopy.textBytes(in: try foundCopy.location.open())
            return try start(foundCopy, digest: digest, sealedDigest: nil, textBytes) { (folder) throws(DeviceError) in
                try StagedCopy(copying: try foundCopy.location.open(), into: folder)
            }
        }
        report.known += 1
        try addCorrections(beside: foundCopy, digest)
    }

    /// Adds the corrections beside a copy as soon as the copy is in the archive.
    private func addCorrections(beside foundCopy: FoundCopies.Copy, _ digest: String) throws(DeviceError) {
        pendingCorrections.append((foundCopy, digest))
        if batch.isEmpty { try addPendingCorrections() }
    }

    private func addSealed(_ foundCopy: FoundCopies.Copy) throws(DeviceError) {
        guard let key, let name = foundCopy.sealedName else { return report.sealed += 1 }
        let digest = try Digest.of(foundCopy.location.open().openFile(name, O_RDONLY))
        if try archive.copyDigest(ofSealed: digest) != nil { return report.known += 1 }
        // The size is unknown before the copy is opened.
        let textBytes = Self.maximumTextBytes / 4
        try start(foundCopy, digest: nil, sealedDigest: digest, textBytes) { (folder) throws(DeviceError) in
            try StagedCopy(opening: name, in: try foundCopy.location.open(), with: key, into: folder)
        }
    }

    /// Starts to stage and verify a copy on a thread.
    private func start(
        _ foundCopy: FoundCopies.Copy, digest: String?, sealedDigest: String?, _ textBytes: Int64,
        _ stage: @escaping @Sendable (Folder) throws(DeviceError) -> StagedCopy
    ) throws(DeviceError) {
        startedCount += 1
        let (temporary, name) = ("\(startedCount)", foundCopy.name)
        let content = BlockingResult<Result<CopyContent, DeviceError>>()
        try staging.makeFolder(temporary, mode: 0o750)
        let (staging, reader) = (staging, reader)
        threads[startedCount % threads.count].start {
            do throws(DeviceError) {
                let staged = try stage(try staging.folder(temporary))
                content.set(.success(try CopyContent(staged, named: name, reader: reader)))
            } catch { content.set(.failure(error)) }
        }
        inProgress.append(
            CopyInProgress(
                foundCopy: foundCopy, temporary: temporary, digest: digest, sealedDigest: sealedDigest,
                textBytes: textBytes, content: content))
    }

    private func addToBatch(_ copy: CopyInProgress) throws(DeviceError) {
        let foundCopy = copy.foundCopy
        do throws(DeviceError) {
            let content = try copy.content.wait().get()
            report.notes += content.notes.filter { !report.notes.contains($0) }
            // Another stick may contain the same copy, readable or sealed.
            if try isKnown(content.manifest.digest, isSealed: copy.sealedDigest != nil) {
                report.known += 1
                try staging.removeAll(copy.temporary)
                if let digest = copy.sealedDigest { duplicateSealed.append((digest, content.manifest.digest)) }
            } else {
                batch.append(try batchCopy(content, copy))
                digests.insert(content.manifest.digest)
            }
        } catch {
            try? staging.removeAll(copy.temporary)
            throw error
        }
        let bytes = batch.reduce(0) { $0 + $1.bytes }
        if batch.count + duplicateSealed.count >= Self.maximumCopies || bytes >= Self.maximumBytes { try commit() }
        if let digest = copy.digest { try addCorrections(beside: foundCopy, digest) }
    }

    /// Returns whether a copy is in the batch or the archive. A readable copy was already looked up in the archive.
    private func isKnown(_ digest: String, isSealed: Bool) throws(DeviceError) -> Bool {
        if digests.contains(digest) || !isSealed { return digests.contains(digest) }
        return try archive.existingCopies(among: [digest]).contains(digest)
    }

    private func batchCopy(_ content: CopyContent, _ copy: CopyInProgress) throws(DeviceError) -> BatchCopy {
        var identity = copy.foundCopy.recorder
        identity.key = content.key ?? identity.key
        // The name of a folder with sealed copies is not the recorder's name.
        let isNamed = copy.sealedDigest == nil && identity.name != RecorderIdentity.unknownName
        if !isNamed, let device = content.device { identity.name = device }
        // If the copy has neither key nor machine ID, another copy of the recording in the archive identifies the recorder.
        let isAnonymous = identity.key == nil && identity.machine == nil
        let existing = isAnonymous ? try archive.recorder(ofRoot: content.root) : nil
        let recorder = if let existing { existing } else { try recorder(identity) }
        let title = CopyName(content.name)?.text ?? content.number.padded(to: 6)
        let name = title + content.manifest.suffix
        return BatchCopy(
            temporary: copy.temporary, name: name,
            copy: content.copy(of: recorder, in: "\(recorder.folder)/\(name)", sealedDigest: copy.sealedDigest),
            audioDigest: content.manifest.digests[content.manifest.audioName], bytes: content.bytes)
    }

    private func recorder(_ identity: RecorderIdentity) throws(DeviceError) -> Recorder {
        if let recorder = recorders[identity] { return recorder }
        let recorder = try archive.recorder(identity)
        if try !files.exists(recorder.folder) {
            try files.makeFolder(recorder.folder, mode: 0o750)
            try files.folder(recorder.folder).replace(
                RecorderFolder.fileName, with: Array(recorder.fileText.utf8), mode: 0o640)
        }
        recorders[identity] = recorder
        return recorder
    }

    /// Syncs the batch, renames its copies and commits their rows.
    func commit() throws(DeviceError) {
        guard !batch.isEmpty || !duplicateSealed.isEmpty else { return try addPendingCorrections() }
        // Skips copies that another process has added meanwhile, because their folders may contain corrections.
        let known = try batch.isEmpty ? [] : archive.existingCopies(among: batch.map(\.copy.digest))
        let new = batch.filter { !known.contains($0.copy.digest) }
        if !new.isEmpty {
            try shareAudio(of: new)
            try files.syncFileSystem()
            var folders: [String: Folder] = [:]
            for batchCopy in new {
                let name = batchCopy.copy.recorder.folder
                if folders[name] == nil { folders[name] = try files.folder(name) }
                guard let folder = folders[name] else { continue }
                // An earlier process that was killed before it committed may have left this folder behind.
                try folder.removeAll(batchCopy.name)
                try staging.move(batchCopy.temporary, to: folder, as: batchCopy.name)
            }
            for folder in folders.values { try folder.sync() }
            try files.sync()
        }
        if !batch.isEmpty { try archive.add(batch.map(\.copy)) }
        for (sealed, digest) in duplicateSealed { try archive.setSealedDigest(sealed, of: digest) }
        report.taken += new.count
        report.known += batch.count - new.count
        report.bytes += new.reduce(0) { $0 + $1.bytes }
        (batch, duplicateSealed) = ([], [])
        try addPendingCorrections()
    }
}
