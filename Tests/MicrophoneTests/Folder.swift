import CSndfile
import Glibc
import Testing

@testable import Audio
@testable import Core

/// A temporary folder that deletes itself and its contents in deinit.
final class Folder: Sendable {
    let path: String

    init() throws {
        var template = Array("\(P_tmpdir)/fieldscribe-tests-XXXXXX".utf8CString)
        try #require(mkdtemp(&template) != nil)
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit { remove() }

    func remove() {
        guard let folder = opendir(path) else { return }
        while let entry = readdir(folder) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            unlink("\(path)/\(name)")
        }
        closedir(folder)
        rmdir(path)
    }

    /// Writes a file and returns its path.
    func write(_ bytes: [UInt8], to name: String) throws -> String {
        let file = "\(path)/\(name)"
        let descriptor = open(file, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        defer { close(descriptor) }
        var writtenCount = 0
        while writtenCount < bytes.count {
            let count = bytes.withUnsafeBytes {
                Glibc.write(descriptor, $0.baseAddress.map { $0 + writtenCount }, $0.count - writtenCount)
            }
            try #require(count > 0)
            writtenCount += count
        }
        return file
    }

    func read(_ file: String) throws -> [UInt8] {
        let descriptor = open(file, O_RDONLY)
        try #require(descriptor >= 0)
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: Int(lseek(descriptor, 0, SEEK_END)))
        try #require(pread(descriptor, &bytes, bytes.count, 0) == bytes.count)
        return bytes
    }

    /// Encodes a file with libsndfile, and returns its path.
    func encode(_ samples: [Float], rate: Int, channels: Int = 1, format: Int, name: String = "audio") throws -> String
    {
        let file = "\(path)/\(name)"
        var info = SF_INFO()
        info.samplerate = Int32(rate)
        info.channels = Int32(channels)
        info.format = Int32(format)
        let handle = try #require(sf_open(file, Int32(SFM_WRITE), &info), "libsndfile cannot write this format")
        sf_command(handle, Int32(SFC_SET_CLIPPING), nil, 1)
        let frames = Int64(samples.count / channels)
        let written = sf_writef_float(handle, samples, frames)
        sf_close(handle)
        try #require(written == frames)
        return file
    }
}

/// Returns a 16-bit mono WAV at 16 kHz, possibly with a wrong header.
func wav(_ samples: [Int16], dataSize: UInt32? = nil, riffSize: UInt32? = nil, tail: [UInt8] = []) -> [UInt8] {
    let audio = littleEndian(samples)
    let size = dataSize ?? UInt32(audio.count)
    let format =
        littleEndian(UInt16(1)) + littleEndian(UInt16(1)) + littleEndian(UInt32(16_000))
        + littleEndian(UInt32(32_000)) + littleEndian(UInt16(2)) + littleEndian(UInt16(16))
    let head = Array("RIFF".utf8) + littleEndian(riffSize ?? (size &+ 36)) + Array("WAVEfmt ".utf8)
    return head + littleEndian(UInt32(16)) + format + Array("data".utf8) + littleEndian(size) + audio + tail
}

/// Reads all samples, in blocks of an odd size.
func samples(of reader: AudioFileReader, block: Int = 1_601) throws -> [Int16] {
    let buffer = UnsafeMutableBufferPointer<Int16>.allocate(capacity: block)
    defer { buffer.deallocate() }
    var all: [Int16] = []
    while true {
        let count = try reader.read(into: buffer)
        if count == 0 { return all }
        all += buffer[..<count]
    }
}

/// Returns the error that `body` throws.
func deviceError(_ body: () throws -> Void) throws -> DeviceError {
    do { try body() } catch { return try #require(error as? DeviceError) }
    throw Unexpected.success
}

/// Returns the read end of a pipe that contains these bytes and whose write end is closed.
func pipe(containing bytes: [UInt8]) throws -> Int32 {
    var ends: [Int32] = [0, 0]
    try #require(pipe(&ends) == 0)
    defer { close(ends[1]) }
    // A write that exceeds the capacity of the pipe would block.
    try #require(bytes.count <= 65_536)
    try #require(write(ends[1], bytes, bytes.count) == bytes.count)
    return ends[0]
}

enum Unexpected: Error { case success }
