import Glibc
import Testing
import TestKit

@testable import Core
@testable import System

@Suite struct FileDescriptorTests {
    let folder = TemporaryFolder()

    @Test("if opening fails, the error has a code, the path and a remedy")
    func openingFails() throws {
        let path = folder.file("none")
        let error = try #require(thrown { _ = try FileDescriptor(opening: path, O_RDONLY) })
        #expect(error.code == .missing)
        #expect(error.operation == "open")
        #expect(error.message == "\(path): no such file or directory; check the path")
    }

    @Test("bytes are read back from their offset, up to the end of the file")
    func writesAndReads() throws {
        let path = folder.file("bytes")
        let file = try FileDescriptor(opening: path, O_RDWR | O_CREAT | O_EXCL)
        try write([1, 2, 3, 4], to: file, at: 0)
        try write([9, 8], to: file, at: 6)
        try file.syncData()
        try file.sync()
        #expect(try file.size() == 8)
        #expect(try read(10, of: file, at: 1) == [2, 3, 4, 0, 0, 9, 8])
        #expect(try read(10, of: file, at: 8) == [])
        try file.truncate(to: 2)
        #expect(try read(10, of: file, at: 0) == [1, 2])
    }

    @Test("a pipe receives every byte in order, even if it fills up")
    func shortWrites() async throws {
        var ends: [Int32] = [0, 0]
        #expect(pipe(&ends) == 0)
        let (readEnd, writeEnd) = (ends[0], ends[1])
        let bytes = (0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
        async let writing: Void = onThread(named: "pipe") {
            let pipe = FileDescriptor(adopting: writeEnd, named: "pipe")
            // The pipe holds 64 KiB, so the data arrives in many pieces.
            var failure: DeviceError?
            bytes.withUnsafeBytes { bytes in
                do throws(DeviceError) { try pipe.write(bytes) } catch { failure = error }
            }
            if let failure { throw failure }
        }
        async let received = onThread(named: "reader") {
            var received: [UInt8] = []
            var buffer = [UInt8](repeating: 0, count: 4099)
            while received.count < bytes.count {
                let count = read(readEnd, &buffer, buffer.count)
                guard count > 0 else { break }
                received += buffer.prefix(count)
            }
            return received
        }
        #expect(try await received == bytes)
        try await writing
        close(readEnd)
    }

    @Test("a descriptor is closed at the end of its scope")
    func closes() throws {
        let descriptor: Int32
        do {
            let file = try FileDescriptor(opening: folder.path, O_RDONLY | O_DIRECTORY)
            descriptor = file.number
            #expect(isOpen(descriptor, folder.path))
        }
        #expect(!isOpen(descriptor, folder.path))
    }

    @Test("writing to a full device reports that it is full")
    func fullDevice() throws {
        let file = try FileDescriptor(opening: "/dev/full", O_WRONLY)
        let error = try #require(thrown { try write([1], to: file, at: 0) })
        #expect(error.code == .full)
        #expect(error.status == ENOSPC)
    }
}

/// Returns whether a descriptor is open and refers to a path, since another test may have reused its number.
private func isOpen(_ descriptor: Int32, _ path: String) -> Bool {
    var target = [CChar](repeating: 0, count: 4096)
    let count = readlink("/proc/self/fd/\(descriptor)", &target, target.count - 1)
    return count > 0 && String(decoding: target.prefix(count).map(UInt8.init), as: UTF8.self) == path
}

private func write(_ bytes: [UInt8], to file: borrowing FileDescriptor, at offset: Int64) throws {
    var failure: DeviceError?
    bytes.withUnsafeBytes { bytes in
        do throws(DeviceError) { try file.write(bytes, at: offset) } catch { failure = error }
    }
    if let failure { throw failure }
}

private func read(_ count: Int, of file: borrowing FileDescriptor, at offset: Int64) throws -> [UInt8] {
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 1)
    defer { buffer.deallocate() }
    return Array(buffer.prefix(try file.read(into: buffer, at: offset)))
}
