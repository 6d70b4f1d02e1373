import Core
internal import CSndfile
import Glibc

/// A file with random access, for an audio library.
package protocol SeekableBytes: AnyObject {
    /// In bytes.
    var length: Int64 { get }

    /// Reads until the buffer is full or the file ends; returns the number of bytes.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(DeviceError) -> Int

    /// Writes all bytes.
    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(DeviceError)
}

/// A `SeekableBytes` with a position, for libsndfile. Use it on one thread.
final class VirtualFile {
    /// The first error, which libsndfile cannot pass on.
    private(set) var failure: DeviceError?

    private let bytes: any SeekableBytes
    /// The offset of the next byte.
    private(set) var place: Int64 = 0

    init(_ bytes: any SeekableBytes) { self.bytes = bytes }

    /// Returns to the first byte, so that libsndfile can open it again.
    func rewind() { place = 0 }

    /// Opens it with libsndfile; nil if libsndfile refuses. The caller keeps this object alive until after sf_close.
    func open(_ mode: Int32, _ info: inout SF_INFO) -> OpaquePointer? {
        var calls = Self.calls
        return sf_open_virtual(&calls, mode, &info, Unmanaged.passUnretained(self).toOpaque())
    }

    private static let calls = SF_VIRTUAL_IO(
        get_filelen: { VirtualFile.from($0)?.bytes.length ?? -1 },
        seek: { offset, whence, context in VirtualFile.from(context)?.seek(offset, whence) ?? -1 },
        read: { target, count, context in VirtualFile.from(context)?.read(into: target, count) ?? 0 },
        write: { source, count, context in VirtualFile.from(context)?.write(source, count) ?? 0 },
        tell: { VirtualFile.from($0)?.place ?? -1 })

    // Safety: libsndfile returns the pointer to this object, which outlives the open file; see `open`.
    private static func from(_ context: UnsafeMutableRawPointer?) -> VirtualFile? {
        context.map { Unmanaged<VirtualFile>.fromOpaque($0).takeUnretainedValue() }
    }

    private func seek(_ offset: Int64, _ whence: Int32) -> Int64 {
        let origin = whence == SEEK_CUR ? place : whence == SEEK_END ? bytes.length : 0
        let (target, overflow) = origin.addingReportingOverflow(offset)
        guard !overflow, target >= 0 else { return -1 }
        place = target
        return place
    }

    private func read(into target: UnsafeMutableRawPointer?, _ count: Int64) -> Int64 {
        transfer { () throws(DeviceError) in
            Int64(try bytes.read(into: UnsafeMutableRawBufferPointer(start: target, count: Int(count)), at: place))
        }
    }

    private func write(_ source: UnsafeRawPointer?, _ count: Int64) -> Int64 {
        transfer { () throws(DeviceError) in
            try bytes.write(UnsafeRawBufferPointer(start: source, count: Int(count)), at: place)
            return count
        }
    }

    private func transfer(_ body: () throws(DeviceError) -> Int64) -> Int64 {
        guard failure == nil else { return 0 }
        do throws(DeviceError) {
            let count = try body()
            place += count
            return count
        } catch {
            failure = error
            return 0
        }
    }
}
