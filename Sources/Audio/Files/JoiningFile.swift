import Core
import Glibc
import System

/// The file into which a recording's parts are joined, `audio.wav.joining`. After a kill or a power cut, joining
/// continues with what was copied. Its header counts only synced samples, and identifies the source files.
final class JoiningFile {
    /// Bytes to copy between two syncs: the most that a power cut can lose.
    private static let step: Int64 = 16 << 20

    let name: String
    private let file: FileDescriptor
    private var header: WaveHeader
    private let frameBytes: Int64
    private var dataBytes: Int64
    private var keptBytes: Int64

    /// The position of the next sample.
    var end: SamplePosition { SamplePosition(dataBytes / frameBytes) }

    /// Opens the file if it is a copy of these sources, else creates it.
    ///
    /// - Parameters:
    ///   - sources: a checksum that identifies the source files.
    ///   - channels: the channel count of all of them.
    init(_ name: String, in folder: Folder, sources: UInt32, channels: Int) throws(DeviceError) {
        var header = WaveHeader(channels: channels)
        frameBytes = Frames.bytes(channels: channels)
        header.setJoining(sources)
        let kept = try Self.kept(name, in: folder, like: header, channels: channels)
        // Without a valid header, its content is unknown.
        if kept == nil { try folder.remove(name) }
        let file = try folder.openFile(name, kept == nil ? O_RDWR | O_CREAT | O_EXCL : O_RDWR)
        try file.truncate(to: Int64(WaveHeader.size) + (kept ?? 0))
        header.set(dataBytes: kept ?? 0)
        self.name = name
        self.file = file
        self.header = header
        dataBytes = kept ?? 0
        keptBytes = kept ?? 0
        try header.write(to: self.file)
        try self.file.sync()
        try folder.sync()
    }

    /// Returns how many sample bytes the file certainly holds; nil if it is not a copy of the sources.
    private static func kept(
        _ name: String, in folder: Folder, like header: WaveHeader, channels: Int
    ) throws(DeviceError) -> Int64? {
        guard let status = try folder.status(name), status.kind == .file else { return nil }
        let file = try folder.openFile(name, O_RDONLY)
        let bytes = try file.bytes(count: WaveHeader.size)
        guard let layout = try? WaveLayout(of: file),
            layout.dataOffset == Int64(WaveHeader.size), layout.channels == channels,
            WaveHeader.sources(in: bytes) == WaveHeader.sources(in: header.bytes),
            layout.claimedBytes <= status.bytes - Int64(WaveHeader.size)
        else { return nil }
        return layout.claimedBytes / layout.frameBytes * layout.frameBytes
    }

    func append(_ samples: UnsafeBufferPointer<Int16>) throws(DeviceError) {
        try file.write(UnsafeRawBufferPointer(samples), at: Int64(WaveHeader.size) + dataBytes)
        dataBytes += Int64(samples.count) * 2
        if dataBytes - keptBytes >= Self.step { try keep() }
    }

    /// Appends silence as a hole.
    func appendSilence(_ samples: Int) throws(DeviceError) {
        try file.truncate(to: Int64(WaveHeader.size) + dataBytes + Int64(samples) * frameBytes)
        dataBytes += Int64(samples) * frameBytes
    }

    /// Syncs the copied samples, and then a header that counts them.
    func keep() throws(DeviceError) {
        try file.syncData()
        keptBytes = dataBytes
        header.set(dataBytes: keptBytes)
        try header.write(to: file)
    }

    /// Marks the file as joined with the stop reason, and syncs it.
    func close(reason: StopReason) throws(DeviceError) {
        try file.syncData()
        header.set(dataBytes: dataBytes)
        header.setJoined()
        header.set(reason: reason)
        try header.write(to: file)
        try file.sync()
    }
}
