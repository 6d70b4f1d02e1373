import Audio
import Core
import Glibc
import System

/// A file being written in a folder of the target: what follows on is gathered into large writes. Used on one thread.
package final class NewFile: SeekableBytes {
    private static let room = 256 * 1_024
    /// Bytes that are written as they come.
    private static let large = 65_536
    /// Bytes behind which the disk is asked to begin.
    private static let ahead: Int64 = 4 << 20

    private let file: FileDescriptor
    private let gate: Folder.Gate
    private let shouldStop: @Sendable () -> Bool
    /// Bytes that belong at `bufferOffset` and are not in the file yet.
    private var buffer: [UInt8] = []
    private var bufferOffset: Int64 = 0
    private var size: Int64 = 0
    /// Up to where the disk was asked to begin.
    private var begun: Int64 = 0

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
        // What is large enough by itself needs not be copied first.
        guard !buffer.isEmpty || bytes.count < Self.large else {
            try put(bytes)
            return
        }
        buffer += bytes
    }

    /// Writes at `bufferOffset`.
    private func put(_ bytes: UnsafeRawBufferPointer) throws(DeviceError) {
        if shouldStop() { throw Copying.interrupted }
        try gate("write", file.path)
        try file.write(bytes, at: bufferOffset)
        bufferOffset += Int64(bytes.count)
        size = max(size, bufferOffset)
        // The disk works while the next bytes are made.
        if size - begun >= Self.ahead {
            file.beginWriting(size - begun, from: begun)
            begun = size
        }
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
        try rethrowing { try buffer.withUnsafeBytes { try put($0) } }
        buffer.removeAll(keepingCapacity: true)
    }
}

enum Copying {
    /// What a copy ends with when it is asked to; `ECANCELED` tells it from failures.
    static let interrupted = DeviceError(
        .failed, "copy", status: ECANCELED, "the copy was interrupted; copy again to carry on")
}
