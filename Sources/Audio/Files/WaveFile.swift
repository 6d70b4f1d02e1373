import Core
import Glibc
import System

/// A recording being written: one continuous WAV, 16 kHz, 16-bit, of one or two channels, playable after every sync.
///
/// Used on one thread. Its header says "cut short" until it is closed.
package final class WaveFile {
    private let place: RecordingPlace
    private let file: FileDescriptor
    private let faults: DiskFaults?
    private var header: WaveHeader
    private let frameBytes: Int64
    private var dataBytes: Int64 = 0

    /// Where the next sample goes, from the file's first.
    var end: SamplePosition { SamplePosition(dataBytes / frameBytes) }

    var path: String { file.path }

    /// Makes the file of a recording that is written anew; one that exists is left alone.
    package convenience init(anew path: String, channels: Int = 1) throws(DeviceError) {
        try self.init(creating: path, channels: channels)
    }

    /// Makes the file, durably and without samples; one that exists is left alone.
    init(creating path: String, channels: Int = 1, faults: DiskFaults? = nil) throws(DeviceError) {
        self.faults = faults
        header = WaveHeader(channels: channels)
        frameBytes = Frames.bytes(channels: channels)
        try faults?(.create, path)
        place = try RecordingPlace(path)
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

    /// Takes the file away; nobody was told of it yet.
    func remove() { try? place.folder.remove(place.name) }

    /// Adds samples, those of two channels interleaved; they are in the page cache, so readable, when it returns.
    ///
    /// - Throws: `DeviceError`, `full` where the disk is; `end` then counts what the disk took of them.
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

    /// Adds silence as a hole, which takes no space where the file system has holes.
    func appendSilence(_ samples: Int) throws(DeviceError) {
        let bytes = Int64(samples) * frameBytes
        try faults?(.truncate, path)
        try file.truncate(to: Int64(WaveHeader.size) + dataBytes + bytes)
        dataBytes += bytes
    }

    /// Puts everything on the disk, with a header that tells of it.
    ///
    /// - Throws: `DeviceError`; a failure is final, see `FileDescriptor.syncData`.
    func sync() throws(DeviceError) {
        try writeHeader()
        try faults?(.sync, path)
        try file.syncData()
    }

    /// The number of the open file, if somebody has removed its last name.
    var removedFile: Int32? { (try? file.status())?.links == 0 ? file.number : nil }

    /// Says that the file holds all parts of a recording, once it is closed.
    func setJoined() { header.setJoined() }

    /// Says why the recording ended, and puts everything on the disk.
    package func close(reason: StopReason) throws(DeviceError) {
        header.set(reason: reason)
        try writeHeader()
        // What a full disk took of a last, half sample.
        try file.truncate(to: Int64(WaveHeader.size) + dataBytes)
        try faults?(.sync, path)
        try file.sync()
        try place.folder.sync()
    }

    private func writeHeader() throws(DeviceError) {
        try faults?(.write, path)
        header.set(dataBytes: dataBytes)
        let bytes = header.bytes
        try rethrowing { try bytes.withUnsafeBytes { try file.write($0, at: 0) } }
    }
}

/// What a recording does to the disk; where tests make it fail.
enum DiskOperation: Hashable, Sendable { case create, write, truncate, sync }

/// Asked before each operation on the file of that path; what it throws is that operation's failure.
typealias DiskFaults = @Sendable (DiskOperation, String) throws(DeviceError) -> Void
