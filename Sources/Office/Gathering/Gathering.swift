import Copying
import Core
import Glibc
import System

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

    let archive: any OfficeArchive
    private let key: String?
    let reader: String
    private let progress: (GatherReport) -> Void
    let files: Folder
    var report = GatherReport()
    private var batch: [ArrivedCopy] = []
    /// Sealed files, by their digests, with copies that the archive has, or will have with the batch.
    private var sealedAgain: [(sealed: String, digest: String)] = []
    private var batchBytes: Int64 = 0
    /// Of the copies in the batch and of those that were taken before it.
    private var digests: Set<String> = []
    /// Those whose copies came before.
    private var recorders: [RecorderIdentity: Recorder] = [:]
    private var number = 0
    var staging: Folder
    var pending: [(copy: FoundCopies.Copy, digest: String)] = []
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
        var reading: BlockingResult<Result<CopyReading, DeviceError>>
    }

    /// A copy of the batch.
    struct ArrivedCopy {
        /// The folder that it has come into.
        var temporary: String
        /// What that is called in its recorder's.
        var name: String
        var copy: GatheredCopy
        /// SHA-256 of the file with its sound; nil where it has none.
        var soundFile: String?
    }

    /// - Parameters:
    ///   - key: the file of a private key that opens sealed copies; nil leaves those alone.
    ///   - reader: the program that reads files, confined.
    ///   - progress: called after each copy.
    /// - Throws: `DeviceError` with `busy` where another gathering is at work in these files.
    package init(
        into archive: any OfficeArchive, key: String?, reader: String = "/proc/self/exe",
        progress: @escaping (GatherReport) -> Void = { _ in }
    ) throws(DeviceError) {
        self.archive = archive
        self.key = key
        self.reader = reader
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
        for (place, name) in loose {
            if let found = try readCorrections(name, at: place) { try takeCorrections(found, of: nil) }
        }
        for case .archive(let other) in sources { try takeTexts(of: other) }
        report.outdated = try archive.outdated().map { "\(archive.files)/\($0)" }.filter { isTaken($0) }
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
    func take(_ copies: [FoundCopies.Copy]) throws(DeviceError) {
        // Whatever goes wrong: nobody writes there any more when it is removed.
        defer {
            for copy in coming { _ = copy.reading.wait() }
            coming = []
        }
        isReadable = true
        for start in stride(from: 0, to: copies.count, by: Self.mostCopies) where isReadable {
            let next = copies[start..<min(start + Self.mostCopies, copies.count)]
            let asked = try lookUp(next)
            for copy in next where isReadable {
                try attempt { () throws(DeviceError) in try take(copy, asked[copy.path]) }
                while hasEnough { try takeNext() }
            }
        }
        while !coming.isEmpty { try takeNext() }
    }

    /// Asks the archive once for several copies, by their paths, whether it has them; what cannot be read is told when its turn comes.
    private func lookUp(_ copies: ArraySlice<FoundCopies.Copy>) throws(DeviceError) -> [String: (
        digest: String, isKnown: Bool
    )] {
        var digests: [String: String] = [:]
        for copy in copies where copy.sealed == nil { digests[copy.path] = try? Self.digest(ofListIn: copy) }
        let known = try archive.known(copies: digests.values.sorted())
        return digests.mapValues { ($0, known.contains($0)) }
    }

    private static func digest(ofListIn copy: FoundCopies.Copy) throws(DeviceError) -> String {
        Digest.of(try copy.place.open().openFile(CopySettings.manifestName, O_RDONLY).content(limit: 1 << 20))
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

    /// Keeps what is wrong with one copy; throws what is wrong with the archive.
    func refuse(_ error: DeviceError) throws(DeviceError) {
        let place = error.subject ?? error.reason
        // A stick beside it may have a name that begins like its own.
        let isOurs = [archive.name, archive.files].contains { place == $0 || place.hasPrefix("\($0)/") }
        if error.code == .full || isOurs { throw error }
        report.problems.append(error.message)
    }

    /// - Parameter asked: what `lookUp` has found of it; nil where it could not be read.
    private func take(
        _ found: FoundCopies.Copy, _ asked: (digest: String, isKnown: Bool)?
    ) throws(DeviceError) {
        if found.sealed != nil { return try takeSealed(found) }
        var (digest, isKnown) = asked ?? ("", false)
        if asked == nil {
            digest = try Self.digest(ofListIn: found)
            isKnown = try archive.known(copies: [digest]).contains(digest)
        }
        if !isKnown, !digests.contains(digest) {
            let textBytes = StagedCopy.textBytes(in: try found.place.open())
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

    private func takeSealed(_ found: FoundCopies.Copy) throws(DeviceError) {
        guard let key, let name = found.sealed else { return report.sealed += 1 }
        let digest = try Self.digest(of: name, in: try found.place.open())
        if try archive.known(sealed: digest) != nil { return report.known += 1 }
        try stage(found, digest: nil, sealed: digest, Self.mostText / 4) { (folder) throws(DeviceError) in
            try StagedCopy(opening: name, in: try found.place.open(), with: key, into: folder)
        }
    }

    /// Has a thread let a copy come under a hidden name, and prove it.
    private func stage(
        _ found: FoundCopies.Copy, digest: String?, sealed: String?, _ textBytes: Int64,
        _ come: @escaping @Sendable (Folder) throws(DeviceError) -> StagedCopy
    ) throws(DeviceError) {
        number += 1
        let (temporary, name, reading) = (
            "\(number)", found.name, BlockingResult<Result<CopyReading, DeviceError>>()
        )
        try staging.makeFolder(temporary, mode: 0o750)
        let (staging, reader) = (staging, reader)
        threads[number % threads.count].start {
            do throws(DeviceError) {
                let staged = try come(try staging.folder(temporary))
                reading.set(.success(try CopyReading(staged, named: name, reader: reader)))
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
            if try isKnown(reading.manifest.digest, sealed: copy.sealed != nil) {
                report.known += 1
                try staging.removeAll(copy.temporary)
                if let sealed = copy.sealed { sealedAgain.append((sealed, reading.manifest.digest)) }
            } else {
                batch.append(try arrived(reading, copy))
                digests.insert(reading.manifest.digest)
                batchBytes += reading.bytes
            }
        } catch {
            try? staging.removeAll(copy.temporary)
            throw error
        }
        if batch.count + sealedAgain.count >= Self.mostCopies || batchBytes >= Self.mostBytes { try commit() }
        if let digest = copy.digest { try takeCorrections(beside: found, digest) }
    }

    /// Whether the archive has a copy, or will have it with the batch. Of what is not sealed it was asked before the copy came.
    private func isKnown(_ digest: String, sealed: Bool) throws(DeviceError) -> Bool {
        if digests.contains(digest) || !sealed { return digests.contains(digest) }
        return try archive.known(copies: [digest]).contains(digest)
    }

    private func arrived(_ reading: CopyReading, _ copy: ComingCopy) throws(DeviceError) -> ArrivedCopy {
        var identity = copy.found.recorder
        identity.key = reading.key ?? identity.key
        // The folder of sealed copies tells no name.
        if copy.sealed != nil, let device = reading.device { identity.name = device }
        // Of a recorder that nothing else tells, a recording that is known does.
        let isUntold = identity.key == nil && identity.machine == nil
        let known = isUntold ? try archive.recorder(ofRoot: reading.root) : nil
        let recorder = if let known { known } else { try recorder(identity) }
        let title = CopyName(reading.name)?.text ?? reading.number.padded(to: 6)
        let place = title + reading.mark
        return ArrivedCopy(
            temporary: copy.temporary, name: place,
            copy: reading.copy(of: recorder, at: "\(recorder.folder)/\(place)", sealed: copy.sealed),
            soundFile: reading.manifest.digests[reading.audio])
    }

    private func recorder(_ identity: RecorderIdentity) throws(DeviceError) -> Recorder {
        if let recorder = recorders[identity] { return recorder }
        let recorder = try archive.recorder(identity)
        if try !files.exists(recorder.folder) {
            try files.makeFolder(recorder.folder, mode: 0o750)
            try files.folder(recorder.folder).replace(
                RecorderFolder.fileName, with: Array(recorder.told.utf8), mode: 0o640)
        }
        recorders[identity] = recorder
        return recorder
    }

    /// Makes the batch durable, gives its copies their names, and has the archive tell of them.
    func commit() throws(DeviceError) {
        guard !batch.isEmpty || !sealedAgain.isEmpty else { return try takePending() }
        // Another with the same database may have taken one meanwhile: then its folder is there, with what people have saved in it.
        let known = try batch.isEmpty ? [] : archive.known(copies: batch.map(\.copy.digest))
        let new = batch.filter { !known.contains($0.copy.digest) }
        if !new.isEmpty {
            try shareSound(of: new)
            try files.syncFileSystem()
            var folders: [String: Folder] = [:]
            for arrived in new {
                let name = arrived.copy.recorder.folder
                if folders[name] == nil { folders[name] = try files.folder(name) }
                guard let folder = folders[name] else { continue }
                // From one that was ended before its rows were there.
                try folder.removeAll(arrived.name)
                try staging.move(arrived.temporary, to: folder, as: arrived.name)
            }
            for folder in folders.values { try folder.sync() }
            try files.sync()
        }
        if !batch.isEmpty { try archive.take(batch.map(\.copy)) }
        for (sealed, digest) in sealedAgain { try archive.enter(sealed: sealed, of: digest) }
        report.taken += new.count
        report.known += batch.count - new.count
        report.bytes += batchBytes
        (batch, batchBytes, sealedAgain) = ([], 0, [])
        try takePending()
    }
}
