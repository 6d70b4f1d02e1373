import Core

/// The bytes of a file as an audio library reads and writes them: here and there.
package protocol SeekableBytes: AnyObject {
    /// Bytes that it holds.
    var length: Int64 { get }

    /// Reads until the buffer is full or the file ends; returns the number of bytes.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(DeviceError) -> Int

    /// Writes all bytes.
    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(DeviceError)
}
