import Core
import Glibc

/// A whole file in memory, read when it is looked at and shared by all processes that map it.
///
/// The bytes stay where they are until the object goes. A file that is cut off meanwhile ends the process that reads it: map
/// only what is replaced as a whole.
package final class MappedFile {
    /// The file's content, read-only; empty for an empty file. For who owns the object: others take `withBytes`.
    package let bytes: UnsafeRawBufferPointer

    /// - Throws: `DeviceError` with `missing` or `denied`, naming the file; `unsupported` for what is no regular file.
    package init(_ path: String) throws(DeviceError) {
        let file = try FileDescriptor(opening: path, O_RDONLY | O_NONBLOCK)
        var status = stat()
        guard fstat(file.number, &status) == 0 else { throw .system("fstat", on: path) }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw DeviceError(.unsupported, "mmap", on: path, "not a file", remedy: "name another one")
        }
        let count = Int(status.st_size)
        guard count > 0 else {
            bytes = UnsafeRawBufferPointer(start: nil, count: 0)
            return
        }
        guard let start = mmap(nil, count, PROT_READ, MAP_PRIVATE, file.number, 0), start != MAP_FAILED else {
            throw .system("mmap", on: path)
        }
        bytes = UnsafeRawBufferPointer(start: start, count: count)
    }

    /// Lends the bytes, for as long as `body` takes.
    package func withBytes<Value>(_ body: (UnsafeRawBufferPointer) -> Value) -> Value {
        withExtendedLifetime(self) { body(bytes) }
    }

    // Safety: nobody keeps `bytes` longer than the object, which says so.
    deinit { if let start = bytes.baseAddress { munmap(UnsafeMutableRawPointer(mutating: start), bytes.count) } }
}
