import Copying
import Core
import Glibc
import System

/// Adds copies of recordings from sticks and folders to an archive. Verifies each copy's checksums before it adds a
/// row. Each copy is added completely or not at all, even if the process is interrupted. Blocks; used on one thread.
///
/// A copy's files are first written to a hidden folder. For a batch of copies, the file system is synced once, then the
/// copies are renamed, then the rows are committed. After a power cut, the next run adds files without a row again.
package final class Gathering {
    /// The maximum number of copies in a batch, and their maximum total size in bytes.
    private static let (maximumCopies, maximumBytes): (Int, Int64) = (64, 128 << 20)
    /// The maximum size of the texts in copies that are being read in advance, in bytes.
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
    private var batchBytes: Int64 = 0
    /// The digests of copies in the batch and in earlier batches.
    private var digests: Set<String> = []
    /// The recorders of earlier copies.
    private var recorders: [RecorderIdentity: Recorder] = [:]
    private var number = 0
    var staging: Folder
    var pending: [(copy: FoundCopies.Copy, digest: String)] = []
    private let threads: [WorkThread]
    /// Whether the stick can still be read.
    private var isReadable = true
    /// The copies that threads are reading, the earliest first.
    private var inProgress: [CopyInProgress] = []

    /// A copy that a thread is reading.
    private struct CopyInProgress {
        var found: FoundCopies.Copy
        /// The name of its folder in `staging`.
        var temporary: String
        /// The digest of its SHA256SUMS; nil if the copy is sealed.
        var digest: String?
        /// The digest of its sealed file; nil if the copy is not sealed.
        var sealed: String?
        /// The estimated size of its texts in bytes.
        var textBytes: Int64
        var reading: BlockingResult<Result<CopyContent, DeviceError>>
    }

    struct BatchCopy {
        /// The name of its folder in `staging`.
        var temporary: String
        /// The name of its folder in the recorder's folder.
        var name: String
        var copy: GatheredCopy
        /// The SHA-256 of its sound file; nil if there is none.
        var soundFile: String?
    }

    /// - Parameters:
    ///   - key: the path of a private key for sealed copies; nil to skip sealed copies.
    ///   - reader: the program that parses files in a sandboxed process.
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
        files = try Folder(opening: archive.files, crossesMounts: true)
        do throws(DeviceError) { try files.lock() } catch {
            guard error.code == .busy else { throw error }
            throw DeviceError(
                .busy, "flock", status: error.status, on: archive.files, "another process is gathering into it",
                remedy: "wait until it has finished")
        }
        // A killed process may have left the folder behind.
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
        var separateFiles: [(place: FoundCopies.Location, name: String)] = []
        for source in sources {
            switch source {
            case .folder(let path) where RecorderArchive.isArchive(path): try addRecorder(path)
            case .folder(let path): separateFiles += try addFolder(path)
            case .archive(let other): separateFiles += try addFolder(other.files)
            }
        }
        try commit()
        var corrections: [FoundCorrections] = []
        for (place, name) in separateFiles {
            if let found = try readCorrections(name, at: place) { corrections.append(found) }
        }
        try addCorrections(corrections, of: nil)
        for case .archive(let other) in sources { try addReadings(of: other) }
        report.outdated = try archive.outdated().map { "\(archive.files)/\($0)" }.filter { pathExists($0) }
        return report
    }

    /// Adds the copies in a folder, and returns the corrections that are not beside a copy.
    private func addFolder(_ path: String) throws(DeviceError) -> [(place: FoundCopies.Location, name: String)] {
        let found: FoundCopies
        do throws(DeviceError) { found = try FoundCopies(in: path, excluding: files) } catch {
            report.problems.append(error.message)
            return []
        }
        report.problems += found.problems
        if found.copies.isEmpty, found.problems.isEmpty, found.corrections.isEmpty {
            report.problems.append("\(path): contains no copy of a recording")
        }
        try add(found.copies)
        return found.corrections
    }

    /// Processes copies until each is in the batch, in the archive or rejected.
    func add(_ copies: [FoundCopies.Copy]) throws(DeviceError) {
        // Waits for the threads before `staging` is removed.
        defer {
            for copy in inProgress { _ = copy.reading.wait() }
            inProgress = []
        }
        isReadable = true
        for start in stride(from: 0, to: copies.count, by: Self.maximumCopies) where isReadable {
            let next = copies[start..<min(start + Self.maximumCopies, copies.count)]
            let lookups = try findKnown(next)
            for copy in next where isReadable {
                try attempt { () throws(DeviceError) in try add(copy, lookups[copy.path]) }
                while hasEnoughInProgress { try finishNext() }
            }
        }
        while !inProgress.isEmpty { try finishNext() }
    }

    /// Looks up copies in the archive. Returns the results by path, without copies that cannot be read.
    private func findKnown(_ copies: ArraySlice<FoundCopies.Copy>) throws(DeviceError) -> [String: (
        digest: String, isKnown: Bool
    )] {
        var digests: [String: String] = [:]
        for copy in copies where copy.sealed == nil { digests[copy.path] = try? Self.digest(ofListIn: copy) }
        let known = try archive.known(copies: digests.values.sorted())
        return digests.mapValues { ($0, known.contains($0)) }
    }

    private static func digest(ofListIn copy: FoundCopies.Copy) throws(DeviceError) -> String {
        Digest.of(try copy.place.open().manifestContent())
    }

    /// Whether the threads have enough copies to read while a batch is committed.
    private var hasEnoughInProgress: Bool {
        if inProgress.count <= threads.count * 2 { return false }
        let textBytes = inProgress.reduce(0) { $0 + $1.textBytes }
        return inProgress.count >= Self.maximumCopies || textBytes > Self.maximumTextBytes
    }

    /// Waits for the earliest copy that is being read, and adds it to the batch.
    private func finishNext() throws(DeviceError) {
        let next = inProgress.removeFirst()
        try attempt { () throws(DeviceError) in try addToBatch(next) }
    }

    /// Processes a copy and records its error, if any.
    private func attempt(_ body: () throws(DeviceError) -> Void) throws(DeviceError) {
        defer { progress(report) }
        do throws(DeviceError) { try body() } catch {
            // If the stick was removed, all other copies on it would fail, too. They are not listed.
            let isRemoved = [EIO, ENODEV, ENXIO].contains(error.status)
            if isReadable || !isRemoved { try refuse(error) }
            if isRemoved { isReadable = false }
        }
    }

    /// Records an error in a copy. Throws an error in the archive.
    func refuse(_ error: DeviceError) throws(DeviceError) {
        let subject = error.subject ?? error.reason
        // Compares whole path components: a stick's name may begin like the archive's. Dropped files do not count.
        let concernsArchive = [archive.name, archive.files].contains { path in
            subject == path || (subject.hasPrefix("\(path)/") && !subject.hasPrefix("\(path)/\(DroppedFiles.prefix)"))
        }
        if error.code == .full || concernsArchive { throw error }
        report.problems.append(error.message)
    }

    /// - Parameter lookup: the result from `findKnown`; nil if the copy could not be read.
    private func add(
        _ found: FoundCopies.Copy, _ lookup: (digest: String, isKnown: Bool)?
    ) throws(DeviceError) {
        if found.sealed != nil { return try addSealed(found) }
        var (digest, isKnown) = lookup ?? ("", false)
        if lookup == nil {
            digest = try Self.digest(ofListIn: found)
            isKnown = try archive.known(copies: [digest]).contains(digest)
        }
        if !isKnown, !digests.contains(digest) {
            let textBytes = StagedCopy.textBytes(in: try found.place.open())
            return try startReading(found, digest: digest, sealed: nil, textBytes) { (folder) throws(DeviceError) in
                try StagedCopy(copying: try found.place.open(), into: folder)
            }
        }
        report.known += 1
        try addCorrections(beside: found, digest)
    }

    /// Adds the corrections beside a copy as soon as the copy is in the archive.
    private func addCorrections(beside found: FoundCopies.Copy, _ digest: String) throws(DeviceError) {
        pending.append((found, digest))
        if batch.isEmpty { try addPending() }
    }

    private func addSealed(_ found: FoundCopies.Copy) throws(DeviceError) {
        guard let key, let name = found.sealed else { return report.sealed += 1 }
        let digest = try Digest.of(found.place.open().openFile(name, O_RDONLY))
        if try archive.known(sealed: digest) != nil { return report.known += 1 }
        let textBytes = Self.maximumTextBytes / 4
        try startReading(found, digest: nil, sealed: digest, textBytes) { (folder) throws(DeviceError) in
            try StagedCopy(opening: name, in: try found.place.open(), with: key, into: folder)
        }
    }

    /// Starts reading and verifying a copy on a thread.
    private func startReading(
        _ found: FoundCopies.Copy, digest: String?, sealed: String?, _ textBytes: Int64,
        _ stage: @escaping @Sendable (Folder) throws(DeviceError) -> StagedCopy
    ) throws(DeviceError) {
        number += 1
        let (temporary, name, reading) = (
            "\(number)", found.name, BlockingResult<Result<CopyContent, DeviceError>>()
        )
        try staging.makeFolder(temporary, mode: 0o750)
        let (staging, reader) = (staging, reader)
        threads[number % threads.count].start {
            do throws(DeviceError) {
                let staged = try stage(try staging.folder(temporary))
                reading.set(.success(try CopyContent(staged, named: name, reader: reader)))
            } catch { reading.set(.failure(error)) }
        }
        inProgress.append(
            CopyInProgress(
                found: found, temporary: temporary, digest: digest, sealed: sealed, textBytes: textBytes,
                reading: reading))
    }

    private func addToBatch(_ copy: CopyInProgress) throws(DeviceError) {
        let found = copy.found
        do throws(DeviceError) {
            let reading = try copy.reading.wait().get()
            report.notes += reading.notes.filter { !report.notes.contains($0) }
            // Another stick may contain the same copy, or a sealed file the same copy as a readable one.
            if try isKnown(reading.manifest.digest, sealed: copy.sealed != nil) {
                report.known += 1
                try staging.removeAll(copy.temporary)
                if let sealed = copy.sealed { duplicateSealed.append((sealed, reading.manifest.digest)) }
            } else {
                batch.append(try batchCopy(reading, copy))
                digests.insert(reading.manifest.digest)
                batchBytes += reading.bytes
            }
        } catch {
            try? staging.removeAll(copy.temporary)
            throw error
        }
        if batch.count + duplicateSealed.count >= Self.maximumCopies || batchBytes >= Self.maximumBytes { try commit() }
        if let digest = copy.digest { try addCorrections(beside: found, digest) }
    }

    /// Returns whether a copy is in the archive or the batch. For readable copies, `findKnown` has searched the
    /// archive.
    private func isKnown(_ digest: String, sealed: Bool) throws(DeviceError) -> Bool {
        if digests.contains(digest) || !sealed { return digests.contains(digest) }
        return try archive.known(copies: [digest]).contains(digest)
    }

    private func batchCopy(_ reading: CopyContent, _ copy: CopyInProgress) throws(DeviceError) -> BatchCopy {
        var identity = copy.found.recorder
        identity.key = reading.key ?? identity.key
        // The name of a folder with sealed copies is not the recorder's name.
        let isNamed = copy.sealed == nil && identity.name != RecorderIdentity.unknownName
        if !isNamed, let device = reading.device { identity.name = device }
        // If the copy has neither key nor machine, a recording in the archive identifies the recorder.
        let isAnonymous = identity.key == nil && identity.machine == nil
        let known = isAnonymous ? try archive.recorder(ofRoot: reading.root) : nil
        let recorder = if let known { known } else { try recorder(identity) }
        let title = CopyName(reading.name)?.text ?? reading.number.padded(to: 6)
        let place = title + reading.manifest.suffix
        return BatchCopy(
            temporary: copy.temporary, name: place,
            copy: reading.copy(of: recorder, at: "\(recorder.folder)/\(place)", sealed: copy.sealed),
            soundFile: reading.manifest.digests[reading.manifest.audio])
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
        guard !batch.isEmpty || !duplicateSealed.isEmpty else { return try addPending() }
        // Another process may have added a copy to the same database; its folder may contain corrections.
        let known = try batch.isEmpty ? [] : archive.known(copies: batch.map(\.copy.digest))
        let new = batch.filter { !known.contains($0.copy.digest) }
        if !new.isEmpty {
            try shareSound(of: new)
            try files.syncFileSystem()
            var folders: [String: Folder] = [:]
            for batchCopy in new {
                let name = batchCopy.copy.recorder.folder
                if folders[name] == nil { folders[name] = try files.folder(name) }
                guard let folder = folders[name] else { continue }
                // A process that was killed before it committed may have left the folder behind.
                try folder.removeAll(batchCopy.name)
                try staging.move(batchCopy.temporary, to: folder, as: batchCopy.name)
            }
            for folder in folders.values { try folder.sync() }
            try files.sync()
        }
        if !batch.isEmpty { try archive.add(batch.map(\.copy)) }
        for (sealed, digest) in duplicateSealed { try archive.setSealed(sealed, of: digest) }
        report.taken += new.count
        report.known += batch.count - new.count
        report.bytes += batchBytes
        (batch, batchBytes, duplicateSealed) = ([], 0, [])
        try addPending()
    }
}
