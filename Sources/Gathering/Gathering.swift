import Copying
import Core
import Digests
import Glibc
import Office
import Platform

/// What became of a gathering.
package struct GatherReport: Sendable {
    /// Copies that were taken.
    package var taken = 0
    /// Copies that were there already.
    package var known = 0
    /// What people have put right, and was taken.
    package var corrections = 0
    /// Texts of engines that another archive had besides its copies, and were taken.
    package var texts = 0
    /// Sealed copies that nobody gave a key to.
    package var sealed = 0
    /// Bytes that were taken.
    package var bytes: Int64 = 0
    /// What was refused, a line each; everything else was taken.
    package var problems: [String] = []
    /// What is worth knowing, a line each.
    package var notes: [String] = []

    /// Nothing.
    package init() {}
}

/// From where recordings are taken.
package enum GatherSource {
    /// A folder or a stick with copies, however deep they lie; or a recorder's own archive.
    case folder(String)
    /// Another archive of this kind.
    case archive(any OfficeArchive)
}

/// Takes copies of recordings from sticks and folders into an archive: each proved by its checksums before a row tells of it, and each
/// whole or not at all, whenever this ends. Blocks; used on one thread.
///
/// A copy's files come under a hidden name first. Of a batch of copies, the file system is synced once, then they get their names, then the
/// rows are committed: what a power cut leaves is at most files that no row tells of, and that the next gathering takes again.
///
/// Copies come and are proved on threads of their own, several at a time, while this one asks and tells the archive, and waits for the disk.
package final class Gathering {
    /// Copies that are made durable together, and bytes of them.
    private static let (mostCopies, mostBytes): (Int, Int64) = (64, 128 << 20)
    /// Bytes of text in copies that are on their way, beyond two for each thread.
    private static let mostText: Int64 = 16 << 20
    private static let hidden = ".gathering"

    private let archive: any OfficeArchive
    private let key: String?
    private let progress: (GatherReport) -> Void
    private let files: Folder
    private var report = GatherReport()
    private var batch: [(temporary: String, name: String, copy: GatheredCopy)] = []
    private var batchBytes: Int64 = 0
    /// Of the copies in the batch and of those that were taken before it.
    private var digests: Set<String> = []
    private var number = 0
    private var staging: Folder
    private var pending: [(copy: FoundCopies.Copy, digest: String)] = []
    private let threads: [WorkThread]
    /// Whether there is still a stick that can be read.
    private var isReadable = true
    /// Copies that are on their way, the earliest first.
    private var coming: [ComingCopy] = []

    /// A copy that a thread is busy with.
    private struct ComingCopy {
        var found: FoundCopies.Copy
        /// The folder that it comes into.
        var temporary: String
        /// Of its SHA256SUMS; nil for a sealed one.
        var digest: String?
        /// Of its sealed file; nil for one that is not sealed.
        var sealed: String?
        /// Of its texts, as far as that can be known.
        var textBytes: Int64
        var reading: Awaited<Result<CopyReading, DeviceError>>
    }

    /// - Parameters:
    ///   - key: the file of a private key that opens sealed copies; nil leaves those alone.
    ///   - progress: called after each copy.
    /// - Throws: `DeviceError` with `busy` where another gathering is at work in these files.
    package init(
        into archive: any OfficeArchive, key: String?, progress: @escaping (GatherReport) -> Void = { _ in }
    ) throws(DeviceError) {
        self.archive = archive
        self.key = key
        self.progress = progress
        files = try Folder(opening: archive.files, crosses: true)
        do throws(DeviceError) { try files.lock() } catch {
            guard error.code == .busy else { throw error }
            throw DeviceError(
                .busy, "flock", status: error.status, on: archive.files, "somebody else gathers there now",
                remedy: "wait until that has finished")
        }
        // What one left that was killed.
        try files.removeAll(Self.hidden)
        try files.makeFolder(Self.hidden, mode: 0o750)
        staging = try files.folder(Self.hidden)
        let processors = min(max(sysconf(Int32(_SC_NPROCESSORS_ONLN)), 2), 4)
        threads = (1...processors).map { WorkThread(named: "gather \($0)") }
    }

    /// Takes what these folders, sticks and archives hold.
    ///
    /// - Throws: `DeviceError` where nothing more can be taken, as with a full disk; what was taken before is in the archive.
    package func run(_ sources: [GatherSource]) throws(DeviceError) -> GatherReport {
        defer { try? files.removeAll(Self.hidden) }
        var loose: [(place: FoundCopies.Place, name: String)] = []
        for source in sources {
            switch source {
            case .folder(let path) where RecorderArchive.isOne(path): try takeRecorder(path)
            case .folder(let path): loose += try takeFolder(path)
            case .archive(let other): loose += try takeFolder(other.files)
            }
        }
        try commit()
        for (place, name) in loose { try takeCorrections(name, at: place, of: nil) }
        for case .archive(let other) in sources { try takeTexts(of: other) }
        return report
    }

    /// Takes the copies in a folder; returns what lies there beside none of them.
    private func takeFolder(_ path: String) throws(DeviceError) -> [(place: FoundCopies.Place, name: String)] {
        let found: FoundCopies
        do throws(DeviceError) { found = try FoundCopies(in: path, besides: files) } catch {
            report.problems.append(error.message)
            return []
        }
        report.problems += found.problems
        if found.copies.isEmpty, found.problems.isEmpty, found.corrections.isEmpty {
            report.problems.append("\(path): holds no copy of a recording")
        }
        try take(found.copies)
        return found.corrections
    }

    /// Takes copies, and returns once each of them is in the batch, in the archive or refused.
    private func take(_ copies: [FoundCopies.Copy]) throws(DeviceError) {
        // Whatever goes wrong: nobody writes there any more when it is removed.
        defer {
            for copy in coming { _ = copy.reading.wait() }
            coming = []
        }
        isReadable = true
        for copy in copies where isReadable {
            try attempt { () throws(DeviceError) in try take(copy) }
            while hasEnough { try takeNext() }
        }
        while !coming.isEmpty { try takeNext() }
    }

    /// Whether so many are on their way that the threads have something to do while a batch is made durable.
    private var hasEnough: Bool {
        if coming.count <= threads.count * 2 { return false }
        return coming.count >= Self.mostCopies || coming.reduce(0) { $0 + $1.textBytes } > Self.mostText
    }

    /// Has the earliest copy that is on its way arrive.
    private func takeNext() throws(DeviceError) {
        let next = coming.removeFirst()
        try attempt { () throws(DeviceError) in try arrive(next) }
    }

    /// Does something with a copy, and keeps what is wrong with it.
    private func attempt(_ body: () throws(DeviceError) -> Void) throws(DeviceError) {
        defer { progress(report) }
        do throws(DeviceError) { try body() } catch {
            // Every other copy there would fail alike, and is not named.
            let isGone = [EIO, ENODEV, ENXIO].contains(error.status)
            if isReadable || !isGone { try refuse(error) }
            if isGone { isReadable = false }
        }
    }

    /// Takes a recorder's own archive, a recording at a time: as copies, which it makes of each first.
    private func takeRecorder(_ path: String) throws(DeviceError) {
        let recorder: RecorderArchive
        let recordings: [Int]
        do throws(DeviceError) {
            recorder = try RecorderArchive(path)
            recordings = try recorder.recordings()
        } catch { return report.problems.append(error.message) }
        if recordings.isEmpty { report.problems.append("\(path): holds no recording") }
        let made = "made"
        for number in recordings {
            try staging.removeAll(made)
            try staging.makeFolder(made, mode: 0o750)
            do throws(DeviceError) {
                try recorder.copy(number, to: "\(staging.path)/\(made)")
            } catch {
                if error.code == .full { throw error }
                report.problems.append("\(path): recording \(number): \(error.message)")
                continue
            }
            let found = try FoundCopies(in: "\(staging.path)/\(made)", besides: files)
            report.problems += found.problems
            try take(
                found.copies.map { copy in
                    var copy = copy
                    copy.recorder.name = recorder.name
                    copy.recorder.key = recorder.key
                    return copy
                })
        }
        try commit()
        try staging.removeAll(made)
    }

    /// Takes those texts of another archive that its copies do not bring: what engines have read since, and what people have put right
    /// there.
    private func takeTexts(of other: any OfficeArchive) throws(DeviceError) {
        var recordings: [(id: Int, copies: [String])] = []
        do throws(DeviceError) {
            for recording in try other.recordings(OfficeFilter()) {
                recordings.append((recording.id, try other.copies(of: recording.id)))
            }
        } catch { return report.problems.append(error.message) }
        for (id, copies) in recordings {
            var own: OfficeRecording?
            for digest in copies where own == nil { own = try archive.recording(ofCopy: digest) }
            // None of its copies was taken, which was told.
            guard let own else { continue }
            let known = Set(try archive.readings(of: own.id).map(\.digest))
            var missing: [GatheredReading] = []
            do throws(DeviceError) {
                for reading in try other.readings(of: id).reversed() where !known.contains(reading.digest) {
                    guard let timeline = try other.timeline(ofReading: reading.id) else { continue }
                    missing.append(
                        GatheredReading(
                            digest: reading.digest, timeline: timeline, person: reading.person, madeAt: reading.madeAt))
                }
            } catch {
                report.problems.append(error.message)
                continue
            }
            for reading in missing where try archive.take(reading, of: own.id) {
                if reading.person == nil { report.texts += 1 } else { report.corrections += 1 }
            }
        }
    }

    /// Keeps what is wrong with one copy; throws what is wrong with the archive.
    private func refuse(_ error: DeviceError) throws(DeviceError) {
        let place = error.subject ?? error.reason
        if error.code == .full || place.hasPrefix(archive.name) || place.hasPrefix(archive.files) { throw error }
        report.problems.append(error.message)
    }

    private func take(_ found: FoundCopies.Copy) throws(DeviceError) {
        if found.sealed != nil { return try takeSealed(found) }
        let source = try found.place.open()
        let list = try source.openFile(CopySettings.manifestName, O_RDONLY).content(limit: 1 << 20)
        let digest = Digest.of(list)
        if try !isKnown(digest) {
            let textBytes = StagedCopy.textBytes(in: source)
            return try stage(found, digest: digest, sealed: nil, textBytes) { (folder) throws(DeviceError) in
                try StagedCopy(copying: try found.place.open(), into: folder)
            }
        }
        report.known += 1
        try takeCorrections(beside: found, digest)
    }

    /// Takes them once the copy is in the archive.
    private func takeCorrections(beside found: FoundCopies.Copy, _ digest: String) throws(DeviceError) {
        pending.append((found, digest))
        if batch.isEmpty { try takePending() }
    }

    private func isKnown(_ digest: String) throws(DeviceError) -> Bool {
        if digests.contains(digest) { return true }
        return try archive.knows(copy: digest)
    }

    private func takeSealed(_ found: FoundCopies.Copy) throws(DeviceError) {
        guard let key, let name = found.sealed else { return report.sealed += 1 }
        let digest = try Self.digest(of: name, in: try found.place.open())
        if try archive.known(sealed: digest) != nil { return report.known += 1 }
        try stage(found, digest: nil, sealed: digest, Self.mostText / 4) { (folder) throws(DeviceError) in
            try StagedCopy(opening: name, in: try found.place.open(), with: key, into: folder)
        }
    }

    private static func digest(of name: String, in folder: Folder) throws(DeviceError) -> String {
        let file = try folder.openFile(name, O_RDONLY)
        let room = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 4_096)
        defer { room.deallocate() }
        var (digest, offset) = (Digest(), Int64(0))
        while case let count = try file.read(into: room, at: offset), count > 0 {
            digest.add(UnsafeRawBufferPointer(rebasing: room[..<count]))
            offset += Int64(count)
        }
        return digest.finish()
    }

    /// Has a thread let a copy come under a hidden name, and prove it.
    private func stage(
        _ found: FoundCopies.Copy, digest: String?, sealed: String?, _ textBytes: Int64,
        _ come: @escaping @Sendable (Folder) throws(DeviceError) -> StagedCopy
    ) throws(DeviceError) {
        number += 1
        let (temporary, name, reading) = (
            "\(number)", found.name, Awaited<Result<CopyReading, DeviceError>>()
        )
        try staging.makeFolder(temporary, mode: 0o750)
        let staging = staging
        threads[number % threads.count].start {
            do throws(DeviceError) {
                let staged = try come(try staging.folder(temporary))
                reading.set(.success(try CopyReading(staged, named: name)))
            } catch { reading.set(.failure(error)) }
        }
        coming.append(
            ComingCopy(
                found: found, temporary: temporary, digest: digest, sealed: sealed, textBytes: textBytes,
                reading: reading))
    }

    /// Takes a copy that has come into the batch.
    private func arrive(_ copy: ComingCopy) throws(DeviceError) {
        let found = copy.found
        do throws(DeviceError) {
            let reading = try copy.reading.wait().get()
            report.notes += reading.notes.filter { !report.notes.contains($0) }
            // The same one may lie on another stick, and a sealed one may be of one that came in the clear.
            // What the archive knew before was not staged.
            if copy.sealed == nil, digests.contains(reading.manifest.digest) {
                report.known += 1
                try staging.removeAll(copy.temporary)
            } else {
                try add(reading, copy)
            }
        } catch {
            try? staging.removeAll(copy.temporary)
            throw error
        }
        if batch.count >= Self.mostCopies || batchBytes >= Self.mostBytes { try commit() }
        if let digest = copy.digest { try takeCorrections(beside: found, digest) }
    }

    private func add(_ reading: CopyReading, _ copy: ComingCopy) throws(DeviceError) {
        var identity = copy.found.recorder
        identity.key = reading.key ?? identity.key
        // Of a recorder that nothing else tells, a recording that is known does.
        let isUntold = identity.key == nil && identity.machine == nil
        let known = isUntold ? try archive.recorder(ofRoot: reading.root) : nil
        let recorder = if let known { known } else { try recorder(identity) }
        let title = CopyName(reading.name)?.text ?? reading.number.padded(to: 6)
        let place = title + reading.mark
        batch.append(
            (
                copy.temporary, place,
                reading.copy(of: recorder, at: "\(recorder.folder)/\(place)", sealed: copy.sealed)
            ))
        digests.insert(reading.manifest.digest)
        batchBytes += reading.bytes
    }

    private func recorder(_ identity: RecorderIdentity) throws(DeviceError) -> Recorder {
        let recorder = try archive.recorder(identity)
        if try !files.exists(recorder.folder) {
            try files.makeFolder(recorder.folder, mode: 0o750)
            try files.folder(recorder.folder).replace(RecorderFolder.fileName, with: Array(recorder.told.utf8))
        }
        return recorder
    }

    /// Makes the batch durable, gives its copies their names, and has the archive tell of them.
    private func commit() throws(DeviceError) {
        guard !batch.isEmpty else { return try takePending() }
        try files.syncFileSystem()
        var folders: [String: Folder] = [:]
        for (temporary, name, copy) in batch {
            if folders[copy.recorder.folder] == nil {
                folders[copy.recorder.folder] = try files.folder(copy.recorder.folder)
            }
            guard let folder = folders[copy.recorder.folder] else { continue }
            // From one that was ended before its rows were there.
            try folder.removeAll(name)
            try staging.move(temporary, to: folder, as: name)
        }
        for folder in folders.values { try folder.sync() }
        try files.sync()
        try archive.take(batch.map(\.copy))
        report.taken += batch.count
        report.bytes += batchBytes
        (batch, batchBytes) = ([], 0)
        try takePending()
    }

    // MARK: corrections

    /// What lies beside copies that are in the archive now.
    private func takePending() throws(DeviceError) {
        let copies = pending
        pending = []
        for (found, digest) in copies {
            guard !found.saved.isEmpty, let folder = try? found.place.open() else { continue }
            for name in SavedCorrections.inOrder(found.saved, in: folder) {
                try takeCorrections(name, at: found.place, of: digest)
            }
        }
    }

    /// Takes what somebody has saved; what is wrong with it is told.
    ///
    /// - Parameter digest: of the copy beside which it lies; nil where it lies beside none, and tells itself of which recording it is.
    private func takeCorrections(
        _ name: String, at place: FoundCopies.Place, of digest: String?
    ) throws(DeviceError) {
        let path = "\(place.path)/\(name)"
        do throws(DeviceError) {
            let bytes = try place.open().openFile(name, O_RDONLY).content(limit: SavedCorrections.largest)
            let saved = try SavedCorrections(bytes, name: path)
            let identity = saved.file.identity
            let recording =
                if let digest { try archive.recording(ofCopy: digest) } else {
                    try archive.recording(ofSound: identity.sound, number: identity.recording)
                }
            guard let recording, recording.number == identity.recording else {
                throw DeviceError(
                    .unsupported, "import", on: path,
                    "is of a recording \(identity.recording) that \(digest == nil ? "is not in the archive" : "this copy is not of")",
                    remedy: digest == nil ? "gather its copy, too" : "put it beside its own page")
            }
            if let isNew = try saved.take(into: archive, of: recording) {
                if isNew {
                    saved.keep(bytes, beside: recording, in: archive, isPage: name.hasSuffix(".html"))
                    report.corrections += 1
                }
                return
            }
            throw DeviceError(
                .unsupported, "import", on: path,
                "was made of another text of recording \(identity.recording), which is not in the archive",
                remedy: "gather that copy, too")
        } catch { try refuse(error) }
    }
}
