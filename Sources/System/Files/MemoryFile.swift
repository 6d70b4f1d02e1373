internal import CLinux
import Core
import Glibc

/// A file that is in memory and nowhere else, which this process can open by its path, and a child that it is given to. A secret one
/// is kept from being swapped out where the system lets that be asked for, and overwritten when it goes; what has mapped another keeps
/// it.
// Safety: what it holds does not change until it goes.
package final class MemoryFile: @unchecked Sendable {
    private let file: FileDescriptor
    private let room: UnsafeMutableRawBufferPointer
    private let isSecret: Bool

    /// - Parameters:
    ///   - bytes: what it holds, at least one.
    ///   - name: what errors name.
    ///   - isSecret: whether nobody else may ever see it.
    package init(_ bytes: [UInt8], named name: String, isSecret: Bool) throws(DeviceError) {
        let number = fieldscribe_memory_file("fieldscribe")
        guard number >= 0 else { throw .system("memfd_create", on: name) }
        let file = FileDescriptor(adopting: number, named: name)
        try file.truncate(to: Int64(bytes.count))
        let address = mmap(nil, bytes.count, PROT_READ | PROT_WRITE, MAP_SHARED, number, 0)
        guard let address, address != MAP_FAILED else { throw .system("mmap", on: name) }
        room = UnsafeMutableRawBufferPointer(start: address, count: bytes.count)
        self.file = file
        self.isSecret = isSecret
        if isSecret { mlock(address, bytes.count) }
        room.copyBytes(from: bytes)
    }

    /// Where this process finds it, as long as this value lives.
    package var path: String { "/proc/self/fd/\(file.number)" }

    /// The kernel's number of it, to give it to a child.
    package var number: Int32 { file.number }

    deinit {
        guard let address = room.baseAddress else { return }
        if isSecret { explicit_bzero(address, room.count) }
        munmap(address, room.count)
    }
}
