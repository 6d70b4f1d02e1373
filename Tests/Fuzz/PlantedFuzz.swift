/// The control: an out-of-bounds read that occurs after four specific bytes, which the fuzzer must find.
@_cdecl("LLVMFuzzerTestOneInput") public func fuzz(_ data: UnsafePointer<UInt8>, _ size: Int) -> CInt {
    guard size >= 4, data[0] == 0x52, data[1] == 0x49, data[2] == 0x46, data[3] == 0x58 else { return 0 }
    let copy = UnsafeMutablePointer<UInt8>.allocate(capacity: 4)
    defer { copy.deallocate() }
    copy.update(from: data, count: 4)
    if copy[3 + size / 4] == 0x99 { print("found") }
    return 0
}
