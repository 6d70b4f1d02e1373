import Audio
import Core
import Glibc
import System

/// Reads a file from the volume instead of the page cache, in large aligned blocks. Hashes each block once, in order.
/// Used on one thread.
final class ReadBack: SeekableBytes {
    private static let blockSize = 1 << 20

    let length: Int64

    /// Whether reads bypass the page cache (O_DIRECT). If not, the file was dropped from the cache before reading.
    let isDirect: Bool

    private let file: FileDescriptor
    private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: blockSize, alignment: 4_096)
    private var loadedBlock: (index: Int64, count: Int)?
    private var hashedBlocks: Int64 = 0
    private var digest = Digest()
    private let shouldStop: @Sendable () -> Bool

    init(_ name: String, in folder: Folder, shouldStop: @escaping @Sendable () -> Bool) throws(DeviceError) {
        var isDirect = true
        file = try folder.openBypassingCache(name, isDirect: &isDirect)
        self.isDirect = isDirect
        length = try file.size()
        self.shouldStop = shouldStop
    }

    /// Reads the whole file and compares its SHA-256 with the expected one.
    ///
    /// - Throws: `DeviceError` with `damaged` if they differ.
    convenience init(
        _ name: String, in folder: Folder, expecting digest: String?, shouldStop: @escaping @Sendable () -> Bool
    ) throws(DeviceError) {
        try self.init(name, in: folder, shouldStop: shouldStop)
        guard try finish() == digest else { throw Self.differs("\(folder.path)/\(name)") }
    }

    static func differs(_ path: String) -> DeviceError {
        DeviceError(
            .damaged, "compare", on: path, "the data read back differs from the data written",
            remedy: "use another stick")
    }

    deinit { buffer.deallocate() }

    func read(into target: UnsafeMutableRawBufferPointer, at offset: Int64) throws(DeviceError) -> Int {
        var done = 0
        while done < target.count, offset + Int64(done) < length {
            let position = offset + Int64(done)
            let block = position / Int64(Self.blockSize)
            // Hashes earlier blocks first.
            while hashedBlocks < block { try load(hashedBlocks) }
            if loadedBlock?.index != block { try load(block) }
            let start = Int(position % Int64(Self.blockSize))
            let count = min(target.count - done, (loadedBlock?.count ?? 0) - start)
            if count <= 0 { break }
            UnsafeMutableRawBufferPointer(rebasing: target[done...]).copyMemory(
                from: UnsafeRawBufferPointer(rebasing: buffer[start..<start + count]))
            done += count
        }
        return done
    }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(DeviceError) {
        throw DeviceError(.unsupported, "write", "\(file.path): is open for reading only")
    }

    /// Reads the rest and returns the SHA-256 of the whole file.
    func finish() throws(DeviceError) -> String {
        while hashedBlocks * Int64(Self.blockSize) < length { try load(hashedBlocks) }
        return digest.finish()
    }

    private func load(_ block: Int64) throws(DeviceError) {
        if shouldStop() { throw Copying.interrupted }
        let offset = block * Int64(Self.blockSize)
        let expected = Int(min(Int64(Self.blockSize), length - offset))
        var count = 0
        // Stops at the end of the file, because O_DIRECT refuses a read at an unaligned offset.
        while count < expected {
            let bytesRead = uninterrupted {
                pread(
                    file.number, buffer.baseAddress.map { $0 + count }, Self.blockSize - count,
                    off_t(offset) + off_t(count))
            }
            if bytesRead == 0 { break }
            guard bytesRead > 0 else { throw .system("pread", on: file.path) }
            count += bytesRead
        }
        loadedBlock = (block, count)
        guard block == hashedBlocks else { return }
        digest.add(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
        hashedBlocks += 1
    }
}
