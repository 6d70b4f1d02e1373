import AudioEncoder
import Core
import Glibc
import Platform

/// A file being written in a folder of the target: what follows on is gathered into large writes. Used on one thread.
package final class NewFile: SeekableBytes {
    private static let room = 256 * 1_024

    private let file: FileDescriptor
    private let gate: Folder.Gate
    private let shouldStop: @Sendable () -> Bool
    /// Bytes that belong at `bufferOffset` and are not in the file yet.
    private var buffer: [UInt8] = []
    private var bufferOffset: Int64 = 0
    private var size: Int64 = 0

    /// Makes the file; one that exists is left alone.
    ///
    /// - Parameter shouldStop: asked before each large write, which then fails with `ECANCELED`.
    package init(_ name: String, in folder: Folder, shouldStop: @escaping @Sendable () -> Bool) throws(DeviceError) {
        file = try folder.open(name, O_RDWR | O_CREAT | O_EXCL)
        gate = folder.gate
        self.shouldStop = shouldStop
        buffer.reserveCapacity(Self.room)
    }

    package var length: Int64 { max(size, bufferOffset + Int64(buffer.count)) }

    package func read(into target: UnsafeMutableRawBufferPointer, at offset: Int64) throws(DeviceError) -> Int {
        try flush()
        return try file.read(into: target, at: offset)
    }

    package func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(DeviceError) {
        if offset != bufferOffset + Int64(buffer.count) || buffer.count + bytes.count > Self.room { try flush() }
        if buffer.isEmpty { bufferOffset = offset }
        // What fills it alone need not be gathered.
        guard bytes.count < Self.room else {
            try gate("write", file.path)
            try file.write(bytes, at: offset)
            size = max(size, offset + Int64(bytes.count))
            return
        }
        buffer += bytes
    }

    /// Returns once everything is on the disk.
    package func sync() throws(DeviceError) {
        try flush()
        try gate("fsync", file.path)
        try file.sync()
    }

    /// Returns once everything is in the file, if not yet on the disk.
    package func flush() throws(DeviceError) {
        guard !buffer.isEmpty else { return }
        if shouldStop() { throw Copying.interrupted }
        try gate("write", file.path)
        try rethrowing { try buffer.withUnsafeBytes { try file.write($0, at: bufferOffset) } }
        size = max(size, bufferOffset + Int64(buffer.count))
        bufferOffset += Int64(buffer.count)
        buffer.removeAll(keepingCapacity: true)
    }
}

enum Copying {
    /// What a copy ends with when it is asked to; `ECANCELED` tells it from failures.
    static let interrupted = DeviceError(
        .failed, "copy", status: ECANCELED, "the copy was interrupted; copy again to carry on")
}
