import Core
internal import CSndfile
import Glibc

/// A file that an audio library can access randomly.
package protocol SeekableBytes: AnyObject {
    /// The length in bytes.
    var length: Int64 { get }

    /// Reads until the buffer is full or the file ends. Returns the number of bytes read.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(DeviceError) -> Int

    /// Writes all bytes at an offset.
    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(DeviceError)
}

/// Gives libsndfile access to a `SeekableBytes` through a current offset. Use a file on only one thread.
final class VirtualFile {
    /// The first error from `bytes`. libsndfile itself does not report which error occurred.
    private(set) var failure: DeviceError?

    private let bytes: any SeekableBytes
    private(set) var offset: Int64 = 0

    init(_ bytes: any SeekableBytes) { self.bytes = bytes }

    /// Moves to the first byte, so that libsndfile can open the file again.
    func rewind() { offset = 0 }

    /// Opens the file with libsndfile. Returns nil if that fails. The caller must keep this object alive until after
    /// sf_close.
    func open(_ mode: Int32, _ info: inout SF_INFO) -> OpaquePointer? {
        var callbacks = Self.callbacks
        return sf_open_virtual(&callbacks, mode, &info, Unmanaged.passUnretained(self).toOpaque())
    }

    private static let callbacks = SF_VIRTUAL_IO(
        get_filelen: { VirtualFile.from($0)?.bytes.length ?? -1 },
        seek: { offset, whence, context in VirtualFile.from(context)?.seek(offset, whence) ?? -1 },
        read: { target, count, context in VirtualFile.from(context)?.read(into: target, count) ?? 0 },
        write: { source, count, context in VirtualFile.from(context)?.write(source, count) ?? 0 },
        tell: { VirtualFile.from($0)?.offset ?? -1 })

    // Safety: libsndfile passes back the pointer to this object, which outlives the open file; see `open`.
    private static func from(_ context: UnsafeMutableRawPointer?) -> VirtualFile? {
        context.map { Unmanaged<VirtualFile>.fromOpaque($0).takeUnretainedValue() }
    }

    private func seek(_ distance: Int64, _ whence: Int32) -> Int64 {
        let base = whence == SEEK_CUR ? offset : whence == SEEK_END ? bytes.length : 0
        let (target, overflow) = base.addingReportingOverflow(distance)
        guard !overflow, target >= 0 else { return -1 }
        offset = target
        return offset
    }

    private func read(into target: UnsafeMutableRawPointer?, _ count: Int64) -> Int64 {
        transfer { () throws(DeviceError) in
            Int64(try bytes.read(into: UnsafeMutableRawBufferPointer(start: target, count: Int(count)), at: offset))
        }
    }

    private func write(_ source: UnsafeRawPointer?, _ count: Int64) -> Int64 {
        transfer { () throws(DeviceError) in
            try bytes.write(UnsafeRawBufferPointer(start: source, count: Int(count)), at: offset)
            return count
        }
    }

    private func transfer(_ body: () throws(DeviceError) -> Int64) -> Int64 {
        guard failure == nil else { return 0 }
        do throws(DeviceError) {
            let count = try body()
            offset += count
            return count
        } catch {
            failure = error
            return 0
        }
    }
}
