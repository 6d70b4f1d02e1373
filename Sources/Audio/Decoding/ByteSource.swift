import Core
import Glibc
import System

/// A file's bytes for libsndfile, with patches that correct a wrong header without changing the file. A pipe is first
/// copied to a temporary file. Use a source on only one thread.
final class ByteSource: SeekableBytes {
    struct Patch: Equatable {
        var offset: Int64
        var bytes: [UInt8]
    }

    let name: String

    /// The number of bytes that libsndfile can read.
    private(set) var length: Int64
    /// The total number of bytes.
    private let extent: Int64

    /// Whether the bytes came from a pipe, whose writer could not go back to complete the header.
    let isSpooled: Bool

    var patches: [Patch] = []

    private let file: FileDescriptor
    /// The offset of the source in the descriptor, since part of standard input may have been read before.
    private let base: Int64
    private let isWhole: Bool

    var descriptor: Int32 { file.number }

    /// The URL for ffmpeg, which inherits the open file.
    var ffmpegURL: String {
        let file = "file:\(ChildProcess.file)"
        return base == 0 && isWhole ? file : "subfile,,start,\(base),end,\(base + length),,:\(file)"
    }

    convenience init(path: String) throws(DeviceError) {
        try self.init(reading: FileDescriptor(opening: path, O_RDONLY), remedy: "choose an audio file")
    }

    /// Reads an open descriptor, which the caller closes.
    convenience init(descriptor: Int32, named name: String) throws(DeviceError) {
        let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
        guard copy >= 0 else { throw .system("fcntl", on: name) }
        try self.init(
            reading: FileDescriptor(adopting: copy, named: name), remedy: "redirect or pipe an audio file into it")
    }

    func window(from offset: Int64, to end: Int64? = nil) throws(DeviceError) -> ByteSource {
        try ByteSource(window: self, from: offset, to: min(end ?? extent, extent))
    }

    private init(window whole: borrowing ByteSource, from offset: Int64, to end: Int64) throws(DeviceError) {
        let copy = fcntl(whole.file.number, F_DUPFD_CLOEXEC, 0)
        guard copy >= 0 else { throw .system("fcntl", on: whole.name) }
        file = FileDescriptor(adopting: copy, named: whole.name)
        name = whole.name
        isSpooled = whole.isSpooled
        isWhole = false
        base = whole.base + offset
        extent = end - offset
        length = extent
    }

    /// Reads a temporary file from its beginning.
    ///
    /// - Parameter name: The name of the file whose audio this contains, for errors.
    convenience init(spool: consuming FileDescriptor, named name: String) throws(DeviceError) {
        lseek(spool.number, 0, SEEK_SET)
        try self.init(reading: spool, named: name, remedy: "free some space")
    }

    /// Ends the source at an offset where another file begins.
    func truncate(to offset: Int64) { length = min(length, max(0, offset)) }

    private init(
        reading file: consuming FileDescriptor, named displayName: String? = nil, remedy: String
    ) throws(DeviceError) {
        name = displayName ?? file.path
        switch try file.status().kind {
        case .file:
            base = max(0, Int64(lseek(file.number, 0, SEEK_CUR)))
            isSpooled = false
            self.file = file
        case .pipe, .socket:
            base = 0
            isSpooled = true
            self.file = try spool(file)
        case .folder:
            throw DeviceError(
                .unsupported, "open", on: name, "is a folder", remedy: "choose a file, or use a pattern like \(name)/*")
        default:
            throw DeviceError(.unsupported, "open", on: name, "is a device, not an audio file", remedy: remedy)
        }
        isWhole = base == 0
        extent = max(0, try self.file.size() - base)
        length = extent
        guard length > 0 else {
            throw DeviceError(.damaged, "open", on: name, "is empty", remedy: remedy)
        }
    }

    /// Returns unpatched bytes from the file, fewer than `count` at its end.
    func bytes(at offset: Int64, count: Int) throws(DeviceError) -> [UInt8] {
        guard offset >= 0, offset < length, count > 0 else { return [] }
        return try file.bytes(at: base + offset, count: count)
    }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(DeviceError) -> Int {
        guard offset < length else { return 0 }
        let target = UnsafeMutableRawBufferPointer(
            rebasing: buffer.prefix(Int(min(Int64(buffer.count), length - offset))))
        let count = try file.read(into: target, at: base + offset)
        for patch in patches { apply(patch, to: UnsafeMutableRawBufferPointer(rebasing: target[..<count]), at: offset) }
        return count
    }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(DeviceError) {
        throw DeviceError(.unsupported, "write", on: name, "is read-only")
    }

    private func apply(_ patch: Patch, to buffer: UnsafeMutableRawBufferPointer, at bufferOffset: Int64) {
        let first = max(patch.offset, bufferOffset)
        let end = min(patch.offset + Int64(patch.bytes.count), bufferOffset + Int64(buffer.count))
        for offset in first..<max(first, end) {
            buffer[Int(offset - bufferOffset)] = patch.bytes[Int(offset - patch.offset)]
        }
    }
}

/// Copies a pipe to a temporary file, because most formats need to seek.
private func spool(_ pipe: borrowing FileDescriptor) throws(DeviceError) -> FileDescriptor {
    let file = try temporaryFile()
    try pipe.forEachRead { bytes throws(DeviceError) in try file.write(bytes) }
    return file
}
