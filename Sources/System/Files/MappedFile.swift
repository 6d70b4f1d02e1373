import Core
import Glibc

/// A memory-mapped file, read-only and shared by all processes that map it.
///
/// The bytes stay valid until the object is freed. If the file is truncated, reading them ends the process (SIGBUS):
/// map only files that are replaced as a whole.
package final class MappedFile {
    /// The content; empty for an empty file. Only for the object's owner; others call `withBytes`.
    package let bytes: UnsafeRawBufferPointer

    /// - Throws: `DeviceError` with `missing`, `denied`, or `unsupported` if it is not a regular file.
    package init(_ path: String) throws(DeviceError) {
        let file = try FileDescriptor(opening: path, O_RDONLY | O_NONBLOCK)
        let status = try file.status()
        guard status.kind == .file else {
            throw DeviceError(.unsupported, "mmap", on: path, "not a file", remedy: "name another one")
        }
        let count = Int(status.bytes)
        guard count > 0 else {
            bytes = UnsafeRawBufferPointer(start: nil, count: 0)
            return
        }
        guard let start = mmap(nil, count, PROT_READ, MAP_PRIVATE, file.number, 0), start != MAP_FAILED else {
            throw .system("mmap", on: path)
        }
        bytes = UnsafeRawBufferPointer(start: start, count: count)
    }

    /// Calls `body` with the bytes, valid during the call.
    package func withBytes<Value>(_ body: (UnsafeRawBufferPointer) -> Value) -> Value {
        withExtendedLifetime(self) { body(bytes) }
    }

    // Safety: nobody keeps `bytes` longer than the object, as documented there.
    deinit { if let start = bytes.baseAddress { munmap(UnsafeMutableRawPointer(mutating: start), bytes.count) } }
}
