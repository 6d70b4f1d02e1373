import Core
import Glibc
import System

/// The file into which a recording's parts are joined, `audio.wav.joining`.
///
/// If the process is killed or the power fails, joining continues after the last synced sample. The header counts only
/// synced samples and identifies the source files.
final class JoiningFile {
    /// The number of bytes to copy between two syncs. After a power cut, at most this many must be copied again.
    private static let syncBytes: Int64 = 16 << 20

    let name: String
    private let file: FileDescriptor
    private var header: WaveHeader
    private let frameBytes: Int64
    private var dataBytes: Int64
    private var syncedBytes: Int64

    /// The position of the next sample.
    var end: SamplePosition { SamplePosition(dataBytes / frameBytes) }

    /// Opens the file if it is a partial copy of these sources; otherwise creates it.
    ///
    /// - Parameters:
    ///   - sourceChecksum: Identifies the source files.
    ///   - channels: The channel count of all sources.
    init(_ name: String, in folder: Folder, sourceChecksum: UInt32, channels: Int) throws(DeviceError) {
        var header = WaveHeader(channels: channels)
        frameBytes = Frames.bytes(channels: channels)
        header.setJoining(sourceChecksum: sourceChecksum)
        let oldBytes = try Self.syncedBytes(name, in: folder, like: header, channels: channels)
        // Start again, because the content does not come from these sources.
        if oldBytes == nil { try folder.remove(name) }
        let file = try folder.openFile(name, oldBytes == nil ? O_RDWR | O_CREAT | O_EXCL : O_RDWR)
        try file.truncate(to: Int64(WaveHeader.size) + (oldBytes ?? 0))
        header.set(dataBytes: oldBytes ?? 0)
        self.name = name
        self.file = file
        self.header = header
        dataBytes = oldBytes ?? 0
        syncedBytes = oldBytes ?? 0
        try header.write(to: self.file)
        try self.file.sync()
        try folder.sync()
    }

    /// Returns how many bytes of samples were synced to the file; nil if it is not a copy of the sources.
    private static func syncedBytes(
        _ name: String, in folder: Folder, like header: WaveHeader, channels: Int
    ) throws(DeviceError) -> Int64? {
        guard let status = try folder.status(name), status.kind == .file else { return nil }
        let file = try folder.openFile(name, O_RDONLY)
        let bytes = try file.bytes(count: WaveHeader.size)
        guard let layout = try? WaveLayout(of: file),
            layout.dataOffset == Int64(WaveHeader.size), layout.channels == channels,
            WaveHeader.sourceChecksum(in: bytes) == WaveHeader.sourceChecksum(in: header.bytes),
            layout.claimedBytes <= status.bytes - Int64(WaveHeader.size)
        else { return nil }
        return layout.claimedBytes / layout.frameBytes * layout.frameBytes
    }

    func append(_ samples: UnsafeBufferPointer<Int16>) throws(DeviceError) {
        try file.write(UnsafeRawBufferPointer(samples), at: Int64(WaveHeader.size) + dataBytes)
        dataBytes += Int64(samples.count) * 2
        if dataBytes - syncedBytes >= Self.syncBytes { try sync() }
    }

    /// Appends silence as a hole.
    func appendSilence(_ samples: Int) throws(DeviceError) {
        try file.truncate(to: Int64(WaveHeader.size) + dataBytes + Int64(samples) * frameBytes)
        dataBytes += Int64(samples) * frameBytes
    }

    /// Syncs the copied samples, then writes a header that counts them.
    func sync() throws(DeviceError) {
        try file.syncData()
        syncedBytes = dataBytes
        header.set(dataBytes: syncedBytes)
        try header.write(to: file)
    }

    /// Marks the file as joined, sets the stop reason, and syncs the file.
    func close(reason: StopReason) throws(DeviceError) {
        try file.syncData()
        header.set(dataBytes: dataBytes)
        header.setJoined()
        header.set(reason: reason)
        try header.write(to: file)
        try file.sync()
    }
}
