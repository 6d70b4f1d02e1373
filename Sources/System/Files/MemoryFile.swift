internal import CLinux
import Core
import Glibc

/// A file in memory (memfd), for this process and children that inherit it. A secret file is locked in memory if
/// permitted, so that it is not swapped out. It is overwritten when this object is deallocated.
// Safety: the content is immutable.
package final class MemoryFile: @unchecked Sendable {
    private let file: FileDescriptor
    private let buffer: UnsafeMutableRawBufferPointer
    private let isSecret: Bool

    /// - Parameters:
    ///   - bytes: The content, which must not be empty.
    ///   - name: The file's name in errors.
    ///   - isSecret: Whether to lock and overwrite the content.
    package init(_ bytes: [UInt8], named name: String, isSecret: Bool) throws(DeviceError) {
        let descriptor = fieldscribe_memory_file("fieldscribe")
        guard descriptor >= 0 else { throw .system("memfd_create", on: name) }
        let file = FileDescriptor(adopting: descriptor, named: name)
        try file.truncate(to: Int64(bytes.count))
        let address = mmap(nil, bytes.count, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0)
        guard let address, address != MAP_FAILED else { throw .system("mmap", on: name) }
        buffer = UnsafeMutableRawBufferPointer(start: address, count: bytes.count)
        self.file = file
        self.isSecret = isSecret
        if isSecret { mlock(address, bytes.count) }
        buffer.copyBytes(from: bytes)
    }

    /// The path in this process, which is valid while this object exists.
    package var path: String { "/proc/self/fd/\(file.number)" }

    /// The descriptor to pass to a child.
    package var number: Int32 { file.number }

    deinit {
        guard let address = buffer.baseAddress else { return }
        if isSecret { explicit_bzero(address, buffer.count) }
        munmap(address, buffer.count)
    }
}
