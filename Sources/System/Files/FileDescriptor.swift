internal import CLinux
import Core
import Glibc

/// An open file; closed when it goes out of scope.
///
/// Every call repeats after EINTR and continues after a partial read or write.
package struct FileDescriptor: ~Copyable, Sendable {
    /// The name in errors.
    package let path: String
    /// The descriptor; valid while this value exists.
    package let number: Int32

    /// Opens a file.
    ///
    /// - Parameters:
    ///   - flags: O_RDWR, O_CREAT, O_EXCL ...; O_CLOEXEC is added.
    ///   - mode: Permissions of a new file, before the umask.
    package init(opening path: String, _ flags: Int32, mode: UInt32 = 0o600) throws(DeviceError) {
        let number = uninterrupted { fieldscribe_open(path, flags, mode) }
        guard number >= 0 else { throw .system("open", on: path) }
        self.path = path
        self.number = number
    }

    /// Takes ownership of an open descriptor.
    package init(adopting number: Int32, named path: String) {
        self.path = path
        self.number = number
    }

    // Not repeated after EINTR: on Linux the descriptor is closed even then.
    deinit { close(number) }

    /// Writes all bytes at the current offset.
    package borrowing func write(_ bytes: UnsafeRawBufferPointer) throws(DeviceError) {
        try Self.write(bytes, to: number, named: path)
    }

    /// Writes all bytes at the current offset; for closures, which cannot capture a `FileDescriptor`.
    ///
    /// - Parameter path: The name for errors.
    package static func write(
        _ bytes: UnsafeRawBufferPointer, to number: Int32, named path: String
    ) throws(DeviceError) {
        var rest = bytes
        while let base = rest.baseAddress, !rest.isEmpty {
            let count = uninterrupted { Glibc.write(number, base, rest.count) }
            if count > 0 {
                rest = UnsafeRawBufferPointer(rebasing: rest[count...])
            } else {
                var error = DeviceError.system("write", status: count == 0 ? ENOSPC : errno, on: path)
                if error.status == EPIPE { error.cause = .closedOutput }
                throw error
            }
        }
    }

    /// Whether a descriptor becomes writable within `milliseconds`; also true if a write would fail immediately.
    static func isWritable(_ number: Int32, within milliseconds: Int32 = 0) -> Bool {
        var look = pollfd(fd: number, events: Int16(POLLOUT), revents: 0)
        return uninterrupted { poll(&look, 1, milliseconds) } != 0
    }

    /// Writes as much as possible without blocking.
    ///
    /// - Returns: Whether all bytes were written.
    static func offer(_ bytes: UnsafeRawBufferPointer, to number: Int32) -> Bool {
        var rest = bytes
        while let base = rest.baseAddress, !rest.isEmpty {
            guard isWritable(number) else { return false }
            // A writable pipe has space for a page (PIPE_BUF); a socket may have less.
            let page = min(rest.count, 4_096)
            var count = uninterrupted { send(number, base, page, Int32(MSG_DONTWAIT | MSG_NOSIGNAL)) }
            if count < 0, errno == ENOTSOCK { count = uninterrupted { Glibc.write(number, base, page) } }
            guard count > 0 else { return false }
            rest = UnsafeRawBufferPointer(rebasing: rest[count...])
        }
        return true
    }

    /// Writes all bytes at an offset. If it throws, some may have been written.
    package borrowing func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(DeviceError) {
        var rest = bytes
        var place = offset
        while let base = rest.baseAddress, !rest.isEmpty {
            let count = uninterrupted { pwrite(number, base, rest.count, off_t(place)) }
            if count > 0 {
                rest = UnsafeRawBufferPointer(rebasing: rest[count...])
                place += Int64(count)
            } else {
                throw .system("pwrite", status: count == 0 ? ENOSPC : errno, on: path)
            }
        }
    }

    /// Passes the file's bytes to a closure, a megabyte at a time.
    package borrowing func forEachBlock(
        _ body: (UnsafeRawBufferPointer) throws(DeviceError) -> Void
    ) throws(DeviceError) {
        let room = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 4_096)
        defer { room.deallocate() }
        var offset: Int64 = 0
        while case let count = try read(into: room, at: offset), count > 0 {
            try body(UnsafeRawBufferPointer(rebasing: room[..<count]))
            offset += Int64(count)
        }
    }

    /// Reads a file or a pipe once, from its current offset to its end, at most a megabyte at a time.
    package borrowing func forEachRead(
        _ body: (UnsafeRawBufferPointer) throws(DeviceError) -> Void
    ) throws(DeviceError) {
        let room = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 4_096)
        defer { room.deallocate() }
        while true {
            let count = uninterrupted { Glibc.read(number, room.baseAddress, room.count) }
            if count == 0 { return }
            guard count > 0 else { throw .system("read", on: path) }
            try body(UnsafeRawBufferPointer(rebasing: room[..<count]))
        }
    }

    /// Reads at an offset until the buffer is full or the file ends; returns the number of bytes.
    package borrowing func read(
        into buffer: UnsafeMutableRawBufferPointer, at offset: Int64
    ) throws(DeviceError) -> Int {
        var done = 0
        while let base = buffer.baseAddress, done < buffer.count {
            let count = uninterrupted {
                pread(number, base + done, buffer.count - done, off_t(offset) + off_t(done))
            }
            if count == 0 { break }
            guard count > 0 else { throw .system("pread", on: path) }
            done += count
        }
        return done
    }

    /// Starts writeback of a range, so a later sync has less to do. Without guarantees.
    package borrowing func beginWriting(_ count: Int64, from offset: Int64) {
        fieldscribe_begin_writing(number, offset, count)
    }

    /// Syncs the content and the metadata needed to read it.
    ///
    /// A failure is final: the kernel discards what it could not write, and the next call would succeed without it.
    package borrowing func syncData() throws(DeviceError) {
        try check("fdatasync") { fdatasync(number) }
    }

    /// Syncs the content and all metadata; failures are final as in `syncData`.
    package borrowing func sync() throws(DeviceError) {
        try check("fsync") { fsync(number) }
    }

    /// Truncates the file, or extends it by a hole.
    package borrowing func truncate(to length: Int64) throws(DeviceError) {
        try check("ftruncate") { ftruncate(number, off_t(length)) }
    }

    /// The file's length in bytes.
    package borrowing func size() throws(DeviceError) -> Int64 { try status().bytes }

    private borrowing func check(_ operation: String, _ call: () -> Int32) throws(DeviceError) {
        guard uninterrupted(call) == 0 else { throw .system(operation, on: path) }
    }
}
