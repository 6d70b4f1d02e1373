import Core
import Glibc

/// A file's content, mapped into memory: read where it is looked at, and shared by all who map it.
///
/// For files that packages install, which are replaced and never shortened.
package final class MappedFile {
    // Safety: mapped for reading alone as long as this object lives, unmapped once in deinit; nil of an empty file.
    private let start: UnsafeMutableRawPointer?
    private let count: Int

    /// - Throws: `DeviceError` where it cannot be opened or mapped.
    package init(path: String) throws(DeviceError) {
        let file = try FileDescriptor(opening: path, O_RDONLY | O_NONBLOCK)
        count = Int(try file.size())
        guard count > 0 else {
            start = nil
            return
        }
        guard let start = mmap(nil, count, PROT_READ, MAP_PRIVATE, file.number, 0), start != MAP_FAILED else {
            throw .system("mmap", on: path)
        }
        self.start = start
    }

    deinit { if let start { munmap(start, count) } }

    /// Its bytes, for the time of the call.
    package func withBytes<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        body(UnsafeBufferPointer(start: start?.assumingMemoryBound(to: UInt8.self), count: start == nil ? 0 : count))
    }
}
