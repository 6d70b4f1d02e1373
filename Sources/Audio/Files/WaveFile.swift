import Core
import Glibc
import System

/// Writes a WAV file with a recording (16 kHz, 16-bit, one or two channels) that is playable after every sync.
///
/// Use a file on only one thread. The stop reason in the header is `cutShort` until the file is closed.
package final class WaveFile {
    private let location: RecordingLocation
    private let file: FileDescriptor
    private let faults: DiskFaults?
    private var header: WaveHeader
    private let frameBytes: Int64
    private var dataBytes: Int64 = 0

    /// The position of the next sample.
    var end: SamplePosition { SamplePosition(dataBytes / frameBytes) }

    var path: String { file.path }

    /// Creates an empty file and syncs it. Throws if the file exists.
    package convenience init(new path: String, channels: Int = 1) throws(DeviceError) {
        try self.init(creating: RecordingLocation(path), channels: channels)
    }

    /// Creates an empty file and syncs it. Throws if the file exists.
    init(creating location: RecordingLocation, channels: Int = 1, faults: DiskFaults? = nil) throws(DeviceError) {
        self.faults = faults
        header = WaveHeader(channels: channels)
        frameBytes = Frames.bytes(channels: channels)
        self.location = location
        try faults?(.create, location.path(of: location.name))
        file = try location.folder.openFile(location.name, O_RDWR | O_CREAT | O_EXCL)
        do throws(DeviceError) {
            try writeHeader()
            try file.sync()
            try location.folder.sync()
        } catch {
            remove()
            throw error
        }
    }

    func remove() { try? location.folder.remove(location.name) }

    /// Appends interleaved samples. On return, the samples are in the page cache and can be read.
    ///
    /// - Throws: `DeviceError`, with `full` if the disk is full. `end` then includes the samples that were written.
    package func append(_ samples: UnsafeBufferPointer<Int16>) throws(DeviceError) {
        let bytes = UnsafeRawBufferPointer(samples)
        do throws(DeviceError) {
            try faults?(.write, path)
            try file.write(bytes, at: Int64(WaveHeader.size) + dataBytes)
        } catch {
            if let size = try? file.size() {
                dataBytes = max(dataBytes, (size - Int64(WaveHeader.size)) / frameBytes * frameBytes)
            }
            throw error
        }
        dataBytes += Int64(bytes.count)
    }

    /// Appends silence as a hole, which takes no disk space if the file system supports it.
    func appendSilence(_ samples: Int) throws(DeviceError) {
        let bytes = Int64(samples) * frameBytes
        try faults?(.truncate, path)
        try file.truncate(to: Int64(WaveHeader.size) + dataBytes + bytes)
        dataBytes += bytes
    }

    /// Writes the current length to the header and syncs the file.
    ///
    /// - Throws: `DeviceError`. Failures are final; see `FileDescriptor.syncData`.
    func sync() throws(DeviceError) {
        try writeHeader()
        try faults?(.sync, path)
        try file.syncData()
    }

    /// The file's descriptor if the file was deleted; otherwise nil.
    var deletedFileDescriptor: Int32? { (try? file.status())?.links == 0 ? file.number : nil }

    /// Writes the stop reason and the length, and syncs the file.
    package func close(reason: StopReason) throws(DeviceError) {
        header.set(reason: reason)
        try writeHeader()
        // If the disk was full, an incomplete sample may follow.
        try file.truncate(to: Int64(WaveHeader.size) + dataBytes)
        try faults?(.sync, path)
        try file.sync()
        try location.folder.sync()
    }

    private func writeHeader() throws(DeviceError) {
        try faults?(.write, path)
        header.set(dataBytes: dataBytes)
        try header.write(to: file)
    }
}

/// A disk operation during a recording, which tests can cause to fail.
enum DiskOperation: Hashable, Sendable { case create, write, truncate, sync }

/// Called before each operation on a file. If it throws, the operation fails with that error.
typealias DiskFaults = @Sendable (DiskOperation, String) throws(DeviceError) -> Void
