import Core

/// A file with random access, for an audio library.
package protocol SeekableBytes: AnyObject {
    /// The number of bytes.
    var length: Int64 { get }

    /// Reads until the buffer is full or the file ends; returns the number of bytes.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(DeviceError) -> Int

    /// Writes all bytes.
    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(DeviceError)
}
