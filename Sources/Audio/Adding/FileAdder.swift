import Core
import FoundationEssentials
import Glibc
import System

/// Prepares files from other sources for the archive.
///
/// A file is copied and converted in a scratch folder, which the archive then adopts in one step. A running recording
/// is not disturbed. If the process is killed, the next start, or adding the next file, removes the folder.
package struct FileAdder: Sendable {
    /// A file that is ready for the archive. Releasing the last reference removes its folder unless the archive has
    /// adopted it.
    package struct Prepared: Sendable {
        package let file: AddedFile
        package let report: SoundReport
        /// The number of the recording that was already made from this file; nil if there is none. If there is one,
        /// nothing was prepared.
        package let existingRecording: Int?
        fileprivate let scratch: ScratchFolder?

        /// The name of the scratch folder, which is beside the recordings; empty if nothing was prepared.
        package var folder: String { scratch.map { lastName(of: $0.path) } ?? "" }
    }

    /// The maximum size of a file on a FAT stick, in bytes.
    private static let maximumBytes = Int64(UInt32.max)

    /// The number of bytes to write between two syncs. It is small because a running recording's sync also waits for
    /// unsynced data of this file.
    private static let syncBytes: Int64 = 4 << 20

    private let storage: String
    private let reserve: DiskReserve
    private let channels: Int
    private let track: SoundTrack

    /// - Parameters:
    ///   - channels: 2 to keep both channels of a stereo file.
    ///   - track: Which tracks of a video to read.
    package init(storage: String, reserve: DiskReserve, channels: Int, track: SoundTrack) {
        self.storage = storage
        self.reserve = reserve
        self.channels = channels
        self.track = track
    }

    /// Copies a file and converts its audio if necessary, on a low-priority thread.
    ///
    /// - Parameters:
    ///   - name: The file's name, without line breaks.
    ///   - existingRecording: Returns the number of the recording made from a file with this SHA-256; nil if none was.
    ///   - progress: Called with the fraction that has been converted, approximately 0 to 1.
    /// - Throws: `DeviceError`, with `full` if the file does not fit without using the reserve, `unsupported` if it is
    ///   larger than 4 GiB, or `damaged` or `unsupported` if it contains no sound.
    package func prepare(
        _ input: InputFile, named name: String, existingRecording: @escaping @Sendable (String) -> Int?,
        progress: @escaping @Sendable (Double) -> Void
    ) async throws -> Prepared {
        try await onThread(named: "adding", niceness: 10) { try prepare(input, name, existingRecording, progress) }
    }

    private func prepare(
        _ input: InputFile, _ name: String, _ existingRecording: (String) -> Int?, _ progress: (Double) -> Void
    ) throws(DeviceError) -> Prepared {
        let root = try Folder(opening: storage, crossesMounts: true)
        if try !root.exists("recordings") {
            try root.makeFolder("recordings", mode: 0o700)
            try root.sync()
        }
        // Throws if this is a link.
        _ = try root.folder("recordings")
        let scratch = try ScratchFolder(for: AddedFile.purpose, in: "\(storage)/recordings")
        let folder = try Folder(opening: scratch.path)
        let original = RecordingFolder.originalName(for: name)
        let digest = try copy(input, to: folder, as: original)
        var file = AddedFile(
            name: name, digest: digest, kept: original, startedAt: 0, clock: .unverified, length: .zero,
            reason: .ended, damage: [])
        if let recording = existingRecording(digest) {
            // Release the folder here: if a thread still held it at exit, it would not be removed.
            return Prepared(file: file, report: SoundReport(), existingRecording: recording, scratch: nil)
        }
        let originalFile = try folder.openFile(original, O_RDONLY)
        let reader = try AudioFileReader(
            descriptor: originalFile.number, named: input.path, keeping: channels, track: track)
        let date = RecordedDate(try reader.tags(), now: MonotonicClock.wallSeconds)
        var report = SoundReport()
        if let wave = try ConformingWave(originalFile, channels: channels) {
            (file.kept, file.length, file.reason) = (RecordingFolder.audioName, wave.length, wave.reason)
            try folder.rename(original, toUnused: RecordingFolder.audioName)
        } else {
            file.length = try convert(reader, in: folder, progress)
            report = reader.report
            file.damage = report.gaps.compactMap { $0.intersection(SampleRange(.zero, file.length)) }
        }
        guard file.length > .zero else {
            throw DeviceError(.damaged, "read", on: input.path, "contains no sound", remedy: "use another copy of it")
        }
        let audio = "\(folder.path)/\(RecordingFolder.audioName)"
        // The resampler's ringing extends into the edges of gaps.
        if !file.damage.isEmpty { try SoundRedaction.silence(file.damage, in: audio) }
        _ = try RecordingSums.complete(path: audio)
        if let date, date.isVerified {
            (file.startedAt, file.clock) = (date.seconds, .synchronized)
        } else {
            file.startedAt = Self.start(date, end: input.modified ?? MonotonicClock.wallSeconds, file.length)
        }
        let encoded = try rethrowing { try JSONEncoder().encode(file) }
        try folder.replace(AddedFile.description, with: Array(encoded))
        return Prepared(file: file, report: report, existingRecording: nil, scratch: scratch)
    }

    /// Returns the start of the recording, assuming that it ended when the file was last modified. If that start is not
    /// within 24 hours after the metadata's date, returns the metadata's date.
    static func start(_ date: RecordedDate?, end: Double, _ length: SamplePosition) -> Double {
        let start = end - length.seconds
        guard let date, !(date.seconds..<(date.seconds + 86_400)).contains(start) else { return start }
        return date.seconds
    }

    /// Copies the file, syncs the copy, and returns its SHA-256.
    private func copy(_ input: InputFile, to folder: Folder, as name: String) throws(DeviceError) -> String {
        let target = try folder.openFile(name, O_RDWR | O_CREAT | O_EXCL)
        var (digest, length, syncedLength) = (Digest(), Int64(0), Int64(0))
        try input.file.forEachRead { bytes throws(DeviceError) in
            try reserve.check()
            try target.write(bytes, at: length)
            digest.add(bytes)
            length += Int64(bytes.count)
            if length - syncedLength >= Self.syncBytes {
                try target.syncData()
                syncedLength = length
            }
            guard length <= Self.maximumBytes else {
                throw DeviceError(
                    .unsupported, "read", on: input.path, "is larger than 4 GB, which is too large for some sticks",
                    remedy: "add only its sound: ffmpeg -i FILE -vn SOUND.flac")
            }
        }
        guard length > 0 else {
            throw DeviceError(.damaged, "read", on: input.path, "is empty", remedy: "choose an audio file")
        }
        try target.sync()
        try folder.sync()
        return digest.finish()
    }

    private func convert(
        _ reader: AudioFileReader, in folder: Folder, _ progress: (Double) -> Void
    ) throws(DeviceError) -> SamplePosition {
        let target = try WaveFile(new: "\(folder.path)/\(RecordingFolder.audioName)", channels: reader.outputs)
        let buffer = UnsafeMutableBufferPointer<Int16>.allocate(capacity: 1 << 18)
        defer { buffer.deallocate() }
        var (length, syncedLength) = (SamplePosition.zero, SamplePosition.zero)
        while case let count = try reader.read(into: buffer), count > 0 {
            try reserve.check()
            try target.append(UnsafeBufferPointer(rebasing: buffer[..<count]))
            length = length + Int64(count / reader.outputs)
            if (length - syncedLength) * Frames.bytes(channels: reader.outputs) >= Self.syncBytes {
                try target.sync()
                syncedLength = length
            }
            if let total = reader.estimatedLength { progress(length.seconds / max(1, total.seconds)) }
        }
        try target.close(reason: .ended)
        return length
    }
}
