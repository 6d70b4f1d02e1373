import Glibc

@testable import Audio
@testable import Core
@testable import System

/// Fuzzes the reader of the recorder's own WAV and RF64 files, which a power cut or a bad card may have damaged.
@_cdecl("LLVMFuzzerTestOneInput") public func fuzz(_ data: UnsafePointer<UInt8>, _ size: Int) -> CInt {
    let path = "/proc/self/fd/\(memoryFile)"
    guard ftruncate(memoryFile, off_t(size)) == 0, pwrite(memoryFile, data, size, 0) == size else { return 0 }
    guard let reader = try? RecordingReader(path: path) else { return 0 }
    let length = (try? reader.length) ?? .zero
    precondition(length >= .zero && length.samples * 2 <= Int64(size))
    let samples = UnsafeMutableBufferPointer<Int16>.allocate(capacity: 64)
    defer { samples.deallocate() }
    let read = (try? reader.read(at: .zero, into: samples)) ?? 0
    precondition(Int64(read) == min(64, length.samples))
    return 0
}

/// The descriptor of an unnamed file on a tmpfs.
private let memoryFile = {
    var template = Array("/dev/shm/fieldscribe-fuzz-XXXXXX".utf8CString)
    let descriptor = mkstemp(&template)
    unlink(template)
    return descriptor
}()
