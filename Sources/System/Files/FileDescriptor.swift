internal import CLinux
import Core
import Glibc

/// An open file, which is closed when the value goes out of scope.
///
/// Calls are retried after EINTR and continued after a partial read or write.
package struct FileDescriptor: ~Copyable, Sendable {
    /// The file's name in errors.
    package let path: String
    /// The descriptor, which is valid while this value exists.
    package let number: Int32

    /// Opens a file.
    ///
    /// - Parameters:
    ///   - flags: Flags such as O_RDWR, O_CREAT and O_EXCL. O_CLOEXEC is added.
    ///   - mode: The permissions for a new file, before applying the umask.
    package init(opening path: String, _ flags: Int32, mode: UInt32 = 0o600) throws(DeviceError) {
        let descriptor = uninterrupted { fieldscribe_open(path, flags, mode) }
        guard descriptor >= 0 else { throw .system("open", on: path) }
        self.path = path
        number = descriptor
    }

    /// Takes ownership of an open descriptor.
    package init(adopting descriptor: Int32, named path: String) {
        self.path = path
        number = descriptor
    }

    // Not retried after EINTR, because on Linux the descriptor is closed even then.
    deinit { close(number) }

    /// Writes all bytes at the current offset.
    package borrowing func write(_ bytes: UnsafeRawBufferPointer) throws(DeviceError) {
        try Self.write(bytes, to: number, named: path)
    }

    /// Writes all bytes at the current offset. For closures, which cannot capture a `FileDescriptor`.
    ///
    /// - Parameter path: The file's name in errors.
    package static func write(
        _ bytes: UnsafeRawBufferPointer, to descriptor: Int32, named path: String
    ) throws(DeviceError) {
        var rest = bytes
        while let base = rest.baseAddress, !rest.isEmpty {
            let count = uninterrupted { Glibc.write(descriptor, base, rest.count) }
            if count > 0 {
                rest = UnsafeRawBufferPointer(rebasing: rest[count...])
            } else {
                var error = DeviceError.system("write", status: count == 0 ? ENOSPC : errno, on: path)
                if error.status == EPIPE { error.cause = .closedOutput }
                throw error
            }
        }
    }

    /// Returns whether a descriptor becomes writable within `milliseconds`, or a write would fail immediately.
    static func isWritable(_ descriptor: Int32, within milliseconds: Int32 = 0) -> Bool {
        var query = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        return uninterrupted { poll(&query, 1, milliseconds) } != 0
    }

    /// Writes as much as possible without blocking.
    ///
    /// - Returns: Whether all bytes were written.
    static func writeAvailable(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Bool {
        var rest = bytes
        while let base = rest.baseAddress, !rest.isEmpty {
            guard isWritable(descriptor) else { return false }
            // A writable pipe has space for a page (PIPE_BUF). A socket may have less.
            let page = min(rest.count, 4_096)
            var count = uninterrupted { send(descriptor, base, page, Int32(MSG_DONTWAIT | MSG_NOSIGNAL)) }
            if count < 0, errno == ENOTSOCK { count = uninterrupted { Glibc.write(descriptor, base, page) } }
            guard count > 0 else { return false }
            rest = UnsafeRawBufferPointer(rebasing: rest[count...])
        }
        return true
    }

    /// Writes all bytes at an offset. If this throws, some bytes may have been written.
    package borrowing func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(DeviceError) {
        var rest = bytes
        var position = offset
        while let base = rest.baseAddress, !rest.isEmpty {
            let count = uninterrupted { pwrite(number, base, rest.count, off_t(position)) }
            if count > 0 {
                rest = UnsafeRawBufferPointer(rebasing: rest[count...])
                position += Int64(count)
            } else {
                throw .system("pwrite", status: count == 0 ? ENOSPC : errno, on: path)
            }
        }
    }

    /// Passes the file's bytes to a closure, at most a megabyte at a time.
    package borrowing func forEachBlock(
        _ body: (UnsafeRawBufferPointer) throws(DeviceError) -> Void
    ) throws(DeviceError) {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 4_096)
        defer { buffer.deallocate() }
        var offset: Int64 = 0
        while case let count = try read(into: buffer, at: offset), count > 0 {
            try body(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            offset += Int64(count)
        }
    }

    /// Reads a file or a pipe from its current offset to the end, and passes the bytes to a closure, at most a megabyte
    /// at a time.
    package borrowing func forEachRead(
        _ body: (UnsafeRawBufferPointer) throws(DeviceError) -> Void
    ) throws(DeviceError) {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 4_096)
        defer { buffer.deallocate() }
        while true {
            let count = uninterrupted { Glibc.read(number, buffer.baseAddress, buffer.count) }
            if count == 0 { return }
            guard count > 0 else { throw .system("read", on: path) }
            try body(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
        }
    }

    /// Reads at an offset until the buffer is full or the file ends. Returns the number of bytes read.
    package borrowing func read(
        into buffer: UnsafeMutableRawBufferPointer, at offset: Int64
    ) throws(DeviceError) -> Int {
        var total = 0
        while let base = buffer.baseAddress, total < buffer.count {
            let count = uninterrupted {
                pread(number, base + total, buffer.count - total, off_t(offset) + off_t(total))
            }
            if count == 0 { break }
            guard count > 0 else { throw .system("pread", on: path) }
            total += count
        }
        return total
    }

    /// Starts writeback for a range, so that a later sync has less to do. Does not make anything durable.
    package borrowing func startWriteback(_ count: Int64, from offset: Int64) {
        fieldscribe_start_writeback(number, offset, count)
    }

    /// Syncs the content and the metadata needed to read it.
    ///
    /// A failure is final. The kernel discards data that it could not write, and the next call would succeed without
    /// writing it.
    package borrowing func syncData() throws(DeviceError) {
        try check("fdatasync") { fdatasync(number) }
    }

    /// Syncs the content and all metadata. As in `syncData`, failures are final.
    package borrowing func sync() throws(DeviceError) {
        try check("fsync") { fsync(number) }
    }

    /// Truncates the file, or extends it with a hole.
    package borrowing func truncate(to length: Int64) throws(DeviceError) {
        try check("ftruncate") { ftruncate(number, off_t(length)) }
    }

    /// Returns the file's length in bytes.
    package borrowing func size() throws(DeviceError) -> Int64 { try status().bytes }

    private borrowing func check(_ operation: String, _ call: () -> Int32) throws(DeviceError) {
        guard uninterrupted(call) == 0 else { throw .system(operation, on: path) }
    }
}
