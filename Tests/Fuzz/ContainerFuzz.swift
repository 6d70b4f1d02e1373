import Glibc

@testable import Audio
@testable import Core

/// Fuzzes the check of untrusted audio files: WAV, RF64, AIFF and CAF.
@_cdecl("LLVMFuzzerTestOneInput") public func fuzz(_ data: UnsafePointer<UInt8>, _ size: Int) -> CInt {
    let bytes = UnsafeBufferPointer(start: data, count: size)
    let check = ContainerCheck(length: Int64(size)) { offset, count in
        precondition(count >= 0)
        guard offset >= 0, offset < Int64(size) else { return [] }
        return Array(bytes[Int(offset)..<min(size, Int(offset) + count)])
    }
    guard let check else { return 0 }
    precondition(check.heldBytes <= UInt64(size))
    for patch in check.patches { precondition(patch.offset >= 0 && patch.offset + Int64(patch.bytes.count) <= size) }
    return 0
}
