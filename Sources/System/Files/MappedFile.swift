import Core
import Glibc

/// A read-only, memory-mapped file, whose memory is shared by all processes that map it.
///
/// The bytes stay valid until the object is deallocated. If the file is truncated, reading them crashes the process
/// (SIGBUS), so map only files that are replaced as a whole.
package final class MappedFile {
    /// The content. Only the object's owner may use it; others call `withBytes`.
    package let bytes: UnsafeRawBufferPointer

    /// - Throws: `DeviceError` with `missing` or `denied`, or with `unsupported` if this is not a regular file.
    package init(_ path: String) throws(DeviceError) {
        let file = try FileDescriptor(opening: path, O_RDONLY | O_NONBLOCK)
        let status = try file.status()
        guard status.kind == .file else {
            throw DeviceError(.unsupported, "mmap", on: path, "is not a regular file", remedy: "choose another file")
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

    /// Calls `body` with the bytes, which are valid during the call.
    package func withBytes<Value>(_ body: (UnsafeRawBufferPointer) -> Value) -> Value {
        withExtendedLifetime(self) { body(bytes) }
    }

    // Safety: as documented, `bytes` is not used after the object is deallocated.
    deinit { if let start = bytes.baseAddress { munmap(UnsafeMutableRawPointer(mutating: start), bytes.count) } }
}
