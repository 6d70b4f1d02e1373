import Core
import Glibc
import System

/// Writes a recording as one WAV file (16 kHz, 16-bit, one or two channels) that is playable after every sync.
///
/// Use it on one thread. The header says "cut short" until the file is closed.
package final class WaveFile {
    private let place: RecordingPlace
    private let file: FileDescriptor
    private let faults: DiskFaults?
    private var header: WaveHeader
    private let frameBytes: Int64
    private var dataBytes: Int64 = 0

    /// The position of the next sample.
    var end: SamplePosition { SamplePosition(dataBytes / frameBytes) }

    var path: String { file.path }

    /// Creates a new file; fails if it exists.
    package convenience init(new path: String, channels: Int = 1) throws(DeviceError) {
        try self.init(creating: RecordingPlace(path), channels: channels)
    }

    /// Creates an empty file durably; fails if it exists.
    init(creating place: RecordingPlace, channels: Int = 1, faults: DiskFaults? = nil) throws(DeviceError) {
        self.faults = faults
        header = WaveHeader(channels: channels)
        frameBytes = Frames.bytes(channels: channels)
        self.place = place
        try faults?(.create, place.path(of: place.name))
        file = try place.folder.openFile(place.name, O_RDWR | O_CREAT | O_EXCL)
        do throws(DeviceError) {
            try writeHeader()
            try file.sync()
            try place.folder.sync()
        } catch {
            remove()
            throw error
        }
    }

    func remove() { try? place.folder.remove(place.name) }

    /// Appends interleaved samples. On return they are in the page cache, so they can be read.
    ///
    /// - Throws: `DeviceError`, `full` if the disk is full; `end` then includes what was written.
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
    /// - Throws: `DeviceError`; a failure is final, see `FileDescriptor.syncData`.
    func sync() throws(DeviceError) {
        try writeHeader()
        try faults?(.sync, path)
        try file.syncData()
    }

    /// The file's descriptor if the file has been deleted.
    var removedFile: Int32? { (try? file.status())?.links == 0 ? file.number : nil }

    /// Writes the stop reason and syncs everything.
    package func close(reason: StopReason) throws(DeviceError) {
        header.set(reason: reason)
        try writeHeader()
        // If the disk was full, part of a sample may follow.
        try file.truncate(to: Int64(WaveHeader.size) + dataBytes)
        try faults?(.sync, path)
        try file.sync()
        try place.folder.sync()
    }

    private func writeHeader() throws(DeviceError) {
        try faults?(.write, path)
        header.set(dataBytes: dataBytes)
        try header.write(to: file)
    }
}

/// A disk operation of a recording, which tests can make fail.
enum DiskOperation: Hashable, Sendable { case create, write, truncate, sync }

/// Called before each operation on the file with that path; an error is thrown as the operation's failure.
typealias DiskFaults = @Sendable (DiskOperation, String) throws(DeviceError) -> Void
