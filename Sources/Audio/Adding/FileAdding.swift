import Core
import FoundationEssentials
import Glibc
import System

/// Prepares files from elsewhere for the archive. A file and its converted sound are completed in a separate folder
/// before the archive adopts it in one step. So a running recording is not disturbed, and a kill leaves nothing half
/// added: the next start, or the next file, removes the folder.
package struct FileAdding: Sendable {
    /// A file that is ready for the archive. The folder is removed with the last reference, unless the archive adopted
    /// it.
    package struct Prepared: Sendable {
        package let file: AddedFile
        /// The comparison of what was read with what the file should contain.
        package let report: SoundAccount
        /// The recording made earlier from the same file; then nothing is prepared.
        package let known: Int?
        fileprivate let scratch: ScratchFolder

        package var folder: String { lastName(of: scratch.path) }
    }

    /// The largest file on a stick with FAT, in bytes.
    private static let largest = Int64(UInt32.max)

    /// Bytes to write between two syncs. A sync of a running recording waits for what is not on the disk yet.
    private static let step: Int64 = 4 << 20

    private let storage: String
    private let reserve: DiskReserve
    private let channels: Int
    private let track: SoundTrack

    /// - Parameters:
    ///   - channels: 2 to keep the channels of a stereo file.
    ///   - track: which tracks of a film to read.
    package init(storage: String, reserve: DiskReserve, channels: Int, track: SoundTrack) {
        self.storage = storage
        self.reserve = reserve
        self.channels = channels
        self.track = track
    }

    /// Copies a file and converts its sound if needed, on a thread of low priority.
    ///
    /// - Parameters:
    ///   - name: the file's name, in one line.
    ///   - known: returns the recording that was made from a file with this SHA-256.
    ///   - progress: gets the converted share, 0 to 1.
    /// - Throws: `DeviceError`, `full` if it would need the reserve; `damaged` or `unsupported` if it has no sound.
    package func prepare(
        _ given: GivenFile, named name: String, known: @escaping @Sendable (String) -> Int?,
        progress: @escaping @Sendable (Double) -> Void
    ) async throws -> Prepared {
        try await onThread(named: "adding", niceness: 10) { try prepare(given, name, known, progress) }
    }

    private func prepare(
        _ given: GivenFile, _ name: String, _ known: (String) -> Int?, _ progress: (Double) -> Void
    ) throws(DeviceError) -> Prepared {
        let root = try Folder(opening: storage, crosses: true)
        if try !root.exists("recordings") {
            try root.makeFolder("recordings", mode: 0o700)
            try root.sync()
        }
        // Refuses a link.
        _ = try root.folder("recordings")
        let scratch = try ScratchFolder(for: AddedFile.purpose, in: "\(storage)/recordings")
        let folder = try Folder(opening: scratch.path)
        let original = RecordingFolder.originalName(for: name)
        let digest = try copy(given, to: folder, as: original)
        var file = AddedFile(
            name: name, digest: digest, kept: original, startedAt: 0, clock: .unverified, length: .zero,
            reason: .ended, damage: [])
        if let known = known(digest) {
            return Prepared(file: file, report: SoundAccount(), known: known, scratch: scratch)
        }
        let copied = try folder.openFile(original, O_RDONLY)
        let reader = try AudioFileReader(
            descriptor: copied.number, named: given.path, keeping: channels, track: track)
        let date = RecordedDate(try reader.tags(), now: MonotonicClock.wallSeconds)
        var report = SoundAccount()
        if let ready = try ReadyRecording(copied, channels: channels) {
            (file.kept, file.length, file.reason) = (RecordingFolder.audioName, ready.length, ready.reason)
            try folder.rename(original, toFree: RecordingFolder.audioName)
        } else {
            file.length = try convert(reader, in: folder, progress)
            report = reader.report
            file.damage = report.gaps.compactMap { $0.intersection(SampleRange(.zero, file.length)) }
        }
        guard file.length > .zero else {
            throw DeviceError(.damaged, "read", on: given.path, "has no sound", remedy: "use another copy of it")
        }
        let audio = "\(folder.path)/\(RecordingFolder.audioName)"
        // Resampling rings beyond the edges of a gap.
        if !file.damage.isEmpty { try SoundRedaction.silence(file.damage, in: audio) }
        _ = try RecordingSums.complete(path: audio)
        if let date, date.isVerified {
            (file.startedAt, file.clock) = (date.seconds, .synchronized)
        } else {
            file.startedAt = Self.start(date, end: given.modified ?? MonotonicClock.wallSeconds, file.length)
        }
        let encoded = try rethrowing { try JSONEncoder().encode(file) }
        try folder.replace(AddedFile.description, with: Array(encoded))
        return Prepared(file: file, report: report, known: nil, scratch: scratch)
    }

    /// Returns the start by the time of the file's last change, which is the end of most recordings, unless its metadata has
    /// another day.
    static func start(_ date: RecordedDate?, end: Double, _ length: SamplePosition) -> Double {
        let start = end - length.seconds
        guard let date, !(date.seconds..<(date.seconds + 86_400)).contains(start) else { return start }
        return date.seconds
    }

    /// Copies the file durably; returns its SHA-256.
    private func copy(_ given: GivenFile, to folder: Folder, as name: String) throws(DeviceError) -> String {
        let target = try folder.openFile(name, O_RDWR | O_CREAT | O_EXCL)
        var (digest, length, synced) = (Digest(), Int64(0), Int64(0))
        try given.file.forEachRead { bytes throws(DeviceError) in
            try reserve.check()
            try target.write(bytes, at: length)
            digest.add(bytes)
            length += Int64(bytes.count)
            if length - synced >= Self.step {
                try target.syncData()
                synced = length
            }
            guard length <= Self.largest else {
                throw DeviceError(
                    .unsupported, "read", on: given.path, "is larger than 4 GB, too large for some sticks",
                    remedy: "add its sound alone: ffmpeg -i FILE -vn SOUND.flac")
            }
        }
        guard length > 0 else {
            throw DeviceError(.damaged, "read", on: given.path, "is empty", remedy: "name an audio file")
        }
        try target.sync()
        try folder.sync()
        return digest.finish()
    }

    /// Writes the sound as a recording's; returns its length.
    private func convert(
        _ reader: AudioFileReader, in folder: Folder, _ progress: (Double) -> Void
    ) throws(DeviceError) -> SamplePosition {
        let target = try WaveFile(new: "\(folder.path)/\(RecordingFolder.audioName)", channels: reader.outputs)
        let buffer = UnsafeMutableBufferPointer<Int16>.allocate(capacity: 1 << 18)
        defer { buffer.deallocate() }
        var (length, synced) = (SamplePosition.zero, SamplePosition.zero)
        while case let count = try reader.read(into: buffer), count > 0 {
            try reserve.check()
            try target.append(UnsafeBufferPointer(rebasing: buffer[..<count]))
            length = length + Int64(count / reader.outputs)
            if (length - synced) * Frames.bytes(channels: reader.outputs) >= Self.step {
                try target.sync()
                synced = length
            }
            if let whole = reader.estimatedLength { progress(length.seconds / max(1, whole.seconds)) }
        }
        try target.close(reason: .ended)
        return length
    }
}
