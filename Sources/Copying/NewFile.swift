import Audio
import Core
import Glibc
import System

/// A new file on the target. Buffers consecutive bytes into large writes. Used on one thread.
package final class NewFile: SeekableBytes {
    private static let capacity = 256 * 1_024
    /// Writes of at least this many bytes bypass an empty buffer.
    private static let minimumUnbuffered = 65_536
    private static let writebackInterval: Int64 = 4 << 20

    private let file: FileDescriptor
    private let gate: Folder.Gate
    private let shouldStop: @Sendable () -> Bool
    /// Bytes that belong at `bufferOffset` but are not in the file yet.
    private var buffer: [UInt8] = []
    private var bufferOffset: Int64 = 0
    private var size: Int64 = 0
    private var writebackOffset: Int64 = 0

    /// Creates the file. Fails if it exists.
    ///
    /// - Parameter shouldStop: polled before each write to the file; if true, the write fails with `ECANCELED`.
    package init(_ name: String, in folder: Folder, shouldStop: @escaping @Sendable () -> Bool) throws(DeviceError) {
        file = try folder.open(name, O_RDWR | O_CREAT | O_EXCL)
        gate = folder.gate
        self.shouldStop = shouldStop
        buffer.reserveCapacity(Self.capacity)
    }

    package var length: Int64 { max(size, bufferOffset + Int64(buffer.count)) }

    package func read(into target: UnsafeMutableRawBufferPointer, at offset: Int64) throws(DeviceError) -> Int {
        try flush()
        return try file.read(into: target, at: offset)
    }

    package func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(DeviceError) {
        if offset != bufferOffset + Int64(buffer.count) || buffer.count + bytes.count > Self.capacity { try flush() }
        if buffer.isEmpty { bufferOffset = offset }
        guard !buffer.isEmpty || bytes.count < Self.minimumUnbuffered else {
            try writeToFile(bytes)
            return
        }
        buffer += bytes
    }

    /// Writes at `bufferOffset`.
    private func writeToFile(_ bytes: UnsafeRawBufferPointer) throws(DeviceError) {
        if shouldStop() { throw Copying.interrupted }
        try gate("write", file.path)
        try file.write(bytes, at: bufferOffset)
        bufferOffset += Int64(bytes.count)
        size = max(size, bufferOffset)
        // The disk writes while the next bytes are encoded.
        if size - writebackOffset >= Self.writebackInterval {
            file.startWriteback(size - writebackOffset, from: writebackOffset)
            writebackOffset = size
        }
    }

    /// Writes the buffer to the file, and the file to the disk.
    package func sync() throws(DeviceError) {
        try flush()
        try gate("fsync", file.path)
        try file.sync()
    }

    /// Writes the buffer to the file, but not necessarily to the disk.
    package func flush() throws(DeviceError) {
        guard !buffer.isEmpty else { return }
        try rethrowing { try buffer.withUnsafeBytes { try writeToFile($0) } }
        buffer.removeAll(keepingCapacity: true)
    }
}

extension Folder {
    /// Replaces a file with one that `body` writes under a temporary name. After a power cut, either the old or the new
    /// file exists.
    package func replace(_ name: String, temporary: String, _ body: (NewFile) throws -> Void) throws {
        try remove(temporary)
        do {
            let file = try NewFile(temporary, in: self, shouldStop: { false })
            try body(file)
            try file.sync()
            try rename(temporary, replacing: name)
        } catch {
            try? remove(temporary)
            throw error
        }
        try sync()
    }
}

enum Copying {
    /// Thrown if copying was stopped; `ECANCELED` distinguishes it from failures.
    static let interrupted = DeviceError(
        .failed, "copy", status: ECANCELED, "the copy was interrupted; copy again to continue")
}
