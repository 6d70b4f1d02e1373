import Audio
import Core
import Glibc
import System

/// A file as the volume holds it, not the page cache: read in large aligned blocks, each hashed once, in their order.
/// Used on one thread.
final class ReadBack: SeekableBytes {
    private static let block = 1 << 20

    let length: Int64

    /// Whether it was read past the cache; else the cache was emptied of it before.
    let isDirect: Bool

    private let file: FileDescriptor
    private let room = UnsafeMutableRawBufferPointer.allocate(byteCount: block, alignment: 4_096)
    private var held: (block: Int64, count: Int)?
    private var hashed: Int64 = 0
    private var digest = Digest()
    private let shouldStop: @Sendable () -> Bool

    init(_ name: String, in folder: Folder, shouldStop: @escaping @Sendable () -> Bool) throws(DeviceError) {
        var isDirect = true
        file = try folder.openPastCache(name, isDirect: &isDirect)
        self.isDirect = isDirect
        length = try file.size()
        self.shouldStop = shouldStop
    }

    deinit { room.deallocate() }

    func read(into target: UnsafeMutableRawBufferPointer, at offset: Int64) throws(DeviceError) -> Int {
        var done = 0
        while done < target.count, offset + Int64(done) < length {
            let place = offset + Int64(done)
            let block = place / Int64(Self.block)
            // What comes before is hashed before.
            while hashed < block { try load(hashed) }
            if held?.block != block { try load(block) }
            let start = Int(place % Int64(Self.block))
            let count = min(target.count - done, (held?.count ?? 0) - start)
            if count <= 0 { break }
            UnsafeMutableRawBufferPointer(rebasing: target[done...]).copyMemory(
                from: UnsafeRawBufferPointer(rebasing: room[start..<start + count]))
            done += count
        }
        return done
    }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(DeviceError) {
        throw DeviceError(.unsupported, "write", "\(file.path): is open for reading only")
    }

    /// Reads what is left, and gives the SHA-256 of the whole file.
    func finish() throws(DeviceError) -> String {
        while hashed * Int64(Self.block) < length { try load(hashed) }
        return digest.finish()
    }

    private func load(_ block: Int64) throws(DeviceError) {
        if shouldStop() { throw Copying.interrupted }
        let offset = block * Int64(Self.block)
        let expected = Int(min(Int64(Self.block), length - offset))
        var count = 0
        // Not past the end: a second read from an odd place is refused where the cache is passed.
        while count < expected {
            let got = uninterrupted {
                pread(
                    file.number, room.baseAddress.map { $0 + count }, Self.block - count, off_t(offset) + off_t(count))
            }
            if got == 0 { break }
            guard got > 0 else { throw .system("pread", on: file.path) }
            count += got
        }
        held = (block, count)
        guard block == hashed else { return }
        digest.add(UnsafeRawBufferPointer(rebasing: room[..<count]))
        hashed += 1
    }
}
