import Glibc

@testable import Audio
@testable import Core
@testable import System

/// Fuzzes the reader of the recorder's own WAV and RF64 files, as after a power cut or card damage.
@_cdecl("LLVMFuzzerTestOneInput") public func fuzz(_ data: UnsafePointer<UInt8>, _ size: Int) -> CInt {
    let path = "/proc/self/fd/\(memory)"
    guard ftruncate(memory, off_t(size)) == 0, pwrite(memory, data, size, 0) == size else { return 0 }
    guard let reader = try? RecordingReader(path: path) else { return 0 }
    let length = (try? reader.length) ?? .zero
    precondition(length >= .zero && length.samples * 2 <= Int64(size))
    let samples = UnsafeMutableBufferPointer<Int16>.allocate(capacity: 64)
    defer { samples.deallocate() }
    let read = (try? reader.read(at: .zero, into: samples)) ?? 0
    precondition(Int64(read) == min(64, length.samples))
    return 0
}

/// A file in memory without a name.
private let memory = {
    var template = Array("/dev/shm/fieldscribe-fuzz-XXXXXX".utf8CString)
    let number = mkstemp(&template)
    unlink(template)
    return number
}()
