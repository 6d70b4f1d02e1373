import Core
import Glibc
import System

/// The file into which a recording's parts are joined, `audio.wav.joining`: what was copied before a kill or a power cut
/// stays, and the next one goes on behind it.
///
/// Its header tells of no sample that was not on the disk before, and of which files it is a copy.
final class JoiningFile {
    /// Bytes that are copied between two syncs: what has to be copied once more after a power cut, at most.
    private static let step: Int64 = 16 << 20

    let name: String
    private let folder: Folder
    private let file: FileDescriptor
    private var header: WaveHeader
    private let frameBytes: Int64
    private var dataBytes: Int64
    private var keptBytes: Int64

    /// Where the next sample goes.
    var end: SamplePosition { SamplePosition(dataBytes / frameBytes) }

    /// Opens the file where it is a copy of these sources, or makes it anew.
    ///
    /// - Parameters:
    ///   - sources: a checksum that tells the files that are joined from others.
    ///   - channels: of all of them.
    init(_ name: String, in folder: Folder, sources: UInt32, channels: Int = 1) throws(DeviceError) {
        var header = WaveHeader(channels: channels)
        frameBytes = Frames.bytes(channels: channels)
        header.setJoining(sources)
        let kept = try Self.kept(name, in: folder, like: header, channels: channels)
        // Else nobody knows how far it had come, or of what it is a copy.
        if kept == nil { try folder.remove(name) }
        let file = try folder.openFile(name, kept == nil ? O_RDWR | O_CREAT | O_EXCL : O_RDWR)
        try file.truncate(to: Int64(WaveHeader.size) + (kept ?? 0))
        header.set(dataBytes: kept ?? 0)
        self.name = name
        self.folder = folder
        self.file = file
        self.header = header
        dataBytes = kept ?? 0
        keptBytes = kept ?? 0
        try writeHeader()
        try self.file.sync()
        try folder.sync()
    }

    /// How many bytes of samples a file of that name holds for certain; nil where it is not like that.
    private static func kept(
        _ name: String, in folder: Folder, like header: WaveHeader, channels: Int
    ) throws(DeviceError) -> Int64? {
        guard let status = try folder.status(name), status.kind == .file else { return nil }
        let file = try folder.openFile(name, O_RDONLY)
        let bytes = try file.bytes(count: WaveHeader.size)
        guard bytes.count == WaveHeader.size, let layout = try? WaveLayout(of: file),
            layout.dataOffset == Int64(WaveHeader.size), layout.channels == channels,
            WaveHeader.sources(in: bytes) == WaveHeader.sources(in: header.bytes),
            layout.claimedBytes <= status.bytes - Int64(WaveHeader.size)
        else { return nil }
        return layout.claimedBytes / layout.frameBytes * layout.frameBytes
    }

    /// Adds samples, those of two channels interleaved.
    func append(_ samples: UnsafeBufferPointer<Int16>) throws(DeviceError) {
        try file.write(UnsafeRawBufferPointer(samples), at: Int64(WaveHeader.size) + dataBytes)
        dataBytes += Int64(samples.count) * 2
        if dataBytes - keptBytes >= Self.step { try keep() }
    }

    /// Adds so many samples of silence in each channel as a hole.
    func appendSilence(_ samples: Int) throws(DeviceError) {
        try file.truncate(to: Int64(WaveHeader.size) + dataBytes + Int64(samples) * frameBytes)
        dataBytes += Int64(samples) * frameBytes
    }

    /// Puts what was copied on the disk, and then a header that tells of it.
    func keep() throws(DeviceError) {
        try file.syncData()
        keptBytes = dataBytes
        header.set(dataBytes: keptBytes)
        try writeHeader()
    }

    /// Says that it holds all parts and why the recording ended, and puts all of it on the disk.
    func close(reason: StopReason) throws(DeviceError) {
        try file.syncData()
        header.set(dataBytes: dataBytes)
        header.setJoined()
        header.set(reason: reason)
        try writeHeader()
        try file.sync()
    }

    private func writeHeader() throws(DeviceError) {
        var failure: DeviceError?
        header.bytes.withUnsafeBytes { bytes in
            do throws(DeviceError) { try file.write(bytes, at: 0) } catch { failure = error }
        }
        if let failure { throw failure }
    }
}
